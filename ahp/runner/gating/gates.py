"""How the runner asks the gate, and what a model reads of the answer (design §7, §9)."""

import copy
import json
from collections.abc import Mapping
from typing import Any, Protocol

from ahp.hosts.verdict_text import for_agent, rule_of, short_id
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.runner.run.limits import Repeats


class Gate(Protocol):
    """The gate as the runner sees it. Whatever it raises as AhpError means: not judged, so not done."""

    def ask(
        self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None, dry: bool = False
    ) -> Verdict:
        """Judges `trigger`; a `dry` question is neither logged nor counted.

        `tool` is `{"name", "kind", "writes", "input", "touched"}`; within a plan step also `expected`, the tools it
        names; `boxed` where its commands will run in a box; `annotations`, what an MCP server says of it; in a step
        that runs beside others `checkout`, the linked work tree that it works in and whose folder no other value names;
        afterwards `output` and `code`. What a verdict changes in a call is in its `modified`, where it has to run in
        its `box`.
        """
        ...

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Records an answer to a signal. Raises AhpError when the action does not fit it."""
        ...


def said(verdict: Verdict, unanswered: list[Signal]) -> str:
    """A verdict in a model's words (at most 600 characters), and how to answer the prompts in it; "" for none."""
    lines = [for_agent(verdict)] if verdict.signals else []
    for signal in unanswered:
        answer = json.dumps({"respond": short_id(signal), "action": "acknowledge"})
        lines.append(f"Answer it with {answer} (or apply_suggestion, dismiss); going on without is dismiss.")
    return "\n".join(lines)


def reasons(verdict: Verdict) -> list[list[str]]:
    """[rule, reason] of each block in a verdict: what makes two blocks the same one."""
    return sorted([rule_of(s), one_line(reason_of(s.payload))] for s in verdict.signals if s.intensity == "block")


def count_blocks(blocks: Repeats, trigger: str, why: list[list[str]]) -> int:
    """Counts each rule with its reason, whatever was tried; how often the most frequent one has refused now."""
    return max([blocks.count(trigger, one) for one in why] or [blocks.count(trigger, None)])


def forget_blocks(blocks: Repeats, trigger: str, why: list[list[str]]) -> None:
    """Counts these rules with their reasons anew: a person has decided about them."""
    for one in [*why, None]:
        blocks.forget(trigger, one)


def modified(verdict: Verdict, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the verdict wants them: those of its `modified` event, else as they are."""
    event = verdict.modified
    given = event.tool.get("input") if event is not None and event.tool is not None else None
    return copy.deepcopy(given if isinstance(given, dict) else dict(args))
