"""A verdict in the words of a person and of an agent (design §9)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.hosts import verdict_text
from ahp.protocol import signals
from ahp.protocol.signals import Signal
from ahp.protocol.verdict import Verdict

ID = "12345678-0000-4000-8000-000000000000"


def signal(intensity: str, payload: dict[str, object], rule: str = "oracle/rule", **context: Any) -> Signal:
    return Signal({"id": ID, "intensity": intensity}, {"rule": rule, **context}, payload)


def verdict(*given: Signal, notes: tuple[str, ...] = (), trigger: str = "pre-commit") -> Verdict:
    return Verdict("warn", trigger, "main", "sha256:p", list(given), notes=list(notes))


def test_a_rule_is_called_by_one_word_where_oracle_and_id_agree() -> None:
    assert verdict_text.rule_of(signal("block", {}, "a/a")) == "a"
    assert verdict_text.rule_of(signal("block", {}, "a")) == "a"
    assert verdict_text.rule_of(signal("block", {}, "a/b")) == "a/b"


def test_a_block_for_a_person() -> None:
    one = signal("block", signals.blocking("too big", ["split it"], True), overridable=True)
    assert verdict_text.for_person(verdict(one), colour=False) == (
        "ahp: commit refused by oracle/rule (12345678)\n  too big\n  - split it\n"
        '  pass once, and say why: ahp respond 12345678 proceed_with_risk --reason "…"'
    )
    assert verdict_text.for_person(verdict(one), colour=True).startswith("\x1b[31m✗\x1b[0m ahp: commit refused by")


def test_what_the_log_does_not_know_has_no_id_to_answer() -> None:
    steps = [f"step {n}" for n in range(6)]
    dry = verdict(signal("block", signals.blocking("too big", steps, True), overridable=True))
    dry.is_logged = False
    said = "\n".join(f"  - {step}" for step in steps)
    assert verdict_text.for_person(dry, False) == f"ahp: commit refused by oracle/rule\n  too big\n{said}"
    dry.decision = "deny"
    assert verdict_text.for_agent(dry) == "ahp blocked: oracle/rule\nWhy: too big\nDo: step 0; step 1; step 2"


def test_a_trigger_without_a_verb_of_its_own_is_named() -> None:
    one = signal("prompt", signals.prompting("m", "low", [], True))
    assert verdict_text.for_person(verdict(one, trigger="pre-issue-submit"), False).startswith(
        "ahp: pre-issue-submit warned by"
    )


def test_a_step_that_the_reason_ends_with_is_told_once() -> None:
    step = "to get it: git fetch --unshallow"
    both = verdict(signal("block", signals.blocking(f"cannot tell; {step}", [step], True)))
    assert verdict_text.for_person(both, False).splitlines()[1:] == [f"  cannot tell; {step}"]
    assert verdict_text.for_agent(both).splitlines()[1:] == ["Why: cannot tell", f"Do: {step}"]


def test_many_steps_are_counted() -> None:
    one = signal("block", signals.blocking("r", [f"step {n}" for n in range(9)], True))
    said = verdict_text.for_person(verdict(one), False)
    assert said.count("  - step") == 5
    assert said.endswith("  - and 4 more: ahp explain 12345678")


def test_notes_follow_the_signals() -> None:
    assert verdict_text.for_person(verdict(notes=("unrecorded:\nno room",)), False) == "ahp: unrecorded: no room"
    assert verdict_text.for_agent(verdict(notes=("unrecorded",))) == "ahp: unrecorded"


def test_a_person_reads_the_refusal_last_next_to_the_prompt() -> None:
    block = signal("block", signals.blocking("too big", [], True), "a")
    warning = signal("prompt", signals.prompting("maybe", "low", [], True), "b")
    said = verdict_text.for_person(verdict(block, warning, notes=("noted",)), colour=False)
    heads = [line for line in said.splitlines() if not line.startswith(" ")]
    assert [head.split(" (")[0] for head in heads] == [
        "ahp: commit warned by b",
        "ahp: noted",
        "ahp: commit refused by a",
    ]


def test_a_quiet_verdict_has_no_words() -> None:
    assert (verdict_text.for_person(verdict(), False), verdict_text.for_agent(verdict())) == ("", "")


def test_findings_are_placed() -> None:
    found: list[dict[str, object]] = [{"file": f"f{n}", "line": n} for n in range(9)]
    found[0]["message"] = "here"
    one = signal("block", signals.blocking("r", [], True), findings=[{"fingerprint": "x"}, *found], findings_total=40)
    said = verdict_text.for_person(verdict(one), False).splitlines()
    assert said[2:5] == ["  f0:0: here", "  f1:1", "  f2:2"]
    assert said[-1] == "  and 33 more"
    told = " at f0:0: here, f1:1, f2:2, f3:3, f4:4, f5:5, f6:6, f7:7, f8:8, and 31 more: ahp explain 12345678"
    assert told in verdict_text.for_agent(verdict(one))


def test_an_agent_is_told_every_line_of_a_file_once_and_at_most_twelve() -> None:
    found = [{"file": "a.md", "line": n, "message": "AWS key"} for n in (2, 3, 7)]
    found += [{"file": "b.md", "line": n} for n in range(1, 14)] + [
        {"message": "nowhere"},
        {"file": "c"},
        {"file": "c"},
    ]
    told = "r at a.md:2,3,7: AWS key, b.md:1,2,3,4,5,6,7,8,9,10,11,12, nowhere, c, and 2 more: ahp explain 12345678"
    one = signal("block", signals.blocking("r", [], True), findings=found, findings_total=len(found))
    assert told in verdict_text.for_agent(verdict(one))
    again = verdict_text.for_agent(verdict(one), told=True)
    assert again == f"ahp blocked again: oracle/rule (12345678): {told}; the same call is refused every time"


def test_one_long_step_is_told_whole() -> None:
    step = "write TYPE: what changes; types: " + ", ".join(f"'type-{n}'" for n in range(18))
    assert verdict_text.for_agent(verdict(signal("block", signals.blocking("no", [step], True)))).endswith(step)


@pytest.mark.parametrize(("length", "told"), [(138, 2), (139, 1)])
def test_of_several_steps_only_whole_ones_are_told(length: int, told: int) -> None:
    steps = ["a" * 100, "b" * length, "c" * 10]
    one = signal("block", signals.blocking("no", steps, True))
    assert verdict_text.for_agent(verdict(one)).endswith("\nDo: " + "; ".join(steps[:told]))


def test_findings_without_a_place_are_not_shown() -> None:
    one = signal("block", signals.blocking("r", [], True), findings=[{"fingerprint": "x"}], findings_total=1)
    assert verdict_text.for_person(verdict(one), False).splitlines()[1:] == ["  r"]


def test_a_change_shows_both_sides() -> None:
    change: dict[str, object] = {"target": "commit.message", "original": "a", "updated": "b", "reason": "style"}
    one = signal("control", signals.controlling([change], True))
    assert verdict_text.for_person(verdict(one), False).splitlines()[1:] == ["  style", "  commit.message: 'a' → 'b'"]
    assert verdict_text.for_agent(verdict(one)) == (
        "ahp changed this: oracle/rule (12345678)\nWhy: style\nChange: commit.message: 'a' → 'b'"
    )


def test_batches_are_counted() -> None:
    change: dict[str, object] = {"target": "batch_size", "original": 3, "updated": 2, "reason": "r"}
    one = signal("control", signals.controlling([{**change, "batches": [["a", "b"], ["c"]]}], True))
    assert "2 batches of at most 2 files, the first: a, b, …" in verdict_text.for_person(verdict(one), False)
    none = signal("control", signals.controlling([{**change, "batches": []}], True))
    assert "0 batches" in verdict_text.for_person(verdict(none), False)


def warning(nth: int, text: str, of: int = 2) -> Signal:
    payload = signals.prompting(f"big ({text})", "low", ["split"], True)
    return signal("prompt", payload, standing=text, attempt=nth, blocks_after=of)


def test_a_warning_for_an_agent_says_where_it_stands() -> None:
    assert verdict_text.for_agent(verdict(warning(1, "warning 1 of 2; then it is refused"))) == (
        "ahp note: oracle/rule (12345678): big; accepted; 1 more passes like this, then it is refused\nDo: split"
    )


def test_beside_a_refusal_no_warning_says_that_it_is_accepted() -> None:
    block = signal("block", signals.blocking("no", [], True))
    both = verdict(warning(1, "warning 1 of 2; then it is refused"), block)
    unrecorded = verdict(warning(1, "warning 1 of 2; then it is refused"), notes=("refused: it must be recorded",))
    for one in (both, unrecorded):
        one.decision = "deny"
    told = "ahp note: oracle/rule (12345678): big\nDo: split"
    assert verdict_text.for_agent(both).endswith(f"Why: no\n{told}")
    assert verdict_text.for_agent(unrecorded) == f"ahp: refused: it must be recorded\n{told}"


def test_the_same_warning_again_is_one_line_for_an_agent_until_the_last() -> None:
    said = verdict_text.for_agent(verdict(warning(2, "warning 2 of 3; then it is refused", of=3)))
    assert said == "ahp note: oracle/rule (12345678): big; accepted; 1 more passes like this, then it is refused"
    said = verdict_text.for_agent(verdict(warning(2, "warning 2 of 2; the next one is refused")))
    assert said == "ahp note: oracle/rule (12345678): big; accepted; the next one is refused\nDo: split"


def test_a_warning_that_has_become_a_refusal_says_how_often_it_was_told() -> None:
    payload = signals.blocking("big (refused after 2 warnings)", ["split"], True)
    said = verdict_text.for_agent(verdict(signal("block", payload, standing="refused after 2 warnings", attempt=3)))
    assert said.startswith("ahp blocked: oracle/rule (12345678)\nWhy: big (refused after 2 warnings)\nDo: split")


def test_a_warning_that_has_become_a_block_says_again_what_to_do() -> None:
    one = signal("block", signals.blocking("big", ["split"], True), standing="refused after 2 warnings", attempt=3)
    assert verdict_text.for_agent(verdict(one)).endswith("\nDo: split")


def test_long_file_names_leave_room_for_what_to_do_and_who_may_override() -> None:
    found = [{"file": "f" * 200, "line": 1}] * 3
    more = {"findings": found, "findings_total": 3, "overridable": True}
    one = signal("block", signals.blocking("big", ["split" * 20], True), **more)
    lines = verdict_text.for_agent(verdict(one)).splitlines()
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "Why",
        "Do",
        "Or, if your user wants it, they run in a terminal",
    ]
    assert lines[-1].endswith(
        ' ahp respond 12345678 proceed_with_risk --reason "…"; then repeat the command, nothing changed'
    )
    assert len("\n".join(lines)) <= verdict_text.AGENT_LIMIT


def test_what_nobody_may_override_names_no_way_to_do_so() -> None:
    assert "proceed_with_risk" not in verdict_text.for_agent(verdict(signal("block", signals.blocking("no", [], True))))


def test_a_split_suggestion_does_not_claim_a_change() -> None:
    batches = {"target": "batch_size", "original": 3, "updated": 2, "reason": "r", "batches": [["a"], ["b"]]}
    one = verdict(signal("control", signals.controlling([batches], True)))
    assert "split suggested by" in verdict_text.for_person(one, False)
    assert verdict_text.for_agent(one).startswith("ahp suggests a split: ")


def test_an_aid_for_an_agent_asks_for_nothing() -> None:
    one = signal("aid", signals.aiding("done", [{"type": "follow_up", "description": "tell them"}]))
    assert verdict_text.for_agent(verdict(one)) == "ahp note: oracle/rule (12345678): done\nDo: tell them"


def test_the_strongest_comes_first_for_an_agent() -> None:
    weak, strong = (
        signal("prompt", signals.prompting("weak", "low", [], True)),
        signal("block", signals.blocking("strong", [], True)),
    )
    said = verdict_text.for_agent(verdict(weak, strong))
    assert said.startswith("ahp blocked: ")
    assert "weak" in said


def test_every_rule_that_refuses_is_named_though_there_is_no_room() -> None:
    long = [
        signal("block", signals.blocking("x" * 300, ["y" * 200], True), f"r{n}/r{n}", overridable=True)
        for n in range(9)
    ]
    weak = signal("prompt", signals.prompting("weak", "low", [], True))
    said = verdict_text.for_agent(verdict(weak, weak, *long))
    assert len(said) <= verdict_text.AGENT_LIMIT
    assert said.endswith("\n(refused by r1, r2, r3 and 5 more as well, and 2 notes: ahp log)")
    assert "\nOr, if your user wants it, they run in a terminal: ahp respond 12345678" in said
    assert "nothing changed\n(" in said
    assert verdict_text.for_agent(verdict(long[0], weak, weak)).endswith("\n(2 more: ahp log)")


def test_a_second_refusal_is_told_with_its_step_where_there_is_room() -> None:
    first, second = (signal("block", signals.blocking(f"no {n}", [f"do {n}"], True), f"r{n}/r{n}") for n in (1, 2))
    assert verdict_text.for_agent(verdict(first, second)) == (
        "ahp blocked: r1 (12345678)\nWhy: no 1\nDo: do 1\nahp blocked, too: r2 (12345678): no 2\nDo: do 2"
    )


def test_a_refusal_of_several_commands_says_that_none_of_them_ran() -> None:
    said = verdict_text.as_a_whole("ahp blocked: r (1)\nWhy: no\nDo: x")
    assert said == "ahp blocked: r (1); nothing of this call ran\nWhy: no\nDo: x"
    assert (
        verdict_text.as_a_whole("In sub: ahp blocked: r (1)") == "In sub: ahp blocked: r (1); nothing of this call ran"
    )
    again = "ahp blocked again: r (1): no; the same call is refused every time"
    assert verdict_text.as_a_whole(again) == again


def test_places_that_are_no_files_stand_behind_the_reason() -> None:
    found = [{"message": "git push", "words": ["-f", "\x1b[2J"]}, {"message": "git push", "words": ["-f", "\x1b[2J"]}]
    one = signal("block", signals.blocking("no", [], True), findings=found, findings_total=2)
    assert "Why: no (git push: -f, \ufffd[2J)" in verdict_text.for_agent(verdict(one))
    assert verdict_text.for_person(verdict(one), False).splitlines()[2] == "  git push: -f, \ufffd[2J"


hostile = st.text(max_size=400) | st.sampled_from(["\x1b[2J" * 100, "\u202e" * 300, "\ud800", "a\nb" * 200])


@given(hostile, st.lists(hostile, max_size=8), st.lists(hostile, max_size=12), st.integers(1, 6))
def test_whatever_a_rule_says_an_agent_reads_at_most_600_clean_characters(
    said: str, steps: list[str], files: list[str], count: int
) -> None:
    found = [{"file": name, "line": 1} for name in files]
    one = signal("block", signals.blocking(said, list(steps), True), findings=found, findings_total=len(found))
    text = verdict_text.for_agent(verdict(*[one] * count, notes=(said,)))
    assert len(text) <= 600
    assert text.startswith("ahp blocked: oracle/rule (12345678)\nWhy: ")
    assert all(c.isprintable() or c in "\n " for c in text)
    for line in text.splitlines():
        assert line.startswith(("ahp", "Why:", "Do:", "Override:", "("))
    for line in verdict_text.for_person(verdict(one), False).splitlines():
        assert line.startswith(("ahp:", "  "))
        assert all(c.isprintable() or c == " " for c in line)
