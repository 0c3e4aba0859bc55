"""The gate for a step that works in a checkout: it is asked in the names of the project, where every path has one."""

import re
import threading
from collections.abc import Mapping
from typing import Any

from ahp.facts.tool import Touched
from ahp.protocol.verdict import Verdict
from ahp.runner.gating.gates import Gate
from ahp.runner.parallel.checkouts import PREFIX


class CheckoutGate:
    """Asks `gate`, one question at a time whoever asks, about calls that run in the folder `checkout`.

    A policy never sees that folder, nor those beside it: in what it is told they are the project's `root`, and what it
    changes in a call names the checkout again before that runs. `asking` is the lock that all steps of a run share.
    """

    def __init__(self, gate: Gate, asking: threading.Lock, root: str, checkout: str) -> None:
        self._gate, self._asking = gate, asking
        self._root, self._checkout = root, checkout
        # Also those of the same run before it was killed: a model has read their names.
        above = re.escape(checkout.rpartition("/")[0].rpartition("/")[0])
        self._folders = re.compile(rf"{above}/{PREFIX}\w+/\d+(?![\w.-])")

    def ask(
        self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None, dry: bool = False
    ) -> Verdict:
        """The verdict of the gate. Raises what that raises."""
        told = None if tool is None else {**self._told(tool), "checkout": self._checkout}
        with self._asking:
            verdict = self._gate.ask(trigger, tool=told, issue=issue, dry=dry)
        if tool is not None and told is not None:
            self._take_back(verdict, tool["input"], told["input"])
        return verdict

    def brief(self) -> str:
        """What the gate asks of agents in general; "" where it does not tell. Raises AhpError."""
        brief = getattr(self._gate, "brief", str)
        with self._asking:
            return str(brief())

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Records an answer. Raises AhpError."""
        with self._asking:
            self._gate.respond(signal_id, action, details)

    def _told(self, value: Any) -> Any:
        """`value` with the project's folder in the place of every checkout's."""
        if isinstance(value, str):
            return self._folders.sub(lambda found: self._root, value)
        if isinstance(value, Mapping):
            return {key: self._told(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._told(item) for item in value]
        if isinstance(value, Touched):
            return Touched(self._told(value.paths), self._told(value.writes), self._told(value.command))
        return value

    def _take_back(self, verdict: Verdict, given: Any, told: Any) -> None:
        """Has what the gate changed in a call name the checkout; what it left alone is as it was given."""
        event = verdict.modified
        if event is not None and event.tool is not None and "input" in event.tool:
            event.tool = {**event.tool, "input": self._named(event.tool["input"], told, given)}
        for one in verdict.modifications:
            one["updated"] = self._named(one.get("updated"), None, None)

    def _named(self, wanted: Any, told: Any, given: Any) -> Any:
        if wanted == told and told is not None:
            return given
        if isinstance(wanted, str):
            return re.sub(rf"{re.escape(self._root)}(?=/|$)", lambda found: self._checkout, wanted)
        if isinstance(wanted, dict):
            pairs = (one if isinstance(one, dict) else {} for one in (told, given))
            then, first = pairs
            return {key: self._named(item, then.get(key), first.get(key)) for key, item in wanted.items()}
        if isinstance(wanted, list):
            return [self._named(item, None, None) for item in wanted]
        return wanted
