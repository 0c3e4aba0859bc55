"""Which command a finding is about, and which of its words the condition found (design §9)."""

from ahp.conditions.language import LOOP, OPERATIONS
from ahp.conditions.runtime import FAULTS, Bound, Builder
from ahp.protocol.text import one_line
from ahp.shell.names import SHELLS, SOURCING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ahp.gate.match import Facts, Hit
    from ahp.policy.program import RuleAnswer

_COMMANDS = ["fact", "tool.commands"]
_NO_WORDS = ("unresolved_at",)  # a list of a command's record that holds none of its words
_WORDS = 3
_LENGTH = 80


def name_commands(found: "list[dict[str, object]]", rule: "RuleAnswer", hit: "Hit", facts: "Facts") -> None:
    """Gives findings that are commands of a shell call a `message`, program and verb, and the `words` that are meant:
    those for which the condition holds, else those that only running the command tells.

    They stand in a tool call, so neither a rule that redacts nor the log gets the words (design §7).
    """
    plan = next(one for one in facts.program.rules if one.key == hit.key)
    if plan.items != _COMMANDS:
        return
    slots = {path: index for index, path in enumerate(facts.program.slots)}
    calls = facts.values.get(_COMMANDS[1])
    listed = calls if isinstance(calls, list) else []
    for finding, command in zip(found, hit.items or [], strict=False):
        if not isinstance(command, dict) or "message" in finding:
            continue
        name = f"{command['program']} {command['verb']}".strip() or _runner(command, listed)
        finding["message"] = one_line(name, _LENGTH)
        builder = Builder(OPERATIONS, slots)
        builder.cell(plan.var)[0] = command
        words = _Witness(builder, plan.var, facts.slots).words(plan.plan) or command.get("unknown", [])
        words = [word for word in words if word not in name.split()]
        if words and not rule.redact:
            finding["words"] = [one_line(word, _LENGTH) for word in words[:_WORDS]]


def _runner(command: "dict[str, Any]", listed: "list[Any]") -> str:
    """What a command without a program is called: that which a shell before it runs, unseen."""
    at = next((index for index, one in enumerate(listed) if one is command), 0)
    before = listed[at - 1]["program"] if at else ""
    return f"what {before} runs" if before == "eval" or before in SHELLS or before in SOURCING else "a command"


class _Witness:
    """The parts of a condition that hold for one command."""

    def __init__(self, builder: Builder, var: str, slots: "list[object]") -> None:
        self._builder, self._slots = builder, slots
        self._command = ["item", var]

    def words(self, plan: "Any") -> list[str]:
        """The words by which `plan`, which holds, holds."""
        return list(dict.fromkeys(self._found(plan)))

    def _found(self, plan: "Any") -> "Iterator[str]":
        op = plan[0]
        if op in ("and", "or"):
            for part in plan[1:]:
                if self._holds(part):
                    yield from self._found(part)
        elif op == "any" and self._is_words(plan[2]):
            cell = self._builder.cell(plan[3])
            for cell[0] in self._builder.build(plan[2])(self._slots):
                if isinstance(cell[0], str) and self._holds(plan[1]):
                    yield cell[0]
        elif op == "in" and plan[1][0] == "const" and self._is_words(plan[2]):
            yield str(plan[1][1])

    def _is_words(self, plan: "Any") -> bool:
        return bool(plan[0] == "field" and plan[1] == self._command and plan[2] not in _NO_WORDS)

    def _holds(self, plan: "Any") -> bool:
        if plan[0] == "not" or (OPERATIONS[plan[0]].call == LOOP and plan[0] != "any"):
            return False  # what is not there has no word
        try:
            return self._builder.build(plan)(self._slots) is True
        except (*FAULTS, Bound):
            return False
