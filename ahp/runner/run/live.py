"""Events in a person's words: the live view and `show` print the same lines."""

import sys
from collections.abc import Callable
from typing import Any

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
    "tool_result": lambda event: f"result   {event['code']}: {event['text'].removeprefix(event['code'] + ': ')}",
    "verdict": _verdict,
    "intercepted": lambda event: f"guard    not shown: {event['text']}",
    "repeated_call": lambda event: f"breaker  {event['tool']} gave the same result {event['times']} times",
    "stuttering": lambda event: f"breaker  E_STUTTERING: {event['tool']}",
    "trimmed": _trimmed,
    "brief": lambda event: f"context  given: what the policy asks of agents ({event['tokens']} tokens)",
    # 0.4 wrote one event a file.
    "retrieved": lambda event: f"context  look first: {', '.join(one['path'] for one in event.get('places', [event]))}",
    "model_retry": lambda event: f"model    {event['problem']}; asked again in {event['seconds']:g} s",
    "leftovers_ended": lambda event: f"ended    left running by {event['tool']}: {', '.join(event['names'])}",
    "final_verify": lambda event: f"verify   {event['result']['type']}: {event['result']['summary']}",
    "run_end": lambda event: (
        f"end      {event['stop_reason']} "
        f"({event['requests']} request{'s' * (event['requests'] != 1)}, {event['tokens']} tokens)"
    ),
}


class Live:
    """Prints events on standard error, and what a model says while it says it. A listener of events."""

    def __init__(self) -> None:
        self._begun = ""  # the line that the model has not ended

    def hear(self, said: str) -> None:
        """Takes in a part of a reply, and prints the lines that are whole. Calls are events."""
        *lines, self._begun = f"{self._begun}{said}".split("\n")
        for one in filter(str.strip, lines):
            if not one.startswith("{"):
                print(one_line(f"says     {one}", _WIDTH), file=sys.stderr, flush=True)

    def __call__(self, event: Event) -> None:
        self.hear("\n")
        if (said := line(event)) is not None:
            print(said, file=sys.stderr, flush=True)
