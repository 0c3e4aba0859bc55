"""`ahp stats`: its figures are those of a slow and plain reading of the same records (issue 16)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.insight import stats
from ahp.insight.stats import BY, Figures
from ahp.journal.append import Journal
from ahp.journal.respond import respond
from ahp.protocol.event import Actor
from ahp.system import clock
from tests.examples import examples
from tests.hosts.git import gated as making

from .random_log import START, records_of, steps, write
from .reference import Reference

DAY = 86400.0


@examples(100, *HealthCheck)
@given(
    steps,
    st.sampled_from(BY),
    st.sampled_from([None, None, START + 1, START + 8 * DAY, START + 20 * DAY]),
    st.sampled_from([None, None, "size", "shell"]),
    st.sampled_from([None, 1]),
    st.sampled_from([0.0, 5 * DAY, 90 * DAY]),
)
def test_figures_are_those_of_a_plain_reading(
    told: list[dict[str, Any]], by: str, since: float | None, rule: str | None, format: int | None, later: float
) -> None:
    records = records_of(told)
    now = max(clock.parse_iso(r["timestamp"]) for r in records) + later
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "ahp", records, told, format)
        found = stats.collect(folder + "/ahp", by, rule=rule, since=since, now=now)
    reference = Reference(read_back(records), now, by, since or 0.0, rule or "")
    assert (found.evaluations, found.denied) == reference.head()
    expected = reference.figures()
    assert {one.name: shown(one) for one in found.groups if shown(one)} == {k: v for k, v in expected.items() if v}


def read_back(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As JSON gives them, so that nothing is one object twice."""
    read: list[dict[str, Any]] = [json.loads(json.dumps(r)) for r in records]
    return read


def shown(one: Figures) -> dict[str, Any]:
    """The figures that are not empty, as the reference names them."""
    numbers = ("asked", "signals", "attempts", "shadow", "waived", "undecided", "climbed", "overridden", "unanswered")
    more = ("episodes", "at_once", "slow", "reopened", "excused", "bypasses")
    told: dict[str, Any] = {name: getattr(one, name) for name in numbers + more if getattr(one, name)}
    told |= {name: getattr(one, name) for name in ("levels", "states", "excuses") if getattr(one, name)}
    spreads = {"seconds": one.seconds, "tries": one.tries}
    told |= {name: (s.count, s.median, s.p90) for name, s in spreads.items() if s}
    told |= {"answers": {k: [a.given, a.derived] for k, a in one.answers.items()}} if one.answers else {}
    return told | ({"comments": [comment.text for comment in one.comments]} if one.comments else {})


def test_edited_values_of_any_type_stop_nobody(tmp_path: Path) -> None:
    about = {
        "hook": "pre-commit",
        "host": "git",
        "subject": "main",
        "actor": "agent:claude",
        "attempt": "a",
        "head": "h",
    }
    about |= {"timestamp": clock.iso(START), "change": "c", "policy": "p", "working": "q", "environment": "ci"}
    signal = {**about, "kind": "signal", "id": "1", "rule": "size", "intensity": "prompt", "declared": "prompt"}
    signal |= {"evidence": "e", "paths": ["a"], "findings": [{"file": "a"}], "waived": "w", "forget_after": 60}
    more = [
        {**about, "kind": "verdict", "ms": 1, "skipped": [{"rule": "size"}], "decision": "deny"},
        {**about, "kind": "response", "id": "1", "action": "dismiss", "by": "human:ann"},
        {**about, "kind": "policy", "digest": "p", "rules": [["pre-commit", "size", {"default": "block"}, ""]]},
        {**about, "kind": "count", "calls": [{"hook": "pre-tool-use", "calls": 2, "session": "s", "policy": "p"}]},
        {**about, "kind": "feedback", "id": "1", "rule": "size", "by": "human:ann", "feedback": "no"},
    ]
    odd = [None, True, -1, 1e300, "", "\ud800", [], [None, {}, [1, 2, 3]], {"a": {}}]
    records = [{**signal, "id": f"{key} {value}", key: value} for key in signal if key != "kind" for value in odd]
    records += [{**one, key: value} for one in more for key in one if key != "kind" for value in odd]
    write(tmp_path / "ahp", records, [])
    for by in BY:
        assert stats.collect(str(tmp_path / "ahp"), by).groups


@pytest.mark.slow
def test_a_push_that_is_refused_for_its_commits_is_an_episode_until_one_gets_past(
    tmp_path: Path, person: list[str]
) -> None:
    gated = making.make(tmp_path / "repo")
    remote = tmp_path / "remote.git"
    gated.git("init", "-q", "--bare", str(remote))
    gated.git("remote", "add", "origin", str(remote))
    each = "each: l in diff.added, block: \"l.path == 'a' and 'SECRET' in l.text\""
    gated.commit_policy(f"version: 1\nrules:\n  secret: {{at: pre-commit, {each}}}\n")
    gated.git("push", "-q", "origin", "main")

    def pushed(branch: str, a: str, *how: str) -> int:
        gated.git("checkout", "-q", "-B", branch)
        gated.write("a", a)
        gated.git("add", "a")
        gated.git("commit", "-q", "--no-verify", "-m", "more", *how)
        return gated.say("push", "origin", branch).code

    def found() -> Figures:
        (one,) = [one for one in stats.collect(str(gated.folder)).groups if one.name == "secret"]
        return one

    assert pushed("topic", "SECRET\n") == 1 == gated.say("push", "origin", "topic").code
    one = found()
    assert (one.attempts, one.levels, one.states) == (2, {"block": 2}, {"open": 1}), one
    gated.git("commit", "-q", "--amend", "--no-verify", "-m", "again")  # round the hooks, and not past the push
    assert len(gated.log("bypass")) > 1
    assert pushed("other", "plain\n", "--amend") == 0
    assert found().states == {"open": 1}, "another branch got past"
    assert pushed("topic", "plain\n", "--amend") == 0
    one = found()
    assert (one.states, one.unanswered) == ({"fixed": 1}, 0) and one.tries is not None and one.tries.median == 2
    assert pushed("topic", "SECRET\nonce more\n") == 1
    (signal,) = gated.log("signal")[-1:]
    respond(Journal(str(gated.folder)), signal["id"], "proceed_with_risk", Actor("human", "ann"), reason="a word")
    assert gated.say("push", "origin", "topic").code == 0
    one = found()
    assert one.states == {"fixed": 1, "overridden": 1} and one.reopened == 1
    assert one.excuses == {"risk taken": 1}
