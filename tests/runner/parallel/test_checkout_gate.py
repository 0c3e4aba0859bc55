"""ahp.runner.parallel.scheduler"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ahp.agents.calls.tool_call import Touched
from ahp.protocol.event import Event
from ahp.protocol.verdict import Verdict
from ahp.runner.gating.signal_desk import modified
from ahp.runner.parallel.scheduler import CheckoutGate
from ahp.system.errors import AhpError
from tests.runner.scripted_gate import ScriptedGate, signal, verdict

HERE = "/tmp/ahp-steps-0a/1"


def asking(gate: ScriptedGate) -> CheckoutGate:
    return CheckoutGate(gate, threading.Lock(), "/p", HERE)


def call(command: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "sh",
        "kind": "shell",
        "writes": True,
        "input": {"command": command, "n": [1]},
        "touched": None,
        **more,
    }


def test_no_checkout_of_the_run_is_named() -> None:
    gate = ScriptedGate()
    touched = Touched([f"{HERE}/a"], ["/tmp/ahp-steps-0a/12/b"], f"rm {HERE}")
    asking(gate).ask("pre-tool-use", tool=call(f"cd {HERE} && cat /tmp/ahp-steps-ff/2/x {HERE}.log", touched=touched))
    told = gate.asked[0][1]
    assert told is not None and told["checkout"] == HERE
    assert told["input"] == {"command": f"cd /p && cat /p/x {HERE}.log", "n": [1]}
    assert (told["touched"].paths, told["touched"].writes, told["touched"].command) == (("/p/a",), ("/p/b",), "rm /p")


def test_arguments_that_the_project_s_gate_rewrites_name_the_checkout_again() -> None:
    def change(tool: Mapping[str, Any] | None) -> Verdict:
        assert tool is not None
        found = verdict("pre-tool-use", signal("control", "c", "m", signal_id="c1"))
        given = {**tool["input"], "command": f"{tool['input']['command']} --dry", "more": ["/p/x", {"a": 1}]}
        found.modified = cast("Event", SimpleNamespace(tool={**tool, "input": given}))
        return found

    asked = call(f"cp {HERE}/a b", kept={"path": f"{HERE}/c"})
    asked["input"]["kept"] = {"path": f"{HERE}/c"}
    found = asking(ScriptedGate({"pre-tool-use": change})).ask("pre-tool-use", tool=asked)
    assert modified(found, asked["input"]) == {
        "command": f"cp {HERE}/a b --dry",
        "n": [1],
        "kept": {"path": f"{HERE}/c"},
        "more": [f"{HERE}/x", {"a": 1}],
    }


def test_it_says_and_raises_what_its_gate_does() -> None:
    gate = ScriptedGate({"pre-tool-use": [AhpError("no")]})
    wrapped = asking(gate)
    with pytest.raises(AhpError, match="no"):
        wrapped.ask("pre-tool-use", tool=call("ls"))
    assert wrapped.ask("prompt-submit").decision == "allow" and wrapped.brief() == ""
    wrapped.respond("s", "acknowledge", {})
    assert gate.responses == [("s", "acknowledge", {})]
