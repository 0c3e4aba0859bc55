"""Events in a person's words: the live view, `show` and `replay` print the same lines."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ahp.protocol.text import one_line
from ahp.runner.run.events import Event, Kind

_WIDTH = 160
_OF_THE_PLAN: tuple[Kind, ...] = ("plan_step_start", "plan_step_end", "step_merged", "step_conflict")


def line(event: Event) -> str | None:
    """One line for the events that tell how a run goes on, None for the others; those of a plan step are indented."""
    words = _WORDS.get(event["event"])
    said = words(event) if words is not None else None
    if said is None:
        return None
    if event["event"] in _OF_THE_PLAN or not event.get("step"):
        return one_line(said, _WIDTH)
    # Of steps side by side each line says whose it is.
    return one_line(f"  {event['step']}: {said}" if event.get("parallel") else f"  {said}", _WIDTH)


def text(answer: Any) -> str:
    """A model's answer, line by line without what moves a cursor or turns the reading order."""
    return "\n".join(one_line(part, 10_000) for part in str(answer).split("\n"))


def _resumed(event: Event) -> str:
    changed = event.get("changed")
    return "task     taken up again" + (f"; changed meanwhile: {', '.join(changed)}" if changed else "")


def _end(event: Event) -> str:
    return f"end      {event['stop_reason']} ({event['requests']} requests, {event['tokens']} tokens)"


def _verify(event: Event) -> str:
    result = event["result"]
    return f"verify   {result['type']}: {result['summary']}"


def _verdict(event: Event) -> str | None:
    if event["decision"] == "allow":
        return None
    rules = [str(signal["context"].get("rule", "?")) for signal in event["signals"]]
    return f"gate     {event['trigger']}: {event['decision']} ({', '.join(rules)})"


def _plan(event: Event) -> str:
    steps = [step["id"] for step in event["plan"]["steps"]]
    told = f" ({'; '.join(event['told'])})" if event.get("told") else ""
    return f"plan     {event['plan']['title']}: {', '.join(steps)}{told}"


def _trimmed(event: Event) -> str:
    pairs = [f"{event['pairs']} oldest exchanges dropped"] if event["pairs"] else []
    cuts = [f"a long part cut to {chars} characters" for chars in event["cuts"]]
    return f"context  {', '.join(pairs + cuts)}: {event['why']}"


_WORDS: dict[Kind, Callable[[Event], str | None]] = {
    "run_start": lambda event: f"task     {event['task']}",
    "run_resume": _resumed,
    "state": lambda event: f"state    {event['former']} -> {event['state']}: {event['why']}",
    "plan_generated": _plan,
    "planning_retry": lambda event: f"plan     refused: {'; '.join(event['problems'])}",
    "plan_step_start": lambda event: f"step     {event['step_id']}: {event['description']}",
    "plan_step_end": lambda event: f"step     {event['step_id']} {event['status']}: {event['problem'] or 'as planned'}",
    "plan_step_blocked": lambda event: f"step     {event['step_id']} blocked",
    "step_merged": lambda event: f"merged   {event['step_id']}: {', '.join(event['paths']) or 'nothing had changed'}",
    "step_conflict": lambda event: (
        f"conflict {event['step_id']} does not fit at {', '.join(event['paths'])}; again as {event['new_id']}"
    ),
    "step_dropped": lambda event: f"step     {event['step_id']} begins anew: {event['problem']}",
    "not_parallel": lambda event: f"plan     steps run one after the other: {event['problem']}",
    "control_signal": lambda event: f"signal   {event['control']} ({event['via']}): {event['reason'] or ''}",
    "tool_call": lambda event: f"tool     {event['tool']} {event['args']}",
    "tool_result": lambda event: f"result   {event['code']}: {event['text']}",
    "verdict": _verdict,
    "intercepted": lambda event: f"guard    not shown: {event['text']}",
    "repeated_call": lambda event: f"breaker  {event['tool']} gave the same result {event['times']} times",
    "stuttering": lambda event: f"breaker  E_STUTTERING: {event['tool']}",
    "trimmed": _trimmed,
    "brief": lambda event: f"context  given: what the policy asks of agents ({event['tokens']} tokens)",
    # 0.4 wrote one event a file.
    "retrieved": lambda event: f"context  look first: {', '.join(one['path'] for one in event.get('places', [event]))}",
    "model_retry": lambda event: f"model    {event['problem']}; asked again in {event['seconds']:g} s",
    "person": lambda event: f"person   {event['choice']}: {event['what']}",
    "leftovers_ended": lambda event: f"ended    left running by {event['tool']}: {', '.join(event['names'])}",
    "issue_moved": lambda event: f"issue    {event['issue']}: {event['verb']}",
    "final_verify": _verify,
    "run_end": _end,
}


if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

_LINES = 8
_MARKS = {"pending": "·", "in_progress": "▶", "done": "✓", "failed": "✗", "blocked": "■"}
_STYLES = {"pending": "dim", "in_progress": "bold", "done": "green", "failed": "red", "blocked": "yellow"}
_REFRESHES = 4  # a second
# What the plan or the last line of the view shows already.
_SHOWN_ELSEWHERE = frozenset({"run_start", "plan_generated", "plan_step_start", "plan_step_end", "state", "run_end"})


class Progress:
    """Where a run stands, read from one event after another."""

    def __init__(self) -> None:
        self.task = self.state = self.title = ""
        self.steps: dict[str, tuple[str, str]] = {}  # by id: (description, status)
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.verdicts: dict[str, int] = {}  # by decision, those that are not `allow`
        self.requests = self.tokens = 0
        self.usd = 0.0
        self.limits: dict[str, Any] = {}

    def read(self, event: Event) -> None:
        """Takes one event in."""
        kind: Kind = event["event"]
        match kind:
            case "run_start":
                self.task, self.limits = str(event["task"]), dict(event["config"])
            case "run_resume":
                self.limits = dict(event["config"])
            case "state":
                self.state = str(event["state"])
            case "plan_generated":
                self.title = str(event["plan"]["title"])
                self.steps = {step["id"]: (step["description"], step["status"]) for step in event["plan"]["steps"]}
            case "plan_step_start":
                self._mark(event["step_id"], "in_progress")
            case "plan_step_end":
                self._mark(event["step_id"], event["status"])
            case "plan_step_blocked":
                self._mark(event["step_id"], "blocked")
            case "step_conflict":
                self._replace(event["step_id"], event["new_id"])
            case "verdict" if event["decision"] != "allow":
                self.verdicts[event["decision"]] = self.verdicts.get(event["decision"], 0) + 1
            case "model_request":
                self.requests += 1
            case "model_answer":
                self.tokens += int(event["input_tokens"]) + int(event["output_tokens"])
                self.usd += float(event["usd"])
        said = line(event)
        if said is not None and event["event"] not in _SHOWN_ELSEWHERE:
            self.lines.append(said)

    def _replace(self, former: str, new: str) -> None:
        """The step that takes another one's place stands where that stood."""
        self.steps = {
            new if name == former else name: (said, "pending" if name == former else status)
            for name, (said, status) in self.steps.items()
        }

    def _mark(self, step: str, status: str) -> None:
        self.steps[step] = (self.steps.get(step, ("", ""))[0], status)

    def used(self, seconds: float) -> str:
        """What is used up, with its limit where there is one: `7 requests, 1200 of 5000 tokens, $0.02, 12 s`."""
        parts = [f"{self.requests} requests", f"{self.tokens}{self._of('tokens', '{}')} tokens"]
        if self.usd or self.limits.get("budget_usd") is not None:
            parts.append(f"${self.usd:.2f}{self._of('usd', '${:.2f}')}")
        parts.append(f"{seconds:.0f}{self._of('seconds', '{:g}')} s")
        return ", ".join(parts)

    def _of(self, budget: str, form: str) -> str:
        limit = self.limits.get(f"budget_{budget}")
        return "" if limit is None else f" of {form.format(limit)}"


class LiveView:
    """Shows a run on standard error: drawn anew in place at a terminal, else a line an event. A listener of its events.

    As a context manager it draws from beginning to end.
    """

    def __init__(self, console: "Console | None" = None) -> None:
        self.progress = Progress()
        self._console = console
        self._live: Live | None = None
        self._began = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Shows one event."""
        self.progress.read(event)
        if self._live is None and (said := line(event)) is not None and not self._drawn():
            print(said, file=sys.stderr, flush=True)

    def __enter__(self) -> "LiveView":
        if self._drawn():
            from rich.console import Console
            from rich.live import Live

            self._console = self._console or Console(stderr=True, highlight=False)
            self._live = Live(get_renderable=self.drawing, console=self._console, refresh_per_second=_REFRESHES)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leaves the terminal alone, as long as somebody is asked there."""
        if self._live is not None:
            self._live.stop()
        try:
            yield
        finally:
            if self._live is not None:
                self._live.start(refresh=True)

    def drawing(self) -> "RenderableType":
        """The view as it is now. Nothing in it is markup, whatever a model or a tool wrote."""
        from rich.console import Group
        from rich.text import Text

        shown = self.progress
        width = max((self._console.width if self._console else 100) - 2, 20)
        rows = [Text(one_line(f"{shown.title or shown.task}", width), "bold")]
        for name, (description, status) in shown.steps.items():
            said = f"{_MARKS.get(status, '?')} {name}: {description}"
            rows.append(Text("  " + one_line(said, width - 2), _STYLES.get(status, "")))
        rows += [Text("  " + one_line(said, width - 2), "dim") for said in shown.lines]
        told = ", ".join(f"{count} {decision}" for decision, count in shown.verdicts.items())
        used = shown.used(time.monotonic() - self._began)
        rows.append(Text(one_line("   ".join(filter(None, [shown.state, used, told])), width), "cyan"))
        return Group(*rows)

    def _drawn(self) -> bool:
        return self._console.is_terminal if self._console is not None else sys.stderr.isatty()
