from __future__ import annotations

from ahp.protocol.triggers import TRIGGERS


def test_triggers_carry_what_the_design_says() -> None:
    for trigger in TRIGGERS.values():
        after = trigger.name.startswith("post-") or trigger.name == "session-start"
        assert trigger.post == after
        assert trigger.intensities == (("aid",) if after else ("block", "control", "prompt"))
        assert set(trigger.advised) <= set(trigger.intensities)
    assert TRIGGERS["commit-msg"].family == TRIGGERS["post-commit"].family == "commit"
    assert TRIGGERS["pre-merge"].family == "pre-merge"
