"""What a reply is as text, and which replies are none."""

import pytest

from ahp.runner.models.model import Answer, NativeCall
from ahp.runner.models.reply_text import as_text, fault_of
from ahp.runner.words.actions import ToolCall
from ahp.runner.words.replies import Act, read_reply

ROUND: dict[str, object] = {}
ROUND["round"] = ROUND
LOOK = NativeCall("look", {"path": "a"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "I look",
        "<think>and never end",
        "<think>so</think>I look.",
        "See:\n```py\nprint(1)",
        "a\n~~~\nb\n~~~",
    ],
)
@pytest.mark.parametrize("args", [{"path": "a"}, '{"path": "a"}'])
def test_a_call_beside_the_text_is_read_as_that_call(text: str, args: dict[str, str] | str) -> None:
    reply = read_reply(as_text(Answer(text, "tool_calls", (NativeCall("look", args),))), {"look"}, "step")
    assert reply == Act(calls=(ToolCall("look", {"path": "a"}),))


COPY = '{"name": "look", "arguments": {"path": "a"}}'


@pytest.mark.parametrize(
    "text",
    [
        COPY,
        f"<tool_call>\n{COPY}\n</tool_call>",
        f"I look.\n```json\n{COPY}\n```",
        '{"tool": "look", "args": {"path": "a"}}',
        f"[{COPY}]",
    ],
)
def test_a_call_that_the_server_left_in_the_text_too_is_made_once(text: str) -> None:
    for call in (LOOK, NativeCall("look", '{"path": "a"}', "1")):
        reply = read_reply(as_text(Answer(text, "tool_calls", (call,))), {"look"}, "step")
        assert reply == Act(calls=(ToolCall("look", {"path": "a"}),))


def test_a_call_that_comes_twice_under_one_id_is_made_once() -> None:
    call = NativeCall("look", {"path": "a"}, "call_1")
    reply = read_reply(as_text(Answer("", "tool_calls", (call, call))), {"look"}, "step")
    assert reply == Act(calls=(ToolCall("look", {"path": "a"}),))


def test_many_calls_are_read_in_one_pass() -> None:
    calls = tuple(NativeCall("look", {"at": str(number % 20_000)}, f"c{number % 20_000}") for number in range(30_000))
    assert as_text(Answer("", "tool_calls", calls)).count('"tool"') == 20_000
    assert as_text(Answer("", "tool_calls", (NativeCall("look", {}), NativeCall("look", {})))).count('"tool"') == 2


def test_another_call_in_the_text_is_no_copy() -> None:
    other = '{"tool": "look", "args": {"path": "b"}}'
    reply = read_reply(as_text(Answer(other, "tool_calls", (LOOK,))), {"look"}, "step")
    assert reply == Act(calls=(ToolCall("look", {"path": "b"}), ToolCall("look", {"path": "a"})))


def test_arguments_that_are_no_object_are_told_the_model() -> None:
    reply = read_reply(as_text(Answer("", calls=(NativeCall("look", '{"path": "a'),))), {"look"}, "step")
    assert "arguments of look" in reply.problem  # type: ignore[union-attr]


def test_a_text_without_calls_loses_only_its_thoughts() -> None:
    assert as_text(Answer("<think>so</think>\n\nyes")) == "yes"
    assert as_text(Answer("```\nopen")) == "```\nopen"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer("a"), None),
        (Answer("", "tool_calls", (LOOK,), 1, 2, 0.5), None),
        ("a", "no Answer"),
        (Answer(None), "no Answer"),  # type: ignore[arg-type]
        (Answer("", calls=LOOK), "no NativeCall"),  # type: ignore[arg-type]
        (Answer("", calls=({"tool": "look"},)), "no NativeCall"),  # type: ignore[arg-type]
        (Answer("", calls=(NativeCall("look", None),)), "no NativeCall"),  # type: ignore[arg-type]
        (Answer("", calls=(NativeCall("look", ROUND),)), "hold themselves"),
        (Answer("", "end_turn"), "finish reason 'end_turn'"),  # type: ignore[arg-type]
        (Answer("", usd=float("inf")), "no numbers"),
        (Answer("", usd=None), None),
    ],
)
def test_what_a_model_returned_is_checked(answer: object, fault: str | None) -> None:
    found = fault_of(answer)
    assert found is None if fault is None else fault in str(found)
