"""ahp.integrations.opentelemetry, by the real SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from ahp.integrations.opentelemetry import RunSpans
from ahp.journal import query
from ahp.journal.place import journal_of
from ahp.runner.commands.agent import command
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.model import Answer, ModelError
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import Scripted, ScriptedModel, scripted_tool
from ahp.runner.tools.tool import Tool, ToolContext, tool
from tests.conftest import Repo
from tests.insight.receiver import serving
from tests.runner.runs import DONE, call, plan

POLICY = """\
version: 1
rules:
  look-twice: {at: pre-tool-use, prompt: "tool.native_name == 'look'", message: look twice}
"""
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
SECRET = "what nobody but the model reads"


class Traced:
    """A run, its spans by name, and its turn."""

    def __init__(self, repo: Repo, *answers: Scripted, tools: list[Tool] | None = None, planning: bool = True) -> None:
        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        gate = RepositoryGate(str(repo.root), session="s1")
        log = EventLog(None, (RunSpans(gate, provider.get_tracer("test")),))
        look = [scripted_tool("look", [SECRET], kind="read")] if tools is None else tools
        config = AgentConfig(enable_planning=planning)
        agent = Agent(ScriptedModel(answers), look, gate=gate, config=config, root=str(repo.root), events=log)
        self.turn, self.gate = agent.run("see what is there?"), gate
        self.spans: tuple[ReadableSpan, ...] = exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]


def own(span: ReadableSpan) -> tuple[int, int]:
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


def about(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.commit("begin", **{".ahp/hooks.yaml": POLICY})
    return repo


def test_a_run_is_a_tree_of_spans_of_the_conventions(project: Repo) -> None:
    told = Answer(call(at="a"), "stop", (), 7, 2)
    run = Traced(project, plan("a"), told, DONE, "It is seen.")
    assert run.turn.ok
    [root], [step], [called] = run.named("invoke_agent ahp"), run.named("step a"), run.named("execute_tool look")
    chats = run.named("chat scripted")
    assert len(chats) == 4 and len(run.spans) == 7
    assert len({own(span)[0] for span in run.spans}) == 1
    assert root.parent is None and step.parent is not None and step.parent.span_id == own(root)[1]
    assert called.parent is not None and called.parent.span_id == own(step)[1]
    inner = [span for span in chats if span.parent is not None and span.parent.span_id == own(step)[1]]
    assert len(inner) == 2 and all(span.kind is SpanKind.CLIENT for span in chats)
    assert about(inner[0]) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "scripted",
        "gen_ai.request.max_tokens": 1024,
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.agent.name": "ahp",
        "gen_ai.conversation.id": "s1",
    }
    assert about(called)["gen_ai.operation.name"] == "execute_tool"
    assert about(called)["gen_ai.tool.name"] == "look"
    assert about(root)["gen_ai.operation.name"] == "invoke_agent"
    assert all(span.status.status_code is StatusCode.UNSET for span in run.spans)
    assert SECRET not in "".join(span.to_json() for span in run.spans)


def test_signals_belong_to_the_span_of_their_call(project: Repo) -> None:
    run = Traced(project, call(), "It is seen.", planning=False)
    [called] = run.named("execute_tool look")
    records = list(query.folded(journal_of(str(project.root)).folder, query.Filter())[0])
    [signal] = [record for record in records if record.get("rule") == "look-twice"]
    assert signal["traceparent"].rpartition("-")[0] == "00-{:032x}-{:016x}".format(*own(called))
    judged = [dict(one.attributes or {}) for one in called.events if one.name == "ahp.verdict"]
    assert [one["ahp.decision"] for one in judged] == ["warn", "allow"]
    assert judged[0]["ahp.signals"] == (signal["id"],)
    assert run.gate.traceparent == ""


def test_what_a_tool_starts_belongs_to_the_run(project: Repo) -> None:
    seen = []

    @tool(kind="read")
    def look(context: ToolContext) -> str:
        """Looks."""
        seen.append(context.env["TRACEPARENT"])
        return "seen"

    run = Traced(project, call(), "It is seen.", tools=[look], planning=False)
    [root] = run.named("invoke_agent ahp")
    assert [one.rpartition("-")[0] for one in seen] == ["00-{:032x}-{:016x}".format(*own(root))]


def test_a_run_belongs_to_the_trace_that_it_was_started_in(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEPARENT", PARENT)
    [root] = Traced(project, "It is seen.", planning=False).named("invoke_agent ahp")
    assert root.parent is not None and f"{root.parent.span_id:016x}" == PARENT.split("-")[2]


def test_what_goes_wrong_is_an_error_of_its_span(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ahp.runner.run.session._FIRST_WAIT", 0.0)
    tools: list[Tool] = [scripted_tool("look", [ValueError("no")], kind="read")]
    answers = (ModelError("gone", transient=True), call(), ModelError("gone for ever"))
    run = Traced(project, *answers, tools=tools, planning=False)
    errors = [about(span).get("error.type") for span in run.spans]
    assert run.turn.stop_reason == "MODEL_ERROR"
    assert errors == ["no answer", None, "E_TOOL", "broken off", "MODEL_ERROR"]
    assert all(span.status.status_code is StatusCode.ERROR for span in run.spans if "error.type" in about(span))


def test_the_command_sends_them_where_the_standard_variables_say(
    project: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    from http.server import BaseHTTPRequestHandler

    got: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = ExportTraceServiceRequest()
            request.ParseFromString(self.rfile.read(int(self.headers["content-length"])))
            scopes = [scope for one in request.resource_spans for scope in one.scope_spans]
            got.extend(span.name for scope in scopes for span in scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    project.write("script.json", json.dumps({"task": "look?", "answers": ["It is seen."]}))
    monkeypatch.chdir(project.root)
    with serving(Handler) as address:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        ran = CliRunner().invoke(command, ("run", "--script", "script.json", "--no-plan"), standalone_mode=False)
    assert ran.return_value == 0, ran.stderr
    assert got == ["chat scripted", "invoke_agent ahp"]
