"""How the runner asks the gate, and what a model reads of the answer (design §7, §9)."""

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

from ahp.hosts.verdict_text import for_agent, rule_of, short_id
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.runner.run.limits import Repeats

_KEY = re.compile(r"""\.?([^.\[\]]+)|\[["']([^"'\]]*)["']\]""")
_ROOTS = ("tool.input", "input", "args")


class Gate(Protocol):
    """The gate as the runner sees it. Whatever it raises as AhpError means: not judged, so not done."""

    def ask(
        self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None, dry: bool = False
    ) -> Verdict:
        """Judges `trigger`; a `dry` question is neither logged nor counted.

        `tool` is `{"name", "kind", "writes", "input", "touched"}`; within a plan step also `expected`, the tools it
        names; in a step that runs beside others `checkout`, the linked work tree that it works in and whose folder no
        other value names; afterwards `output` and `code`.
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


def modified(verdict: Verdict, args: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(the arguments as the verdict wants them, the targets of its modifications that the call does not have)."""
    event = verdict.modified
    given = event.tool.get("input") if event is not None and event.tool is not None else None
    if isinstance(given, dict):
        # What a modification says is shortened for its readers; the event holds all of it.
        return copy.deepcopy(given), []
    return rewrite(args, verdict.modifications)


def rewrite(args: Mapping[str, Any], modifications: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """(the arguments with the modifications applied in order, the targets inside the call that do not exist).

    A target names an argument, alone or as `tool.input.NAME`. Other targets (the batch size of a
    `split_suggestion`) are no part of the call and change nothing.
    """
    changed = copy.deepcopy(dict(args))
    missing = []
    for modification in modifications:
        target = str(modification.get("target", ""))
        inside = target.startswith(tuple(root + mark for root in _ROOTS for mark in ".["))
        keys = _keys(target)
        holder: Any = changed
        for key in keys[:-1]:
            holder = holder.get(key) if isinstance(holder, dict) else None
        if keys and isinstance(holder, dict) and (inside or keys[-1] in holder):
            holder[keys[-1]] = modification.get("updated")
        elif inside:
            missing.append(target)
    return changed, missing


def _keys(target: str) -> list[str]:
    for root in _ROOTS:
        if target.startswith((root + ".", root + "[")):
            target = target[len(root) :]
            break
    return [bare or quoted for bare, quoted in _KEY.findall(target)]
