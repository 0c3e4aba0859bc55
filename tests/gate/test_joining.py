"""Two policies judge one event: each by itself, then joined by rule (authority §2.1)."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from ahp.facts import gather as gathering
from ahp.gate import match
from ahp.gate.decide import decide
from ahp.policy import compile as compiling
from ahp.policy import layers
from ahp.policy.judge import COMMITTED, WORKING, Judge
from ahp.policy.sources import TextSource
from ahp.protocol.event import Event
from ahp.protocol.verdict import Verdict
from tests.gate.conftest import Desk, signals

SIZE = 'rules: {size: {at: pre-commit, %s: "files.changed_count > %s"}}\n'
LADDER = "escalation: {ladder: [prompt, block], after: %d, forget_after: %dd}\n"


def judges(event: Event, committed: str, working: str) -> list[Judge]:
    made = []
    for text, origin in ((committed, COMMITTED), (working, WORKING)):
        policy = layers.load(TextSource("version: 1\n" + dedent(text)))
        made.append(Judge(compiling.programs(policy)[event.trigger], origin, adds=origin == WORKING))
    return made


def ask(desk: Desk, committed: str, working: str, trigger: str = "pre-commit", **slots: Any) -> Verdict:
    event = desk.event(trigger, **slots)
    return decide(event, judges(event, committed, working))


def changed(count: int) -> dict[str, Any]:
    return {"changed_count": count}


@pytest.mark.parametrize(
    ("committed", "working", "said", "origin"),
    [
        (SIZE % ("block", 1), SIZE % ("prompt", 1), "block", "committed"),
        (SIZE % ("block", 1), SIZE % ("block", 9), "block", "committed"),
        (SIZE % ("block", 1), "rules: {}", "block", "committed"),
        (SIZE % ("prompt", 1), SIZE % ("block", 1), "block", "working"),
        (SIZE % ("prompt", 9), SIZE % ("prompt", 1), "prompt", "working"),
        ("rules: {}", SIZE % ("block", 1), "block", "working"),
        (SIZE % ("prompt", 1), SIZE % ("prompt", 0), "prompt", "committed"),
        (SIZE % ("block", 1), "mode: observe\n" + SIZE % ("block", 1), "block", "committed"),
        ("mode: observe\n" + SIZE % ("block", 1), SIZE % ("block", 1), "block", "working"),
    ],
)
def test_of_each_rule_the_stronger_signal_counts_and_on_a_tie_the_committed_one(
    desk: Desk, committed: str, working: str, said: str, origin: str
) -> None:
    verdict = ask(desk, committed, working, files=changed(2))
    (signal,) = verdict.signals
    assert (signal.intensity, signal.context["origin"]) == (said, origin)
    (record,) = desk.log("signal")
    (judged,) = desk.log("verdict")
    assert (judged["policy"], judged["working"]) == (verdict.policy, verdict.working)
    assert record["origin"] == origin
    assert record["policy"] == (verdict.policy if origin == "committed" else verdict.working)


def test_a_control_of_the_work_tree_speaks_as_a_prompt_and_changes_nothing(desk: Desk) -> None:
    rule = """\
    rules:
      short:
        at: pre-tool-use
        control: tool.input['timeout'] > 60
        action: {type: clamp, target: tool.input.timeout, max: 60}
    """
    call = {"name": "shell", "input": {"command": "ls", "timeout": 600}}
    verdict = ask(desk, "rules: {}", rule, "pre-tool-use", tool=call)
    assert signals(verdict) == [("short", "prompt")]
    assert (verdict.modified, verdict.modifications) == (None, [])
    verdict = ask(desk, rule, "rules: {}", "pre-tool-use", tool=call)
    assert signals(verdict) == [("short", "control")]


def test_each_policy_has_its_own_limits_and_environment(desk: Desk) -> None:
    own = (
        "limits: {most: %d}\nenvironment: {%s: branch.name == 'main'}\n"
        "rules: {size: {at: pre-commit, block: files.changed_count > limits.most}}\n"
    )
    verdict = ask(desk, own % (9, "calm"), own % (1, "strict"), files=changed(2), branch={"name": "main"})
    (signal,) = verdict.signals
    assert (signal.context["environment"], signal.context["origin"]) == ("strict", "working")
    assert desk.log("verdict")[0]["environment"] == "calm"


def test_each_policy_has_its_own_ladder_and_the_episode_lasts_as_long_as_the_longer(desk: Desk) -> None:
    rule = SIZE % ("prompt", 1)
    for _ in range(2):
        assert signals(ask(desk, LADDER % (5, 3) + rule, LADDER % (2, 60) + rule, files=changed(2))) == [
            ("size", "prompt")
        ]
    verdict = ask(desk, LADDER % (5, 3) + rule, LADDER % (2, 60) + rule, files=changed(2))
    assert [(s.intensity, s.context["origin"]) for s in verdict.signals] == [("block", "working")]
    assert {record["forget_after"] for record in desk.log("signal")} == {60 * 86400.0}


def test_an_episode_ends_when_every_policy_that_has_the_rule_is_clean(desk: Desk) -> None:
    issue = SIZE.replace("pre-commit", "pre-issue-submit")
    strict, loose = issue % ("prompt", 1), issue % ("prompt", 5)

    def submit(committed: str, working: str, count: int) -> None:
        ask(desk, committed, working, "pre-issue-submit", files=changed(count), issue="F-1")

    submit(strict, loose, 9)
    submit(strict, loose, 3)
    submit(loose, strict, 3)
    assert desk.log("episode-end") == []
    submit(loose, strict, 1)
    assert [record["rule"] for record in desk.log("episode-end")] == ["size"]


def test_an_episode_of_a_rule_that_only_the_work_tree_had_and_lost_stays_open(desk: Desk) -> None:
    issue = SIZE.replace("pre-commit", "pre-issue-submit")
    ask(desk, "rules: {}", issue % ("prompt", 1), "pre-issue-submit", files=changed(2), issue="F-1")
    ask(desk, "rules: {}", "rules: {}", "pre-issue-submit", files=changed(0), issue="F-1")
    other = issue.replace("size", "other") % ("prompt", 1)
    ask(desk, "rules: {}", other, "pre-issue-submit", files=changed(0), issue="F-1")
    assert desk.log("episode-end") == []


def test_equal_facts_are_gathered_once_and_two_definitions_of_a_name_are_two(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = gathering.gather

    def spy(reads: Any, event: Any, settings: Any) -> Any:
        asked.extend(sorted(f"{name}.{field}" for name, fields in reads.items() for field in fields))
        return real(reads, event, settings)

    monkeypatch.setattr(match, "gather", spy)
    rules = 'rules:\n  a: {at: pre-commit, block: "files.changed_count > 5 and lint.count > 0"}\n'
    fact = "facts: {lint: {run: [%s], parse: lines}}\n"
    more = rules + '  b: {at: pre-commit, block: "files.changed_count > 7 and files.insertions > 1"}\n'
    ask(desk, fact % "lint" + rules, fact % "lint" + more, files={"changed_count": 1, "insertions": 0})
    assert asked == ["files.changed_count", "files.insertions"]
    asked.clear()
    given = {"changed_count": 6, "insertions": 0}
    ask(desk, fact % "lint" + rules, fact % "lint" + more, files=given, mode="dry")
    assert asked.count("lint.count") == 1
    asked.clear()
    ask(desk, fact % "lint" + rules, fact % "other" + more, files=given, mode="dry")
    assert asked.count("lint.count") == 2


def test_a_verdict_without_signals_tells_both_policies_in_the_log(desk: Desk) -> None:
    verdict = ask(desk, SIZE % ("block", 1), SIZE % ("block", 2), files=changed(1))
    assert verdict.decision == "allow" and verdict.working not in ("", verdict.policy)
    (record,) = desk.log("verdict")
    assert (record["policy"], record["working"]) == (verdict.policy, verdict.working)
    assert verdict.as_dict()["working"] == verdict.working
