"""The light half of the decision: the quick return, and what it records (design §2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ahp.facts.registry import Absent
from ahp.gate.answer import Answer
from ahp.gate.decide import decide
from ahp.gate.hearing import hear
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.policy import cache
from ahp.policy.judges import judges_of
from ahp.policy.problems import PolicyError
from ahp.protocol.event import Actor
from tests.gate.conftest import Desk, signals

AT = "at: [pre-commit, pre-tool-use, pre-issue-submit]"
SIZE = f"rules:\n  size: {{{AT}, block: files.changed_count > 1, message: too many}}\n"
WARN = SIZE.replace("block", "prompt")


def changed(count: int) -> dict[str, Any]:
    return {"changed_count": count}


def test_a_hit_denies_and_a_clean_evaluation_allows(desk: Desk) -> None:
    desk.policy(SIZE)
    assert desk.judge(files=changed(2)).decision == "deny"
    assert desk.judge(files=changed(1)).decision == "allow"


def test_a_trigger_without_rules_is_allowed_unrecorded(desk: Desk) -> None:
    desk.policy(SIZE)
    verdict = desk.judge("pre-push", files=changed(9))
    assert (verdict.decision, verdict.signals) == ("allow", [])
    assert desk.log() == []


def test_an_invalid_policy_is_refused_whole(desk: Desk) -> None:
    desk.policy(SIZE + "  other: {at: pre-commit}\n")
    with pytest.raises(PolicyError):
        desk.judge(files=changed(2))


def test_a_clean_evaluation_leaves_the_scalars_it_read(desk: Desk) -> None:
    desk.policy(
        "env_allow: [TOKEN]\nrules:\n  a: {at: pre-commit, block: files.changed_count > 1 and env.TOKEN == 'x'}\n"
        "  b: {at: pre-commit, block: 'x' in files.changed or branch.name == 'm'}\n".replace(
            "'x' in", "len(files.changed) > 9 or 'x' in"
        )
    )
    desk.judge(files={"changed_count": 1, "changed": ["a"]}, env={"TOKEN": "s3cret"}, branch={"name": "n"})
    (record,) = desk.log("verdict")
    assert record["facts"] == {"files.changed_count": 1, "branch.name": "n"}
    assert "s3cret" not in json.dumps(desk.log())


@pytest.mark.parametrize("mode", ["dry", "replay"])
def test_only_real_events_are_recorded(desk: Desk, mode: str) -> None:
    desk.policy(SIZE)
    assert desk.judge(mode=mode, files=changed(1)).decision == "allow"
    assert desk.judge(mode=mode, files=changed(2)).decision == "deny"
    assert desk.log() == []


def test_a_clean_tool_call_is_only_counted(desk: Desk) -> None:
    desk.policy(SIZE)
    desk.judge("pre-tool-use", files=changed(1), session="s")
    assert [record["kind"] for record in desk.log()] in ([], ["genesis"])
    assert (desk.journal / "counts").stat().st_size > 0


LINES = "  lines: {at: AT, each: l in diff.added, block: l.text == 'x', on_missing: skip}\n"


@pytest.mark.parametrize("trigger", ["pre-tool-use", "post-tool-use"])
def test_a_call_of_which_only_rules_that_skip_are_undecided_is_only_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, trigger: str
) -> None:
    """What a shell call writes is often not known; the quick return says the same as the long way would."""
    desk.policy("rules:\n" + LINES.replace("AT", trigger).replace("block", "aid" if "post" in trigger else "block"))
    event = desk.event(trigger, diff={})
    answer = Answer(event, hear(judges_of(event), event), Journal(event.journal, event.genesis))
    assert answer.weigh() is None
    slow = answer.verdict()
    monkeypatch.setattr(Answer, "__init__", None)
    quick = decide(event)
    assert (quick.decision, quick.dropped) == (slow.decision, slow.dropped) == ("allow", quick.dropped)
    assert quick.dropped[0]["rule"] == "lines" and "diff.added is missing" in str(quick.dropped[0]["why"])
    assert (desk.journal / "counts").stat().st_size > 0


@pytest.mark.parametrize(
    ("more", "facts"),
    [
        ("  other: {at: pre-tool-use, prompt: tool.name == 'shell'}\n", {}),
        ("  other: {at: pre-tool-use, prompt: files.changed_count > 1, on_missing: skip}\n", {}),
        ("mode: observe\n", {}),
        ("", {"diff": Absent("gone", unknowable=True)}),
        ("", {"diff": Absent("gone", elsewhere=True)}),
    ],
)
def test_a_call_of_which_more_is_to_say_takes_the_long_way(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, more: str, facts: dict[str, Any]
) -> None:
    desk.policy("rules:\n" + LINES.replace("AT", "pre-tool-use") + more)
    asked: list[object] = []
    weigh = Answer.weigh
    monkeypatch.setattr(Answer, "weigh", lambda answer: asked.append(answer) or weigh(answer))
    desk.judge("pre-tool-use", **{"diff": {}, "files": {}, "tool": {"name": "shell"}, **facts})
    assert asked


def test_a_clean_evaluation_that_cannot_be_recorded_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.policy(SIZE)

    def full(*_: object, **__: object) -> None:
        raise JournalUnwritable("no room")

    desk.judge(files=changed(1))  # the log describes the policy now
    monkeypatch.setattr(Journal, "append", full)
    verdict = desk.judge(files=changed(1))
    assert (verdict.decision, verdict.notes) == ("allow", ["no room"])


def test_an_open_episode_takes_the_long_way_and_is_closed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.policy(WARN)
    desk.judge("pre-issue-submit", files=changed(2), issue="FEAT-0001")
    assert desk.log("episode-end") == []
    verdict = desk.judge("pre-issue-submit", files=changed(1), issue="FEAT-0001")
    assert verdict.decision == "allow"
    (ended,) = desk.log("episode-end")
    assert (ended["rule"], ended["reason"]) == ("size", "mended")
    assert desk.log("verdict")[-1]["decision"] == "allow"

    def never(*_: object) -> None:
        raise AssertionError("the quick return is enough")

    monkeypatch.setattr(Answer, "weigh", never)
    assert desk.judge("pre-issue-submit", files=changed(1), issue="FEAT-0001").decision == "allow"


def test_answering_no_hits_is_the_quick_return(desk: Desk) -> None:
    desk.policy(SIZE)
    quick = desk.judge(files=changed(1))
    event = desk.event(files=changed(1))
    answer = Answer(event, hear(judges_of(event), event), Journal(event.journal))
    assert answer.weigh() is None
    long = answer.verdict()
    assert long.as_dict() == quick.as_dict()
    first, second = desk.log("verdict")
    for record in (first, second):
        for name in ("timestamp", "attempt", "n", "prev", "ms"):
            del record[name]
    assert first == second


def test_a_given_program_is_used_as_it_is(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.policy(SIZE)
    judges = judges_of(desk.event())
    desk.policy("rules: {}\n")
    assert decide(desk.event(files=changed(2)), judges).decision == "deny"
    monkeypatch.setattr(cache, "find", lambda *_: None)
    assert desk.judge(files=changed(2)).decision == "allow"


def test_the_second_decision_reads_the_cache(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from ahp.policy import compile as compiling

    desk.policy(SIZE)
    desk.judge(files=changed(1))
    monkeypatch.setattr(compiling, "build", lambda *_: pytest.fail("compiled again"))
    assert signals(desk.judge(files=changed(2))) == [("size", "block")]


def test_people_and_agents_have_episodes_of_their_own(desk: Desk) -> None:
    desk.policy(WARN)
    desk.judge("pre-issue-submit", files=changed(2), actor=Actor("agent", "claude"), issue="FEAT-0001")
    desk.judge("pre-issue-submit", files=changed(1), issue="FEAT-0001")
    assert desk.log("episode-end") == []
    desk.judge("pre-issue-submit", files=changed(1), actor=Actor("agent", "claude"), issue="FEAT-0001")
    assert len(desk.log("episode-end")) == 1
