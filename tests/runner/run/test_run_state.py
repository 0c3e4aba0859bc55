"""The state of a run is what its events say, while it lives and read back: ahp.runner.run.run_state"""

from __future__ import annotations

from typing import Any

import pytest

from ahp.runner.run.events import EventLog
from ahp.runner.run.run_state import RunState, Talk
from tests.runner.runs import DONE, REPLAN, Scene, call, plan


def told(value: Any) -> Any:
    """A state in plain values, without the moments at which it was noted."""
    if isinstance(value, dict):
        return {name: told(one) for name, one in value.items()}
    if isinstance(value, list):
        return [told(one) for one in value]
    if isinstance(value, Talk) or type(value).__name__ in ("Conversation", "BesideStep"):
        return {name: told(one) for name, one in vars(value).items() if name not in ("seconds", "_begun", "_last")}
    return value


@pytest.mark.parametrize(
    ("replies", "settings"),
    [
        (["It is sunny."], {"planning": False}),
        ([plan("a", "b"), call(), DONE, call(), call(), DONE, "done"], {}),
        ([plan("a"), REPLAN, plan("c"), call("none"), DONE, "done"], {}),
        ([plan("a"), REPLAN, REPLAN, REPLAN], {"max_replans": 1}),
    ],
)
def test_what_is_read_back_is_what_was(replies: list[str], settings: dict[str, Any]) -> None:
    log = EventLog()
    Scene(replies, log=log, **{"planning": True, **settings})
    living = log.listeners[0].__self__  # type: ignore[attr-defined]
    living._break_off()
    assert isinstance(living, RunState) and told(living) == told(RunState.of(log.seen))


def test_where_the_last_verification_was_red_is_known_until_it_is_green() -> None:
    state = RunState()
    detail = {"file": "a.py", "line": 3}
    result = {"red": True, "details": [detail, {**detail, "line": None}]}
    event = {"event": "final_verify", "at": "2026-01-01T00:00:00Z"}
    state.hear({**event, "result": result})
    assert state.failed == {"a.py": [3]}
    state.hear({**event, "result": {"red": False, "details": []}})
    assert state.failed == {}
