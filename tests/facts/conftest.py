"""Events about real repositories, as a host would build them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from ahp.facts.gather import gather as gather_facts
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event
from ahp.system import clock, git
from ahp.system.view import IndexView

Make = Callable[..., Event]
Gather = Callable[..., dict[str, Any]]


@pytest.fixture
def make_event(repo: Any) -> Make:
    """`make_event(trigger="pre-commit", **slots)`: an event in `repo`; its view is the index by default."""

    def make(trigger: str = "pre-commit", **slots: Any) -> Event:
        env = {**os.environ, **slots.pop("env", {})}
        if "repo" not in slots:
            slots["repo"] = git.discover(str(repo.root), env)
            slots["repo"].env = env
        if "view" not in slots:
            slots["view"] = IndexView(slots["repo"])
        slots.setdefault("actor", Actor("human", "ann"))
        return Event(
            trigger,
            "git",
            root=str(repo.root),
            journal=str(repo.root / ".git" / "ahp"),
            env=env,
            deadline=clock.monotonic() + 60,
            **slots,
        )

    return make


@pytest.fixture
def gather() -> Gather:
    """`gather(event, "files.changed", …, settings={})` → values by path; the missing ones under "missing"."""

    def gathered(event: Event, *paths: str, settings: dict[str, Any] | None = None) -> dict[str, Any]:
        reads: dict[str, list[str]] = {}
        for path in paths:
            namespace, _, field = path.partition(".")
            reads.setdefault(namespace, []).append(field)
        values, missing = gather_facts(reads, event, settings or {})
        assert set(values) | set(missing) == set(paths)
        return {**values, **({"missing": missing} if missing else {})}

    return gathered
