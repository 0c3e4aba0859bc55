"""Events about real repositories, as a host would build them."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.facts.gather import gather as gather_facts
from ahp.facts.registry import Command, Extract, Reports, Settings
from ahp.hosts.git.ranges import range_of
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system import clock, git
from ahp.system.view import IndexView
from tests.conftest import Repo
from tests.tickets.memory import MemoryView, draft, place

Make = Callable[..., Event]
Gather = Callable[..., dict[str, Any]]

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "reports"


@pytest.fixture
def make_event(repo: Any) -> Make:
    """`make_event(trigger="pre-commit", **slots)`: an event in `repo`; its view is the index by default."""

    def make(trigger: str = "pre-commit", **slots: Any) -> Event:
        env = {**os.environ, **slots.pop("env", {})}
        if "repo" not in slots:
            slots["repo"] = git.discover(str(repo.root), env)
            slots["repo"].env = env
        if "push" in slots:
            slots.setdefault("view", range_of(slots["repo"], slots["push"], slots.get("remote") or ""))
        if "view" not in slots:
            slots["view"] = IndexView(slots["repo"])
        where = Workspace(str(repo.root), str(repo.root / ".git" / "ahp"), env)
        actor = slots.pop("actor", Actor("human", "ann"))
        return Event(trigger, "git", actor, where, clock.monotonic() + 60).but(**slots)

    return make


def command_of(spec: dict[str, Any]) -> Command:
    """A command as `facts:` has it; what is not given is as the policy file leaves it."""
    extract = {name: Extract(**one) for name, one in spec.get("extract", {}).items()}
    defaults = {"directory": ".", "timeout": 30.0, "parse": "exit", "when_changed": [], "place": "here"}
    return Command(**{**defaults, **spec, "extract": extract})


def settings_of(
    reports: dict[str, Any] | None = None,
    commands: dict[str, dict[str, Any]] | None = None,
    trusted: Callable[[Command], bool] | None = None,
    compare_policies: Callable[[Event], dict[str, object]] | None = None,
    **given: Any,
) -> Settings:
    """The settings of a policy that says no more than this."""
    plain = {"limits": {}, "env_allow": [], "timezone": "", "environment": [], "namespaces": {}, **given}
    found = Reports(**{"tests": [], "coverage": [], "coverage_threshold": None, **(reports or {})})
    made = Settings(**plain, reports=found, commands={name: command_of(one) for name, one in (commands or {}).items()})
    made.trusted, made.compare_policies = trusted, compare_policies
    return made


@pytest.fixture
def gather() -> Gather:
    """`gather(event, "files.changed", …, settings={})` → values by path; the missing ones under "missing"."""

    def gathered(event: Event, *paths: str, settings: dict[str, Any] | None = None) -> dict[str, Any]:
        reads: dict[str, list[str]] = {}
        for path in paths:
            namespace, _, field = path.partition(".")
            reads.setdefault(namespace, []).append(field)
        values, missing = gather_facts(reads, event, settings_of(**(settings or {})))
        assert set(values) | set(missing) == set(paths)
        told = {path: (absent.reason, absent.command) for path, absent in missing.items()}
        return {**values, **({"missing": told} if told else {})}

    return gathered


@pytest.fixture
def project(repo: Any) -> Any:
    """A Python project with fresh reports, its sources an hour old."""
    repo.commit("first", **{"app.py": "x = 1\n", "pyproject.toml": "[project]\n", ".gitignore": "*.xml\n"})
    for path in ("app.py", "pyproject.toml"):
        age(repo.root / path, 3600)
    for name in ("junit.xml", "coverage.xml"):
        shutil.copyfile(SAMPLES / name, repo.root / name)
    return repo


def age(path: Path, seconds: int) -> None:
    """Makes a file older."""
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


@pytest.fixture
def event(repo: Repo) -> Make:
    """An event in the repository, on the branch FEAT-0001-a-thing."""
    repo.git("checkout", "-qb", "FEAT-0001-a-thing")

    def make(trigger: str = "pre-commit", files: dict[str, str] | None = None, **more: object) -> Event:
        found = git.discover(str(repo.root), dict(os.environ))
        chosen = {place("FEAT-0001"): draft("FEAT-0001")} if files is None else files
        where = Workspace(str(repo.root), "", {}, found)
        made = Event(trigger, "git", Actor("human", ""), where, time.monotonic() + 9)
        return made.but(**{"view": MemoryView(dict(chosen)), **more})

    return make


def spec(script: str, **more: Any) -> dict[str, Any]:
    """A command of the policy that a shell runs."""
    return {"run": ["sh", "-c", script], "parse": "lines", "timeout": 20.0, "directory": ".", **more}


def settings(command: dict[str, Any], trusted: bool = True) -> dict[str, Any]:
    """The settings of a program with one command fact, `lint`."""
    return {"commands": {"lint": command}, "trusted": lambda given: trusted and given.run == command["run"]}
