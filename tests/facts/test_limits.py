"""`limits`: constants, or one an environment."""

from __future__ import annotations

from typing import Any


def test_limits_are_constants_or_one_an_environment(make_event: Any, gather: Any) -> None:
    settings = {"limits": {"a": [1], "b": {"production": 10, "default": 30}, "c": {"production": 1}}}
    assert gather(make_event(), "limits.a", "limits.b", settings=settings) == {"limits.a": [1], "limits.b": 30}
    event = make_event(given={"environment": {"": "production"}})
    assert gather(event, "limits.b", settings=settings) == {"limits.b": 10}
    missing = gather(make_event(), "limits.c", "limits.d", settings=settings)["missing"]
    assert missing == {
        "limits.c": ("limits.c has no value for the environment development", ""),
        "limits.d": ("the policy has no limit d", ""),
    }
