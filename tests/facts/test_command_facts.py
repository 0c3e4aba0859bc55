"""Command facts: run only when accepted, once for the same content, and a non-zero exit is data."""

from __future__ import annotations

import os
import stat
import time
from typing import Any

import pytest

from ahp.system import clock
from tests.facts.conftest import settings, spec


def test_lines_are_counted_and_the_exit_code_is_data(make_event: Any, gather: Any) -> None:
    command = spec("printf 'a\\n\\nb\\n'; exit 3")
    assert gather(make_event(), "lint.exit_code", "lint.count", settings=settings(command)) == {
        "lint.exit_code": 3,
        "lint.count": 2,
    }


@pytest.mark.parametrize(("told", "code"), [(f"00-{'a' * 32}-{'b' * 16}-01", 0), ("00-a-b-01", 1)])
def test_a_command_gets_the_trace_context_where_it_is_valid(make_event: Any, gather: Any, told: str, code: int) -> None:
    event, command = make_event(), spec('test -n "$TRACEPARENT"', parse="exit")
    event.env = {**event.env, "TRACEPARENT": told}
    assert gather(event, "lint.exit_code", settings=settings(command)) == {"lint.exit_code": code}


def test_exit_alone(make_event: Any, gather: Any) -> None:
    for code, count in ((0, 0), (7, 1)):
        command = spec(f"exit {code}", parse="exit")
        facts = gather(make_event(), "lint.exit_code", "lint.count", settings=settings(command))
        assert facts == {"lint.exit_code": code, "lint.count": count}


def test_nothing_runs_that_nobody_accepted(repo: Any, make_event: Any, gather: Any) -> None:
    command = spec("touch ran")
    for given in (settings(command, trusted=False), {"commands": {"lint": command}}):
        reason, remedy = gather(make_event(), "lint.count", settings=given)["missing"]["lint.count"]
        assert "nobody accepted the command of `lint` (sh -c touch ran)" in reason and remedy == "ahp trust"
    assert not (repo.root / "ran").exists()


def test_a_fact_the_policy_does_not_have_and_a_past_state(make_event: Any, gather: Any) -> None:
    assert gather(make_event(), "nix.count")["missing"]["nix.count"][0] == (
        "the command of `nix` does not run: its policy is not in force yet"
    )
    missing = gather(make_event(mode="replay"), "lint.count", settings=settings(spec("exit 0")))["missing"]
    assert "past state" in missing["lint.count"][0]


def test_what_cannot_start_or_takes_too_long_is_missing(repo: Any, make_event: Any, gather: Any) -> None:
    command = {"run": ["no-such-program-here"], "parse": "exit", "timeout": 5.0}
    missing = gather(make_event(), "lint.exit_code", settings=settings(command))["missing"]
    assert "no-such-program-here" in missing["lint.exit_code"][0]
    command = spec("sleep 60 & sleep 60", timeout=0.2)
    began = time.monotonic()
    missing = gather(make_event(), "lint.exit_code", settings=settings(command))["missing"]
    assert missing["lint.exit_code"][0] == "sh did not finish within 0.2 s"
    assert time.monotonic() - began < 30


def test_a_program_that_only_the_project_has_is_named_and_not_started(repo: Any, make_event: Any, gather: Any) -> None:
    command = {"run": ["checker-of-this-project"], "parse": "exit", "timeout": 5.0}
    for place in (".venv/bin", "web/node_modules/.bin"):
        program = repo.root / place / command["run"][0]
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\ntouch ran\n")
        given = settings({**command, "directory": "web" if "web" in place else "."})
        told = [gather(make_event(), "lint.count", settings=given)["missing"]["lint.count"]]
        program.chmod(0o755)
        told += [gather(make_event(), "lint.count", settings=given)["missing"]["lint.count"]]
        said = "cannot start checker-of-this-project: no such program on PATH"
        assert told == [(said, ""), (f"{said}, but in {place}", f'export PATH={repo.root}/{place}:"$PATH"')]
        program.unlink()
    assert not (repo.root / "ran").exists()
    missing = gather(make_event(), "lint.count", settings=settings(spec("no-such-program", parse="json")))["missing"]
    assert missing["lint.count"][0].endswith("exit code 127 (a shell's, of a program that is not on PATH)")


def test_the_time_of_the_whole_decision_bounds_it(make_event: Any, gather: Any) -> None:
    event = make_event()
    event.deadline = clock.monotonic() - 1
    missing = gather(event, "lint.count", settings=settings(spec("exit 0")))["missing"]
    assert "used up" in missing["lint.count"][0]


def test_it_runs_where_the_policy_says_without_gits_variables(repo: Any, make_event: Any, gather: Any) -> None:
    script = repo.write("sub dir/check", "#!/bin/sh\npwd\nenv | grep -c GIT_INDEX_FILE\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    command = {"run": ["./check"], "parse": "lines", "timeout": 9.0, "directory": "sub dir"}
    command["extract"] = {"all": {"value": "output", "type": "list[str]"}}
    event = make_event(env={"GIT_INDEX_FILE": "x"})
    facts = gather(event, "lint.all", settings=settings(command))
    assert facts["lint.all"] == [os.path.realpath(repo.root / "sub dir"), "0"]


def test_it_is_not_asked_when_nothing_it_looks_at_changed(repo: Any, make_event: Any, gather: Any) -> None:
    extracts = {"s": {"value": "output[0]", "type": "str"}}
    command = spec("touch ran; echo x", when_changed=["**/*.py"], extract=extracts)
    repo.write("a.txt", "x")
    repo.add()
    paths = ["lint.exit_code", "lint.count", "lint.findings", "lint.s"]
    facts = gather(make_event(), *paths, settings=settings(command, trusted=False))
    assert facts == {"lint.exit_code": 0, "lint.count": 0, "lint.findings": [], "lint.s": ""}
    repo.write("b.py", "x")
    repo.add()
    assert gather(make_event(), "lint.count", settings=settings(command))["lint.count"] == 1
    (repo.root / "ran").unlink()
    assert gather(make_event("session-start", view=None), "lint.count", settings=settings(command))["lint.count"] == 1


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo more >>a.py; echo found", "sh changed a.py, and a command fact may only read"),
        ("rm a.py; echo >b.py", "sh changed a.py and 1 more, and a command fact may only read"),
        ("git rm -q --cached a.py", "sh changed a.py, and a command fact may only read"),
    ],
)
def test_a_command_that_changes_a_tracked_file_is_told_and_its_facts_are_missing(
    repo: Any, make_event: Any, gather: Any, script: str, said: str
) -> None:
    repo.commit("first", **{"a.py": "1\n", "b.py": "2\n"})
    facts = gather(make_event(), "lint.count", settings=settings(spec(script)))
    assert facts == {"missing": {"lint.count": (said, "git diff")}}


def test_a_command_may_write_what_git_does_not_track(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"a.py": "1\n"})
    repo.write("a.py", "edited\n")
    script = "echo cache >cache; touch a.py; echo found"
    assert gather(make_event(), "lint.count", settings=settings(spec(script))) == {"lint.count": 1}
