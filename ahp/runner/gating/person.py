"""A person at the terminal, asked when the gate's refusals would end a run. The model has no part in it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from ahp.hosts.verdict_text import rule_of, short_id
from ahp.journal.answers import RISK
from ahp.journal.place import journal_of
from ahp.journal.respond import respond
from ahp.protocol.event import Actor
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import one_line
from ahp.system import terminal
from ahp.system.errors import AhpError


class Choice(StrEnum):
    """What a person decides: the rules pass once, the model goes on without it, the run stops."""

    PASS = "pass"  # noqa: S105  # no password
    GO_ON = "go_on"
    STOP = "stop"


class Person(Protocol):
    """Who decides when a refusal would end the run."""

    def decide(self, what: str, blocks: Sequence[Signal], *, may_go_on: bool) -> Choice:
        """Their choice about `what` was refused by `blocks`. After PASS the gate judges it again."""
        ...


class PersonAtTerminal:
    """The person `actor` at this process's terminal; their word that a rule passes is recorded for `root`'s gate."""

    def __init__(self, root: str, actor: Actor) -> None:
        self._journal = journal_of(root)
        self._actor = actor

    def decide(self, what: str, blocks: Sequence[Signal], *, may_go_on: bool) -> Choice:
        """What they type; STOP when nobody answers in time."""
        lines = [f"ahp: the gate refuses {one_line(what, 80)}:"]
        lines += [f"  {rule_of(one)} ({short_id(one)}): {one_line(reason_of(one.payload), 300)}" for one in blocks]
        choices = {"p": "pass once", **({"g": "go on without it"} if may_go_on else {}), "s": "stop"}
        terminal.forget_typed()
        while True:
            typed = terminal.choose("\n".join(lines), choices)
            if typed == "g":
                return Choice.GO_ON
            if typed != "p":
                return Choice.STOP
            problem = self._let_pass(blocks)
            if problem is None:
                return Choice.PASS
            lines = [f"ahp: it cannot pass: {problem}"]

    def _let_pass(self, blocks: Sequence[Signal]) -> str | None:
        """Records their word for each rule; why that could not be, or None."""
        reason = terminal.line("ahp: why? It goes into the log and the commit:") or ""
        try:
            for one in blocks:
                respond(self._journal, one.id, RISK, self._actor, reason)
        except AhpError as error:
            return one_line(error, 300)
        return None
