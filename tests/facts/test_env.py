"""`env`: only the variables that the policy lists."""

from __future__ import annotations

from typing import Any


def test_only_listed_variables_are_read_and_unset_is_empty(make_event: Any, gather: Any) -> None:
    event = make_event(env={"CI": "true", "SECRET": "x"})
    facts = gather(event, "env.CI", "env.NOT_SET", "env.SECRET", settings={"env_allow": ["CI", "NOT_SET"]})
    assert facts == {
        "env.CI": "true",
        "env.NOT_SET": "",
        "missing": {"env.SECRET": ("SECRET is not listed under `env_allow`", "")},
    }
    assert "missing" in gather(event, "env.CI")
