"""The namespaces that come from the event itself: actor, env, limits, session, time, tool."""

from __future__ import annotations

import time as machine
from typing import Any

import pytest

from ahp.facts import actor, session, time, tool
from ahp.protocol.actor import Actor
from ahp.system import clock
from ahp.system.errors import AhpError

MONDAY = 1770631445.5  # 2026-02-09T10:04:05.500Z


def paths(namespace: Any, name: str) -> list[str]:
    return [f"{name}.{field}" for field in namespace.NAMESPACE.schema]


def test_the_actor_is_the_events(make_event: Any, gather: Any) -> None:
    event = make_event(actor=Actor("agent", "claude"))
    assert gather(event, *paths(actor, "actor")) == {"actor.kind": "agent", "actor.name": "claude"}


def test_only_listed_variables_are_read_and_unset_is_empty(make_event: Any, gather: Any) -> None:
    event = make_event(env={"CI": "true", "SECRET": "x"})
    facts = gather(event, "env.CI", "env.NOT_SET", "env.SECRET", settings={"env_allow": ["CI", "NOT_SET"]})
    assert facts == {
        "env.CI": "true",
        "env.NOT_SET": "",
        "missing": {"env.SECRET": ("SECRET is not listed under `env_allow`", "")},
    }
    assert "missing" in gather(event, "env.CI")


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


def test_a_session_has_its_id_and_agent(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", actor=Actor("agent", "codex"), session="s-1")
    facts = gather(event, *paths(session, "session"))
    assert (facts["session.id"], facts["session.agent"]) == ("s-1", "codex")
    assert set(facts["missing"]) == {"session.tool_calls", "session.denied", "session.touched_files_count"}
    assert gather(make_event("session-start"), "session.id") == {"session.id": ""}


def test_the_tool_call_is_what_the_adapter_read(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", tool={"name": "shell", "command": "ls"})
    facts = gather(event, "tool.name", "tool.command", "tool.output")
    assert facts["tool.name"] == "shell" and facts["tool.command"] == "ls"
    assert facts["missing"] == {"tool.output": ("the client does not tell tool.output", "")}
    assert gather(make_event(), "tool.name")["missing"]["tool.name"] == ("no tool call was given", "")


def test_every_canonical_tool_is_in_the_schema() -> None:
    assert tool.NAMESPACE.schema["name"]["enum"] == list(tool.NAMES)


class TestTime:
    @pytest.fixture(autouse=True)
    def stopped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clock, "now", lambda: MONDAY)

    @pytest.mark.parametrize(
        ("zone", "hour", "minute", "weekday", "date"),
        [
            ("UTC", 10, 4, "monday", "2026-02-09"),
            ("Europe/Vienna", 11, 4, "monday", "2026-02-09"),
            ("Asia/Kolkata", 15, 34, "monday", "2026-02-09"),
            ("Pacific/Honolulu", 0, 4, "monday", "2026-02-09"),
            ("Pacific/Kiritimati", 0, 4, "tuesday", "2026-02-10"),
        ],
    )
    def test_the_zone_is_the_policys(
        self, make_event: Any, gather: Any, zone: str, hour: int, minute: int, weekday: str, date: str
    ) -> None:
        facts = gather(make_event(), *paths(time, "time"), settings={"timezone": zone})
        assert list(facts.values()) == [hour, minute, weekday, date]

    def test_else_the_machines(self, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "Etc/GMT-5")
        machine.tzset()
        try:
            assert gather(make_event(), "time.hour") == {"time.hour": 15}
        finally:
            monkeypatch.setenv("TZ", "UTC")
            machine.tzset()

    @pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "a\0b"])
    def test_a_zone_nobody_knows_is_an_error(self, make_event: Any, gather: Any, zone: str) -> None:
        with pytest.raises(AhpError, match="no such zone"):
            gather(make_event(), "time.hour", settings={"timezone": zone})
