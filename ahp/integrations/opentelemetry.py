"""A run as spans of OpenTelemetry's GenAI conventions (extra `opentelemetry`; docs/runner.md).

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ahp.system import clock, installed
from ahp.system.errors import AhpError
from ahp.system.version import __version__

try:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError as error:
    raise AhpError(f"spans need OpenTelemetry ({error}): {installed.command('opentelemetry')}") from None

_TRACE = TraceContextTextMapPropagator()
_RUN = ("run", "")
_STEP, _MODEL, _TOOL = "step", "model", "tool"


class RunSpans:
    """A listener of events: the run is a span, and in it each plan step, request to the model and call of a tool.

    What was said, and arguments and results of calls, are in none of them. `gate.traceparent` is the span that is open,
    so that records of what the run does, and what its tools start, belong to the trace. The run belongs to that of the
    variable TRACEPARENT. `tracer` is of the program's own provider where none is given.
    """

    def __init__(self, gate: Any, tracer: Tracer | None = None) -> None:
        self._gate, self._tracer = gate, tracer or trace.get_tracer("ahp", __version__)
        self._open: dict[tuple[str, str], Span] = {}  # by what it is of, and the step that it is in
        self._about: dict[str, Any] = {}

    def __call__(self, event: dict[str, Any]) -> None:
        kind, step = event["event"], str(event.get("step") or event.get("step_id") or "")
        at = int(clock.parse_iso(event["at"]) * 1e9)
        if kind in ("run_start", "run_resume"):
            self._start_run(event, at)
        elif kind == "plan_step_start":
            self._start((_STEP, step), f"step {step}", at, {"ahp.step": step})
        elif kind == "model_request":
            self._end((_MODEL, step), at, "no answer")  # that of a former attempt
            asked = {"gen_ai.request.model": event["model"], "gen_ai.request.max_tokens": event["max_tokens"]}
            self._start((_MODEL, step), f"chat {event['model']}", at, {"gen_ai.operation.name": "chat", **asked})
        elif kind == "model_answer":
            used = {f"gen_ai.usage.{name}": event[name] for name in ("input_tokens", "output_tokens")}
            ended = {"gen_ai.response.finish_reasons": [event["finish_reason"]]}
            self._end((_MODEL, step), at, more={**used, **ended})
        elif kind == "tool_call":
            called = {"gen_ai.tool.name": event["tool"], "gen_ai.tool.call.id": event["id"] or None}
            about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function", **called}
            self._start((_TOOL, step), f"execute_tool {event['tool']}", at, about)
        elif kind == "verdict" and (span := self._open.get((_TOOL, step)) or self._open.get(_RUN)) is not None:
            told = {"ahp.trigger": event["trigger"], "ahp.decision": event["decision"]}
            span.add_event(
                "ahp.verdict", {**told, "ahp.signals": [one["header"]["id"] for one in event["signals"]]}, at
            )
        elif kind == "tool_result":
            self._end((_TOOL, step), at, "" if event["code"] == "ok" else event["code"])
        elif kind == "plan_step_end":
            self._end((_STEP, step), at, "" if event["status"] == "done" else event["status"])
        elif kind == "run_end":
            for one in [*self._open][:0:-1]:
                self._end(one, at, "broken off")
            self._end(_RUN, at, "" if event["stop_reason"] == "DONE" else event["stop_reason"])
        if not event.get("parallel"):
            self._gate.traceparent = self._traceparent(step)

    def _start_run(self, event: dict[str, Any], at: int) -> None:
        to = event.get("endpoint") or {}
        server = urlsplit(to.get("base_url", ""))
        self._about = {
            "gen_ai.provider.name": to.get("api"),
            "gen_ai.agent.name": getattr(self._gate, "agent", None),
            "gen_ai.conversation.id": getattr(self._gate, "session", None),
            "server.address": server.hostname,
            "server.port": server.port,
        }
        self._start(_RUN, "invoke_agent ahp", at, {"gen_ai.operation.name": "invoke_agent"})

    def _start(self, key: tuple[str, str], name: str, at: int, about: dict[str, Any]) -> None:
        above = self._open.get((_STEP, key[1])) or self._open.get(_RUN)
        context = (
            trace.set_span_in_context(above)
            if above is not None
            else _TRACE.extract({"traceparent": os.environ.get("TRACEPARENT", "")})
        )
        told = {known: value for known, value in {**self._about, **about}.items() if value is not None}
        kind = SpanKind.CLIENT if key[0] == _MODEL else SpanKind.INTERNAL
        self._open[key] = self._tracer.start_span(name, context, kind, told, start_time=at)

    def _end(self, key: tuple[str, str], at: int, error: str = "", more: dict[str, Any] | None = None) -> None:
        span = self._open.pop(key, None)
        if span is None:
            return
        span.set_attributes({**(more or {}), **({"error.type": error} if error else {})})
        if error:
            span.set_status(Status(StatusCode.ERROR))
        span.end(at)

    def _traceparent(self, step: str) -> str:
        """The innermost span that is open, as W3C's header names it."""
        keys = ((_TOOL, step), (_STEP, step), _RUN)
        span = next((self._open[key] for key in keys if key in self._open), None)
        carrier: dict[str, str] = {}
        if span is not None:
            _TRACE.inject(carrier, trace.set_span_in_context(span))
        return carrier.get("traceparent", "")


@contextmanager
def exported(gate: Any) -> Iterator[RunSpans]:
    """What sends a run to the collector of the standard variables."""
    provider = TracerProvider(resource=Resource.create({"service.name": "ahp"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    try:
        yield RunSpans(gate, provider.get_tracer("ahp", __version__))
    finally:
        provider.shutdown()
