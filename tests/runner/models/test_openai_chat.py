"""Models behind chat completions, on real sockets."""

from __future__ import annotations

import json
import socket
import ssl
from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.models.endpoint import Endpoint
from ahp.runner.models.exchange import Exchange
from ahp.runner.models.model import Answer, ContextOverflow, ModelError, NativeCall, ToolDefinition, Want
from ahp.runner.models.openai_chat import OpenAIModel
from ahp.runner.run.agent import Agent
from ahp.runner.run.conversation import Message
from ahp.runner.scripted import ScriptedModel, scripted_tool
from ahp.system.errors import Timeout
from tests.runner.models.server import (
    HEAD,
    LONG,
    Play,
    Server,
    chat,
    dribbles,
    endless,
    error,
    hangs,
    resets,
    says,
    sends,
)
from tests.runner.runs import nowhere
from tests.runner.scripted_gate import ScriptedGate

ASKED: list[Message] = [{"role": "system", "content": "be good"}, {"role": "user", "content": "hello?"}]
LOOK = ToolDefinition("look", "looks", {"type": "object", "properties": {"at": {"type": "string"}}})
STEP = Want("action", (LOOK,), {"type": "object"})
KEY = "sk-secret-of-mine"


def model(server: Server, key: str | None = KEY, **settings: Any) -> OpenAIModel:
    return OpenAIModel("tiny", Endpoint("openai", f"{server.address}/v1"), key, **settings)


def ask(one: OpenAIModel, want: Want | None = None, timeout_s: float = LONG) -> Answer:
    return one.query(ASKED, max_tokens=50, timeout_s=timeout_s, want=want)


def answer(*plays: Play, want: Want | None = None) -> Answer:
    with Server(plays) as server:
        return ask(model(server), want)


def failure(*plays: Play, want: Want | None = None) -> ModelError:
    with Server(plays) as server, pytest.raises(ModelError) as raised:
        ask(model(server), want)
    assert KEY not in str(raised.value)
    return raised.value


def test_one_request_with_the_key_and_the_limit() -> None:
    with Server([says(chat("hi", usage={"prompt_tokens": 7, "completion_tokens": 2, "cost": 0.25}))]) as server:
        assert ask(model(server)) == Answer("hi", "stop", (), 7, 2, 0.25)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "tiny", "messages": ASKED, "max_tokens": 50}


@pytest.mark.parametrize(
    ("content", "more", "text"),
    [
        (None, {}, ""),
        ("", {"reasoning_content": "I think"}, ""),
        ("hi", {"reasoning": "I think", "reasoning_content": "so"}, "hi"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, "c"], {}, "abc"),
        ([{"type": "thinking", "thinking": "x", "text": "no"}, {"type": "text"}, 5, {"text": "a"}], {}, "a"),
        (None, {"refusal": "I may not"}, "I may not"),
        ("<think>without end", {}, "<think>without end"),
        ("half \ud800 of one", {}, "half ? of one"),
        (f"your key is {KEY}", {}, "your key is …"),
        (5, {}, ""),
    ],
)
def test_the_text_of_a_reply(content: object, more: dict[str, object], text: str) -> None:
    assert answer(says(chat(content, **more))).text == text


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "tool_calls"),
        ("eos", "stop"),
        (None, "stop"),
    ],
)
def test_why_a_reply_ended(finish: str, reason: str) -> None:
    assert answer(says(chat("a", finish))).finish_reason == reason


def function(name: object, arguments: object) -> dict[str, object]:
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_native_calls() -> None:
    listed = [
        function("look", '{"at": "a"}'),
        function("look", {"at": "b"}),
        function("look", ""),
        function("look", None),
        function("look", '{"at": '),
        function("look", [1]),
        {**function("look", {}), "id": "call_1"},
        {"type": "custom", "custom": {"name": "look", "input": "a"}},
        {"name": "look", "arguments": {"at": "c"}},
        function(None, "{}"),
        "nothing",
        None,
        {},
    ]
    played = says(chat(None, "tool_calls", tool_calls=listed, function_call={"name": "old", "arguments": "{}"}))
    with Server([played]) as server:
        got = ask(model(server), STEP)
    assert got.finish_reason == "tool_calls"
    assert got.calls == (
        NativeCall("look", '{"at": "a"}', "1"),
        NativeCall("look", {"at": "b"}, "1"),
        NativeCall("look", {}, "1"),
        NativeCall("look", {}, "1"),
        NativeCall("look", '{"at": ', "1"),
        NativeCall("look", "[1]", "1"),
        NativeCall("look", {}, "call_1"),
        NativeCall("look", "a"),
        NativeCall("look", {"at": "c"}),
        NativeCall("", "{}", "1"),
        NativeCall("", {}),
        NativeCall("old", "{}"),
    )
    assert server.requests[0].body["tools"] == [
        {"type": "function", "function": {"name": "look", "description": "looks", "parameters": dict(LOOK.parameters)}}
    ]
    assert "response_format" not in server.requests[0].body


def forms(server: Server) -> list[str]:
    return [
        ("tools " if "tools" in request.body else "schema " if "response_format" in request.body else "text ")
        + "".join(message["role"][0] for message in request.body["messages"])
        for request in server.requests
    ]


@pytest.mark.parametrize(
    ("plays", "asked"),
    [
        # Native calls, then JSON held to a schema, then text; what was refused is not tried again.
        ([says(error("no tools here"), 400), says(chat("{}"))], ["tools su", "schema su", "schema su"]),
        (
            [says(error("auto tool choice"), 400), says(error("unknown response_format"), 400), says(chat("{}"))],
            ["tools su", "schema su", "text su", "text su"],
        ),
        # A chat template without a system role, as status 400 or 500.
        ([says(error("System role not supported"), 500), says(chat("{}"))], ["tools su", "tools u", "tools u"]),
        # Which part is meant is not said: one after the other.
        (
            [*[says(error("bad request"), 422)] * 3, says(chat("{}"))],
            ["tools su", "schema su", "text su", "text u", "text u"],
        ),
    ],
)
def test_a_form_that_is_refused_is_left_for_the_next(plays: list[Play], asked: list[str]) -> None:
    with Server(plays) as server:
        one = model(server)
        ask(one, STEP)
        ask(one, STEP)
    assert forms(server) == asked


def test_what_is_refused_in_every_form_is_refused() -> None:
    with Server([says(error("roles must alternate"), 400)]) as server, pytest.raises(ModelError, match="alternate"):
        one = model(server)
        ask(one, STEP)
    assert forms(server) == ["tools su", "tools u", "schema u", "text u"]


def test_the_newer_name_of_the_limit() -> None:
    with Server([says(error("Use 'max_completion_tokens' instead"), 400), says(chat())]) as server:
        assert ask(model(server)).text == "hello"
    assert [sorted(set(request.body) - {"model", "messages"}) for request in server.requests] == [
        ["max_tokens"],
        ["max_completion_tokens"],
    ]


@pytest.mark.parametrize(
    ("reply_format", "kind", "form"),
    [
        ("native", "action", "tools su"),
        ("schema", "action", "schema su"),
        ("text", "action", "text su"),
        ("native", "plan", "text su"),
        ("auto", "plan", "schema su"),
        ("auto", "words", "text su"),
    ],
)
def test_the_form_that_the_settings_name(reply_format: Any, kind: Any, form: str) -> None:
    want = Want(kind, (LOOK,) if kind == "action" else (), None if kind == "words" else {"type": "object"})
    with Server([says(chat("{}"))]) as server:
        ask(model(server, reply_format=reply_format), want)
    assert forms(server) == [form]


@pytest.mark.parametrize(
    ("status", "headers", "retry_after_s"),
    [
        (503, {}, None),
        (503, {"Retry_After": "7"}, 7.0),
        (429, {"Retry_After": "0.5"}, 0.5),
        (429, {"Retry_After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        (429, {"Retry_After": "soon"}, None),
        (429, {"Retry_After": "inf"}, None),
        (500, {}, None),
        (529, {}, None),
        (522, {}, None),  # of a proxy before it
    ],
)
def test_what_may_pass_is_transient(status: int, headers: dict[str, str], retry_after_s: float | None) -> None:
    found = failure(says(error("Loading model"), status, **headers))
    assert (found.transient, found.retry_after_s) == (True, retry_after_s)
    assert "Loading model" in str(found) and str(status) in str(found)


def test_a_certificate_that_nobody_trusts_is_not_asked_again() -> None:
    exchange = Exchange(Endpoint("openai", "https://model.invalid/v1"), KEY, "tiny")
    plain = ssl.SSLError()
    plain.reason = "WRONG_VERSION_NUMBER"
    for cause in (ssl.SSLCertVerificationError("self-signed"), plain):
        found = exchange._broken(cause)
        assert (found.transient, "no secure connection" in str(found)) == (False, True)
    assert exchange._broken(ssl.SSLEOFError("eof.")).transient


def test_a_byte_order_mark_before_a_reply_is_in_nobodys_way() -> None:
    assert answer(says(b"\xef\xbb\xbf" + json.dumps(chat()).encode())).text == "hello"


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        (401, f"wrong key {KEY}", "refuses the key (of AHP_API_KEY, "),
        (404, "no such model", "no such model"),
        (429, "insufficient_quota", "insufficient_quota"),
        (302, "", "give its own address"),
        (400, "no", "refuses the request: no"),
        (418, "tea", "tea"),
        (505, "HTTP version", "HTTP version"),
    ],
)
def test_what_will_not_pass_is_not_transient(status: int, message: str, said: str) -> None:
    found = failure(says(error(message), status, Location="http://other.example/"))
    assert (found.transient, type(found) is ContextOverflow) == (False, False)
    assert said in str(found)


def test_a_server_that_wants_a_key_is_told_from_one_that_refuses_it() -> None:
    with Server([says(error("who are you?"), 401)]) as server, pytest.raises(ModelError, match="wants a key; put it"):
        ask(model(server, None))


@pytest.mark.parametrize(
    "message",
    [
        "request (20016 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "This model's maximum context length is 4096 tokens",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Requested tokens (5000) exceed context window of 4096",
        "The input token count (1594712) exceeds the maximum number of tokens allowed (1048576).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Invalid request: Your request exceeded model token limit: 262144",
        "prompt token count of 200001 exceeds the limit of 128000",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_a_full_context_is_told_apart(status: int, message: str) -> None:
    assert type(failure(says(error(message), status))) is ContextOverflow
    assert type(failure(says({"error": message}, status))) is ContextOverflow


def test_a_body_that_is_too_large_for_a_proxy_is_a_full_context() -> None:
    assert type(failure(says(b"<html>413 Request Entity Too Large</html>", 413))) is ContextOverflow


@pytest.mark.parametrize(
    ("body", "kind", "said", "transient"),
    [
        (error("slow down", code=429), ModelError, "cannot answer now (HTTP status 429): slow down", True),
        (error("no credits", code=402), ModelError, "no credits", False),
        (error("maximum context length is 4096 tokens", code=400), ContextOverflow, "4096", False),
        (error("maximum context length is 4096 tokens"), ContextOverflow, "4096", False),
        (error("upstream is down", code=5), ModelError, "answered with an error: upstream is down", True),
        ({"error": "Unexpected endpoint"}, ModelError, "error: Unexpected endpoint", True),
        ({**chat("half"), "error": {"message": "gone", "code": 502}}, ModelError, "gone", True),
    ],
)
def test_an_error_with_status_200_counts_as_what_it_says(
    body: object, kind: type[ModelError], said: str, transient: bool
) -> None:
    found = failure(says(body))
    assert (type(found), found.transient) == (kind, transient)
    assert said in str(found)


def test_a_form_that_is_refused_with_status_200_is_left_for_the_next() -> None:
    with Server([says(error("no tools here", code=400)), says(chat("{}"))]) as server:
        assert ask(model(server), STEP).text == "{}"
    assert forms(server) == ["tools su", "schema su"]


def test_where_an_address_may_lack_its_end_an_error_with_status_200_says_so_at_once() -> None:
    with Server([says({"error": "Unexpected endpoint or method. (POST /chat/completions)"})]) as server:
        one = OpenAIModel("tiny", Endpoint("openai", server.address))
        with pytest.raises(ModelError, match="does its address end with /v1") as raised:
            ask(one)
    assert not raised.value.transient


@pytest.mark.parametrize("finish", ["error", "abort", "insufficient_system_resource", "network_error"])
def test_a_reply_that_the_server_broke_off_is_no_reply(finish: str) -> None:
    found = failure(says(chat("I will n", finish)))
    assert found.transient and f"broke its reply off ({finish})" in str(found)
    played = chat("I will n", "stop")
    played["choices"][0]["error"] = {"code": 502, "message": "provider disconnected"}  # type: ignore[index]
    found = failure(says(played))
    assert found.transient and "provider disconnected" in str(found)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0}, (None, None, 0.0)),
        ({"prompt_tokens": -5, "completion_tokens": 2.5, "cost": -1}, (None, None, 0.0)),
        ({"prompt_tokens": True, "completion_tokens": "7", "cost": True}, (None, None, 0.0)),
        ({"prompt_tokens": 3, "completion_tokens": 1, "cost": 2}, (3, 1, 2.0)),
        ({"prompt_tokens": 10**400, "completion_tokens": 1, "cost": 10**400}, (None, 1, 0.0)),
    ],
)
def test_what_a_server_does_not_count_is_not_reported(usage: object, counted: tuple[object, ...]) -> None:
    got = answer(says(chat(usage=usage)))
    assert (got.input_tokens, got.output_tokens, got.usd) == counted


def test_elsewhere_than_on_this_machine_a_price_that_is_not_told_is_not_known() -> None:
    one = OpenAIModel("m", Endpoint("openai", "https://model.invalid/v1"))
    assert one._answer(chat(), False).usd is None
    assert one._answer(chat(usage={"cost": 0}), False).usd == 0.0


@pytest.mark.parametrize(
    ("play", "said", "transient"),
    [
        (resets(), "no answer", True),
        (resets(HEAD + b'{"choices"'), "no answer", True),
        (says(b" \n"), "answered with an empty body", True),
        (says(b'{"choices": [', 200), "no JSON", False),
        # Without its length a reply ends where the connection breaks.
        (sends(b"HTTP/1.1 200 OK\r\n\r\n" + b'{"choices": ['), "no JSON", True),
        (sends(b"HTTP/1.1 200 OK\r\n\r\n" + b"<html>"), "no JSON", False),
        (says(b"<html>Proxy</html>"), "no JSON: '<html>Proxy</html>'", False),
        (says({"choices": []}), "no message", True),
        (says({"choices": None}), "no message", True),
        (says({"choices": [{"message": None}]}), "no message", True),
        (says(error("upstream is down")), "upstream is down", True),
        (says([1]), "no message", True),
        (says(b"null"), "no message", True),
        (says(b" " * (33 << 20)), "more than 32 MB", False),
    ],
)
def test_what_is_no_reply_is_reported(play: Play, said: str, transient: bool) -> None:
    found = failure(play)
    assert said in str(found)
    assert found.transient is transient


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # taken, and nobody listens
        one = OpenAIModel("tiny", Endpoint("openai", f"http://127.0.0.1:{unheard.getsockname()[1]}/v1"))
        with pytest.raises(ModelError, match="Is the server running") as raised:
            ask(one)
    assert raised.value.transient


def test_of_an_error_without_end_no_more_is_read_than_tells_what_it_is() -> None:
    flood = endless(b"HTTP/1.1 500 X\r\n\r\n" + b'{"error": "out of order')
    with Server([flood]) as server, pytest.raises(ModelError, match="out of order") as raised:
        ask(model(server))
    assert raised.value.transient and server.cut.wait(LONG)


@pytest.mark.parametrize(
    "play", [hangs, dribbles(b"HTTP/1.1 200 OK\r\nX:"), dribbles(HEAD), dribbles(b"HTTP/1.1 500 X\r\n\r\n")]
)
def test_no_request_outlives_its_time(play: Play) -> None:
    with Server([play]) as server:
        with pytest.raises(Timeout, match=r"did not finish within 0\.2 s"):
            ask(model(server), timeout_s=0.2)
        # On a busy machine the time may be over before there is a connection, or a request on it.
        assert not server.connected.is_set() or server.cut.wait(LONG)
        assert len(server.requests) <= 1


def test_the_key_does_not_go_where_a_server_points() -> None:
    with Server([says(chat("stolen"))]) as other:
        found = failure(says({}, 307, Location=f"{other.address}/v1/chat/completions"))
        assert other.requests == []
    assert "307" in str(found)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:hunter2@127.0.0.1:9")
    assert answer(says(chat())).text == "hello"


@pytest.mark.parametrize("proxy", ["http://me:hunter2@127.0.0.1:9", "nonsense://me:hunter2@127.0.0.1:9"])
def test_no_password_of_a_proxy_is_told(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    one = OpenAIModel("m", Endpoint("openai", "http://model.invalid/v1"))
    with pytest.raises(ModelError) as raised:
        ask(one)
    assert "hunter2" not in str(raised.value) and raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("listed", "window"),
    [
        ({"data": [{"id": "tiny", "max_model_len": 8192}, {"id": "other", "max_model_len": 1}]}, 8192),
        ({"data": [{"id": "tiny", "meta": {"n_ctx": 4096, "n_ctx_train": 131072}}]}, 4096),
        ({"data": [{"id": "tiny", "context_length": 32768}]}, 32768),
        ({"data": [{"id": "tiny", "context_length": "much"}]}, None),
        ({"data": "none"}, None),
        (b"<html>", None),
    ],
)
def test_the_window_is_what_the_server_lists(listed: object, window: int | None) -> None:
    with Server([says(listed)]) as server:
        assert model(server).window() == window
    assert model(server).window() is None


def test_the_messages_of_a_run_fit_the_window_of_its_model() -> None:
    def play(server: Server, connection: socket.socket) -> None:
        is_list = server.requests[-1].path.endswith("/models")
        says({"data": [{"id": "tiny", "max_model_len": 2048}]} if is_list else chat("It is 5."))(server, connection)

    with Server([play]) as server:
        config = AgentConfig(enable_planning=False)
        agent = Agent(model(server), gate=ScriptedGate(), config=config, root=nowhere())
        assert agent.run("how many?").answer == "It is 5."
    assert not any(request.path.endswith("/models") for request in server.requests)  # short messages fit every model

    with Server([play]) as server:
        look = scripted_tool("look", ["y" * 20_000])
        agent = Agent(model(server), [look], gate=ScriptedGate(), config=config, root=nowhere())
        agent.model.query = ScriptedModel(['{"tool": "look", "args": {}}', "It is 5."]).query  # type: ignore[method-assign]
        agent.run("how many?")
    assert agent.events.of("trimmed")[0]["why"] == "context_tokens"


def test_a_refusal_is_no_answer() -> None:
    got = answer(says(chat(None, refusal="I may not")))
    assert (got.text, got.finish_reason) == ("I may not", "content_filter")
    assert answer(says(chat("hi", refusal=None))).finish_reason == "stop"
