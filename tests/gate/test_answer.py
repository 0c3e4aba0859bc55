"""Hits become signals, signals a verdict, and all of it a record (design §4, §7, §8)."""

from __future__ import annotations

import datetime
import os
import subprocess
from typing import Any

import pytest

from ahp.conditions.evaluate import Bound
from ahp.facts.registry import Absent
from ahp.gate import match
from ahp.gate.decide import decide
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.protocol import records
from ahp.protocol.event import Actor
from ahp.protocol.signals import reason_of
from ahp.protocol.verdict import Verdict
from ahp.system import git, jsontext
from ahp.system.view import IndexView
from tests.gate.conftest import Desk, signals

AGENT = Actor("agent", "claude")


def long(*rules: str, trigger: str = "pre-issue-submit", head: str = "") -> str:
    """A policy of one oracle `o` with these rules."""
    text = "".join(f"          - {{{rule}}}\n" for rule in rules)
    return f"{head}hooks:\n  {trigger}:\n    oracles:\n      - name: o\n        rules:\n{text}"


def submit(desk: Desk, **given: Any) -> Verdict:
    return desk.judge("pre-issue-submit", **given)


def dropped(verdict: Verdict) -> dict[str, str]:
    return {one["rule"]: one["why"] for one in verdict.dropped}


def files(count: int, **more: Any) -> dict[str, Any]:
    return {"changed_count": count, "changed": [f"f{n:02}" for n in range(count)], **more}


# The verdict is the strongest signal left.


def test_all_rules_are_evaluated_and_the_strongest_decides(desk: Desk) -> None:
    desk.policy(
        "rules:\n  a: {at: pre-commit, prompt: files.changed_count > 0}\n"
        "  b: {at: pre-commit, block: files.changed_count > 1}\n"
    )
    assert desk.judge(files=files(1)).decision == "warn"
    verdict = desk.judge(files=files(2))
    assert (verdict.decision, signals(verdict)) == ("deny", [("a", "prompt"), ("b", "block")])
    assert {record["decision"] for record in desk.log("signal")[-2:]} == {"deny"}


def test_aids_suggest(desk: Desk) -> None:
    desk.policy("rules:\n  tip: {at: post-commit, aid: files.changed_count > 0, message: tip, fix: [read it]}\n")
    verdict = desk.judge("post-commit", files=files(1))
    (signal,) = verdict.signals
    assert verdict.decision == "suggest"
    assert signal.payload["context"] == "tip"


def test_lower_priority_speaks_first(desk: Desk) -> None:
    desk.policy(
        "hooks:\n  pre-commit:\n    oracles:\n"
        "      - {name: late, priority: 5, rules: [{id: r, condition: files.changed_count > 0, intensity: block}]}\n"
        "      - {name: soon, priority: 1, rules: [{id: r, condition: files.changed_count > 0, intensity: prompt}]}\n"
    )
    assert [rule for rule, _ in signals(desk.judge(files=files(1)))] == ["soon/r", "late/r"]


def test_the_intensity_depends_on_the_environment(desk: Desk) -> None:
    desk.policy(
        long(
            "id: r, condition: files.changed_count > 0, intensity: {production: block, ci: control, default: prompt},"
            " action: {type: split_suggestion, max_batch: 5}",
            head="env_allow: [CI]\nenvironment: {production: branch.name == 'main', ci: env.CI == 'true'}\n",
        )
    )
    on_main = submit(desk, files=files(1), branch={"name": "main"}, env={})
    assert signals(on_main) == [("o/r", "block")]
    assert on_main.signals[0].context["environment"] == "production"
    assert signals(submit(desk, files=files(1), branch={"name": "x"}, env={})) == [("o/r", "prompt")]
    assert signals(submit(desk, files=files(1), branch={"name": "x"}, env={"CI": "true"})) == [("o/r", "control")]
    # Nobody can tell where this happens: the strictest holds.
    unknown = submit(desk, files=files(1), branch={}, env={})
    assert signals(unknown) == [("o/r", "block")]


# Refinement.


CHECKLIST = (
    "id: open, condition: checklist.incomplete_count > 0, intensity: block",
    "id: most, condition: checklist.incomplete_count > 0 and checklist.completion_rate > 0.8, intensity: prompt",
)


def test_a_rule_that_says_more_speaks_for_both(desk: Desk) -> None:
    desk.policy(long(*CHECKLIST))
    verdict = submit(desk, checklist={"incomplete_count": 1, "completion_rate": 0.9})
    assert signals(verdict) == [("o/most", "prompt")]
    assert dropped(verdict)["o/open"].startswith("refined by o/most")
    assert [record["rule"] for record in desk.log("signal")] == ["o/most"]
    assert signals(submit(desk, checklist={"incomplete_count": 2, "completion_rate": 0.5})) == [("o/open", "block")]


def test_a_locked_rule_is_never_softened(desk: Desk) -> None:
    desk.policy(long(*CHECKLIST))
    event = desk.event("pre-issue-submit", checklist={"incomplete_count": 1, "completion_rate": 0.9})
    judges = desk.judges(event)
    judges[0].answers(event).rules["o/open"].locked = True  # a policy that says so is refused when it is loaded
    assert signals(decide(event, judges)) == [("o/open", "block"), ("o/most", "prompt")]


@pytest.mark.parametrize("how", ["shadow: true", "on_missing: prompt"])
def test_only_enforced_and_decided_signals_refine(desk: Desk, how: str) -> None:
    desk.policy(long(CHECKLIST[0], f"{CHECKLIST[1]}, {how}"))
    facts: dict[str, Any] = {"incomplete_count": 1}
    if how.startswith("shadow"):
        facts["completion_rate"] = 0.9
    verdict = submit(desk, checklist=facts)
    assert ("o/open", "block") in signals(verdict)


# Missing facts are a third value.


@pytest.mark.parametrize(
    ("more", "decision"),
    [("", "warn"), (", on_missing: block", "deny"), (", on_missing: skip", "allow"), (", locked: true", "deny")],
)
def test_an_undecidable_rule_has_the_intensity_that_it_names(desk: Desk, more: str, decision: str) -> None:
    desk.policy(long(f"id: r, condition: tests.failed_count > 0, intensity: block{more}"))
    verdict = submit(desk, tests={})
    assert verdict.decision == decision
    if decision == "allow":
        assert dropped(verdict)["o/r"].startswith("undecided: cannot tell: tests.failed_count is missing")
        assert [record["kind"] for record in desk.log()][-1] == "verdict"
    else:
        (signal,) = verdict.signals
        assert reason_of(signal.payload).startswith("cannot tell: tests.failed_count is missing")
        assert desk.log("signal")[0]["undecidable"] is True


@pytest.mark.parametrize("more", ["", ", on_missing: skip", ", on_missing: prompt", ", on_missing: block"])
@pytest.mark.parametrize(("level", "decision"), [("block", "deny"), ("prompt", "warn"), ("allow", "allow")])
def test_what_the_change_itself_makes_unknowable_keeps_the_rule_s_own_level(
    desk: Desk, more: str, level: str, decision: str
) -> None:
    desk.policy(long(f"id: r, condition: files.changed_count > 3, intensity: {level}{more}"))
    unknown = Absent("this clone was cut off", "git fetch --unshallow", unknowable=True)
    verdict = submit(desk, files=unknown)
    assert verdict.decision == decision
    if verdict.signals:
        said = "cannot tell: files.changed_count is missing (this clone was cut off); to get it: git fetch --unshallow"
        assert reason_of(verdict.signals[0].payload).startswith(said)
        assert desk.log("signal")[0]["undecidable"] is True
    elsewhere = desk.judge("post-issue-submit", files=unknown)
    assert elsewhere.decision == "allow"


def lines(*texts: str) -> list[dict[str, object]]:
    return [{"path": "a", "line": number, "text": text} for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize("known", [lines(), lines("fine"), lines("fine", "secret")])
def test_of_lines_that_are_too_many_to_read_those_that_are_known_are_asked(
    desk: Desk, known: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ahp.facts import diff

    absent = Absent("the diff is longer than 64 MiB; dump.sql was not read", unknowable=True, known=known)
    monkeypatch.setattr(diff, "gather", lambda event, fields, settings: {"added": absent})
    rule = "each: l in diff.added, condition: l.text == 'secret', intensity: block, finding: {file: l.path}"
    many = "each: l in diff.added, condition: l.text == 'secret' and len(diff.added) > 1, intensity: prompt"
    desk.policy(long(f"id: r, {rule}", f"id: many, {many}"))
    verdict = submit(desk)
    assert signals(verdict) == [("o/r", "block"), ("o/many", "prompt")]
    block, prompt = verdict.signals
    assert "dump.sql was not read" in reason_of(prompt.payload)
    if len(known) == 2:
        assert block.context["findings_total"] == 1 and "undecidable" not in block.context
    else:
        assert "dump.sql was not read" in reason_of(block.payload) and block.context["undecidable"]


def test_on_post_triggers_the_undecidable_is_skipped(desk: Desk) -> None:
    desk.policy("rules:\n  tip: {at: post-issue-submit, aid: tests.failed_count > 0}\n")
    verdict = desk.judge("post-issue-submit", tests={})
    assert (verdict.decision, verdict.signals) == ("allow", [])


def test_undecidable_signals_never_climb(desk: Desk) -> None:
    head = "escalation: {ladder: [prompt, block], after: 1}\n"
    desk.policy(long("id: r, condition: tests.failed_count > 0, intensity: prompt", head=head))
    for _ in range(4):
        assert submit(desk, tests={}, actor=AGENT).decision == "warn"


@pytest.mark.parametrize("more", ["", ", on_missing: skip"])
def test_evidence_that_was_there_and_is_gone_keeps_the_rule_s_own_intensity(desk: Desk, more: str) -> None:
    desk.policy(long(f"id: r, condition: tests.failed_count > 0, intensity: block{more}"))
    assert submit(desk, tests={"failed_count": 0}).decision == "allow"
    assert submit(desk, tests={}, subject="other").decision == ("allow" if more else "warn")
    assert submit(desk, tests={}).decision == "deny"
    assert submit(desk, tests={"failed_count": 0}).decision == "allow"


def test_evidence_that_is_gone_softens_nothing(desk: Desk) -> None:
    desk.policy(long("id: r, condition: tests.failed_count > 0, intensity: prompt, on_missing: block"))
    assert submit(desk, tests={"failed_count": 0}).decision == "allow"
    assert submit(desk, tests={}).decision == "deny"


@pytest.mark.parametrize(
    ("condition", "had"),
    [
        ("has(tests.failed_count) and tests.failed_count > 0", {"failed_count": 2}),
        ("default(tests.failed_count, 0) > 0", {"failed_count": 2}),
        ("len(default(tests.failed, [])) > 0", {"failed": ["a"]}),
    ],
)
def test_a_rule_that_forgives_what_is_gone_is_not_thereby_mended(desk: Desk, condition: str, had: Any) -> None:
    desk.policy(long(f"id: r, condition: '{condition}', intensity: block"))
    assert submit(desk, tests=had, issue="F-1").decision == "deny"
    assert submit(desk, tests={}, issue="F-1").decision == "allow"
    assert desk.log("episode-end") == []
    submit(desk, tests={"failed_count": 0, "failed": []}, issue="F-1")
    assert [record["reason"] for record in desk.log("episode-end")] == ["mended"]


def test_what_was_never_known_keeps_nothing_open(desk: Desk) -> None:
    desk.policy(
        long("id: r, condition: 'files.changed_count > 2 and not default(tests.is_stale, false)', intensity: block")
    )
    assert submit(desk, files=files(3), tests={}, issue="F-1").decision == "deny"
    assert submit(desk, files=files(1), tests={}, issue="F-1").decision == "allow"
    assert len(desk.log("episode-end")) == 1


def test_a_bound_that_is_exceeded_refuses(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.policy(long("id: r, condition: files.changed_count > 0, intensity: prompt"))

    def beyond(*_: object) -> object:
        def raising(slots: object) -> bool:
            raise Bound("too much work")

        return raising

    monkeypatch.setattr(match, "build", beyond)
    found = submit(desk, files=files(1))
    (signal,) = found.signals
    assert (found.decision, signal.intensity) == ("deny", "block")
    assert "goes beyond a limit, so this cannot be judged: too much work" in str(signal.payload["reason"])


# Shadow, observe, findings.


def test_a_shadow_is_logged_and_never_enforced(desk: Desk) -> None:
    desk.policy(long("id: r, condition: files.changed_count > 0, intensity: block, shadow: true"))
    verdict = submit(desk, files=files(1))
    assert (verdict.decision, verdict.signals) == ("allow", [])
    assert dropped(verdict) == {"o/r": "shadow: would have been block"}
    (record,) = desk.log("signal")
    assert (record["shadow"], record["intensity"], record["decision"]) == (True, "block", "allow")


def test_in_observe_mode_every_rule_is_a_shadow(desk: Desk) -> None:
    desk.policy("mode: observe\nrules:\n  r: {at: pre-commit, block: files.changed_count > 0}\n")
    verdict = desk.judge(files=files(1))
    assert (verdict.decision, verdict.notes) == ("allow", [])
    assert desk.log("signal")[0]["shadow"] is True
    asked = desk.judge(files=files(1), mode="dry")
    assert asked.notes == ["mode: observe — signals are logged, none is enforced"]


def test_one_signal_carries_up_to_100_findings_and_the_total(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, each: p in files.changed, block: len(p) > 0, finding: {file: p}}\n")
    (signal,) = desk.judge(files=files(150)).signals
    found = signal.context["findings"]
    assert isinstance(found, list)
    assert (len(found), signal.context["findings_total"]) == (100, 150)
    assert found[0]["file"] == "f00"
    (record,) = desk.log("signal")
    assert (len(record["findings"]), record["findings_total"]) == (100, 150)


def test_redacted_values_are_neither_shown_nor_logged(desk: Desk) -> None:
    desk.policy(
        "rules:\n  r: {at: pre-commit, each: l in diff.added, block: l.text.startswith('key'), redact: true,"
        " finding: {file: l.path, line: l.line}}\n"
    )
    verdict = desk.judge(diff={"added": [{"path": "a", "line": 3, "text": "key=s3cret"}]})
    assert verdict.decision == "deny"
    assert "s3cret" not in jsontext.encode(verdict.as_dict())
    assert "s3cret" not in (desk.journal / "signals.jsonl").read_text()
    assert desk.log("signal")[0]["findings"][0]["line"] == 3


def test_a_silent_level_says_nothing(desk: Desk) -> None:
    desk.policy(
        long(
            "id: r, condition: files.changed_count > 0, intensity: {production: block, default: allow}",
            head="environment: {production: branch.name == 'main'}\n",
        )
    )
    verdict = submit(desk, files=files(1), branch={"name": "x"})
    assert (verdict.decision, verdict.signals, desk.log("signal")) == ("allow", [], [])
    assert submit(desk, files={}, branch={"name": "x"}).decision == "allow"
    assert submit(desk, files=files(1), branch={"name": "main"}).decision == "deny"


# Control actions.


def control(action: str, condition: str, more: str = "", trigger: str = "commit-msg") -> str:
    return f'  m: {{at: {trigger}, control: "{condition}", message: style, action: {action}{more}}}\n'


def message(desk: Desk, draft: bytes) -> Verdict:
    """A commit-msg event in a real repository, whose settings tell what a comment is."""
    if not (desk.root / ".git").exists():
        subprocess.run(["git", "init", "-q", str(desk.root)], check=True)
    repo = git.discover(str(desk.root), dict(os.environ))
    return desk.judge("commit-msg", draft=draft, repo=repo, view=IndexView(repo))


SET = "{type: set, target: commit.message, value: 'fix: x'}"


def test_a_changed_event_is_judged_again(desk: Desk) -> None:
    desk.policy("rules:\n" + control(SET, "not commit.message.startswith('fix')"))
    verdict = message(desk, b"wip")
    assert (verdict.decision, signals(verdict)) == ("allow_with_modification", [("m", "control")])
    assert verdict.modified is not None
    assert verdict.modified.draft == b"fix: x"
    assert verdict.modifications == [
        {"target": "commit.message", "original": "wip", "updated": "fix: x", "reason": "style"}
    ]
    assert verdict.signals[0].payload["reversible"] is True


def test_actions_are_applied_in_order_each_on_the_former_s_result(desk: Desk) -> None:
    more = (
        "  n: {at: commit-msg, control: \"not ('end' in commit.message)\", message: end,"
        " action: {type: append, target: commit.message, value: end}}\n"
    )
    desk.policy("rules:\n" + control(SET, "not commit.message.startswith('fix')") + more)
    verdict = message(desk, b"wip")
    assert verdict.modified is not None
    assert verdict.modified.draft == b"fix: x\n\nend\n"
    assert [m["updated"] for m in verdict.modifications] == ["fix: x", "fix: x\n\nend\n"]


def test_a_change_that_breaks_another_rule_is_refused_unmade(desk: Desk) -> None:
    desk.policy(
        "rules:\n"
        + control(SET, "not commit.message.startswith('fix')")
        + "  n: {at: commit-msg, block: commit.message.startswith('fix'), message: never}\n"
    )
    verdict = message(desk, b"wip")
    assert (verdict.decision, signals(verdict), verdict.modified) == ("deny", [("n", "block")], None)
    assert dropped(verdict) == {"m": "the action is refused, so it is not changed"}


def test_after_three_rounds_it_is_refused(desk: Desk) -> None:
    desk.policy("rules:\n" + control("{type: append, target: commit.message, value: x}", "len(commit.message) > 0"))
    verdict = message(desk, b"wip")
    (signal,) = verdict.signals
    assert (verdict.decision, signal.intensity, verdict.modifications) == ("deny", "block", [])
    assert "style; it still changes something after 3 rounds" in str(signal.payload["reason"])


def test_an_action_that_changes_nothing_is_no_signal(desk: Desk) -> None:
    desk.policy("rules:\n" + control(SET, "len(commit.message) > 0"))
    verdict = message(desk, b"fix: x")
    assert (verdict.decision, verdict.signals) == ("allow", [])
    assert "changes nothing" in dropped(verdict)["m"]
    once = message(desk, b"other")
    assert (once.decision, len(once.modifications)) == ("allow_with_modification", 1)


def test_what_the_target_does_not_take_is_refused_with_what_to_change(desk: Desk) -> None:
    desk.policy(
        "rules:\n"
        + control("{type: clamp, target: tool.input.n, max: 5}", "tool.name == 'shell'", trigger="pre-tool-use")
    )
    call = {"name": "shell", "input": {"n": "many"}}
    verdict = desk.judge("pre-tool-use", tool=call)
    assert verdict.decision == "deny"
    assert "tool.input.n is not a number" in str(verdict.signals[0].payload["reason"])


SPLIT = (
    "id: r, condition: files.changed_count > 2, intensity: control, message: large,"
    " action: {type: split_suggestion, max_batch: 2}"
)


def test_split_suggestion_answers_with_batches_and_lets_it_go_on(desk: Desk) -> None:
    desk.policy(long(SPLIT))
    verdict = submit(desk, files=files(3))
    assert (verdict.decision, verdict.modified) == ("allow_with_modification", None)
    (change,) = verdict.modifications
    assert (change["target"], change["updated"]) == ("batch_size", 2)


def test_batches_are_told_beside_a_block(desk: Desk) -> None:
    desk.policy(long(SPLIT, "id: b, condition: files.changed_count > 1, intensity: block"))
    verdict = submit(desk, files=files(3))
    assert sorted(signals(verdict)) == [("o/b", "block"), ("o/r", "control")]
    assert verdict.modifications == []
    advice = next(s for s in verdict.signals if s.intensity == "control")
    assert advice.payload["modifications"]


FIX = (
    "  fix: {at: pre-commit, control: files.changed_count > 0, message: untidy,"
    " action: {type: run, command: [sh, -c, 'echo x >fixed']}}\n"
)


@pytest.mark.parametrize("mode", ["real", "dry", "replay"])
def test_of_a_stated_change_it_is_told_that_a_fixer_would_run(desk: Desk, mode: str) -> None:
    desk.policy("rules:\n" + FIX)
    verdict = desk.judge(mode=mode, files=files(1))
    assert (verdict.decision, signals(verdict)) == ("allow_with_modification", [("fix", "control")])
    assert not (desk.root / "fixed").exists()


def test_where_nothing_is_staged_a_fixer_refuses_and_names_its_command(desk: Desk) -> None:
    desk.policy("rules:\n" + FIX.replace("pre-commit", "pre-push"))
    verdict = desk.judge("pre-push", files=files(1))
    assert verdict.decision == "deny"
    assert "`sh -c echo x >fixed` fixes what is staged, at pre-commit" in str(verdict.signals[0].payload["reason"])


# The record.


def test_a_signal_s_line_begins_with_the_seed_s_six_keys(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, block: files.changed_count > 0, message: m}\n")
    (signal,) = desk.judge(files=files(1)).signals
    (record,) = desk.log("signal")
    assert list(record)[:6] == ["timestamp", "hook", "intensity", "source", "consumed", "action"]
    assert (record["id"], record["correlation_id"]) == (signal.id, signal.header["correlation_id"])
    assert (record["facts"], record["message"]) == ({"files.changed_count": 1}, "m")
    assert record["evidence"].startswith("sha256:")


def unwritable(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise JournalUnwritable("no room")

    monkeypatch.setattr(Journal, "append", full)


@pytest.mark.parametrize(
    ("actor", "level", "climbs", "decision"),
    [
        (AGENT, "block", True, "deny"),
        (AGENT, "prompt", True, "deny"),
        (AGENT, "prompt", False, "warn"),
        (Actor("human"), "prompt", True, "warn"),
    ],
)
def test_what_cannot_be_recorded(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, actor: Actor, level: str, climbs: bool, decision: str
) -> None:
    head = "escalation: {ladder: [prompt, block], after: 1}\n" if climbs else ""
    desk.policy(f"{head}rules:\n  r: {{at: pre-commit, {level}: files.changed_count > 0}}\n")
    unwritable(monkeypatch)
    verdict = desk.judge(files=files(1), actor=actor)
    assert verdict.decision == decision
    assert any("no room" in note for note in verdict.notes)


def test_an_ignored_warning_climbs_and_says_where_it_stands(desk: Desk) -> None:
    rule = "  r: {at: pre-commit, prompt: files.changed_count > 0}\n"
    desk.policy("escalation: {ladder: [prompt, block], after: 1}\nrules:\n" + rule)
    first = desk.judge(files=files(1), actor=AGENT)
    assert (first.decision, "the next one is refused" in reason_of(first.signals[0].payload)) == ("warn", True)
    dry = desk.judge(mode="dry", files=files(2), actor=AGENT)
    assert dry.decision == "deny"
    assert desk.judge(files=files(2), actor=AGENT).decision == "deny"
    assert desk.judge(mode="replay", files=files(2), actor=AGENT).decision == "warn"
    assert desk.judge(files=files(1)).decision == "warn"
    record = desk.log("signal")[1]
    assert (record["declared"], record["intensity"]) == ("prompt", "block")


def test_a_log_that_is_not_the_one_it_was_installed_with_is_told(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, prompt: files.changed_count > 0}\n")
    desk.judge(files=files(1))
    verdict = desk.judge(files=files(1), genesis="another")
    assert any("the log that this gate was installed with is gone" in note for note in verdict.notes)


@pytest.mark.parametrize("changed", [0, 1])
def test_whoever_records_that_the_log_was_cut_is_told_once(desk: Desk, changed: int) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, prompt: files.changed_count > 0}\n")
    desk.judge(files=files(1), subject="other")
    log = desk.journal / "signals.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    told = (
        "the end of the log is gone (of 4 lines 3 are left); that is recorded, and `ahp log verify` goes on saying so"
    )
    assert desk.judge(files=files(changed)).notes == [told]
    assert desk.judge(files=files(changed)).notes == []


def test_a_waiver_lets_pass_and_is_shown(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, block: files.changed_count > 0}\n")
    today = datetime.datetime.now(datetime.UTC).date()
    until = today + datetime.timedelta(days=30)
    desk.waivers = f"- {{rule: r, subject: main, reason: moving house, approver: ann, expires: {until}}}\n".encode()
    verdict = desk.judge(files=files(1))
    assert verdict.decision == "allow"
    assert "waived" in dropped(verdict)["r"]
    assert f"waived: r on main until {until}, by ann: moving house" in verdict.notes
    assert desk.log("signal")[0]["waived"]
    assert desk.judge(files=files(1), subject="other").decision == "deny"


def test_dry_runs_leave_no_trace(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, block: files.changed_count > 0}\n")
    assert desk.judge(mode="dry", files=files(1)).decision == "deny"
    assert [path.name for path in desk.journal.iterdir() if path.name not in ("cache", "state.db")] == []


def test_a_person_s_override_lets_it_pass_once_for_this_evidence(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, block: files.changed_count > 0, message: no}\n")
    assert desk.judge(files=files(1)).decision == "deny"
    (signal,) = desk.log("signal")
    answer = records.response(signal, signal["timestamp"], "proceed_with_risk", "human:ann", details={"reason": "late"})
    Journal(str(desk.journal)).append([answer])
    verdict = desk.judge(files=files(1))
    assert verdict.decision == "allow"
    assert dropped(verdict) == {"r": "overridden by human:ann: late"}
    assert verdict.trailers == [f"Ahp-Override: r {signal['digest']} {signal['content']} late"]
    assert desk.log("signal")[-1]["overrides"] == signal["id"]
    assert desk.judge(files=files(1)).decision == "deny"


def test_a_locked_rule_is_not_waived(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, block: files.changed_count > 0, locked: true}\n")
    until = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=30)
    desk.waivers = f"- {{rule: r, subject: main, reason: moving house, approver: ann, expires: {until}}}\n".encode()
    assert desk.judge(files=files(1)).decision == "deny"


def test_a_fact_that_only_the_message_names_is_gathered_for_it(desk: Desk) -> None:
    text = "'{branch.name} by {actor.kind}'"
    desk.policy(f"rules:\n  r: {{at: pre-commit, block: files.changed_count > 0, message: {text}}}\n")
    (signal,) = desk.judge(files=files(1), branch={"name": "topic"}).signals
    assert reason_of(signal.payload) == "'topic' by 'human'"


def test_a_push_that_repeats_what_its_commits_were_told_does_not_count(desk: Desk) -> None:
    where = "at: [pre-commit, pre-push]"
    desk.policy(f"rules:\n  r: {{{where}, each: p in files.changed, prompt: len(p) > 0, finding: {{file: p}}}}\n")
    desk.judge(files=files(2))
    desk.judge("pre-push", files=files(2))
    desk.judge("pre-push", files=files(3))
    assert [record.get("counted", True) for record in desk.log("signal")] == [True, False, True]
