"""`ahp stats` as a person types it, on twelve weeks of a small project."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.journal import respond
from ahp.journal.append import Journal
from ahp.protocol.event import Actor
from ahp.system import clock
from tests.insight import example
from tests.journal.story import Story


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clock, "now", lambda: example.END)
    return example.write(tmp_path / ".ahp")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["stats", *arguments]) == 0
    return capsys.readouterr().out


def test_a_line_a_rule_in_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys)
    assert max(map(len, out.splitlines())) <= 80
    lines = out.splitlines()
    assert lines[0].startswith("2026-01-05 to 2026-03-2")
    assert lines[2].split() == ["rule", "asked", "episodes", "fixed", "after", "tries", "lapsed", "excused"]
    assert {line.split()[0] for line in lines[3:7]} == {"size", "subject", "tests", "lockfile"}
    assert "silent (2): no-merges, todo" in lines


def test_all_figures_of_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "--rule", "size")
    assert max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[0] == "2026-01-05 to 2026-03-27"  # how many were refused is not this rule's figure
    found = json.loads(told(capsys, "--rule", "size", "--format", "json"))
    assert found["evaluations"] == found["groups"][0]["asked"] == 607
    assert "size  at pre-commit" in out
    assert "a proxy for false positives" in out
    assert "human:ann: a rename is not a big change" in out or "human:rene: " in out


def test_of_a_rule_of_tool_calls_nobody_is_told_how_much_was_fixed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = project / "signals.jsonl"
    log.write_text(log.read_text().replace('["pre-commit", "size"', '["pre-tool-use", "size"'))
    (line,) = [line for line in told(capsys).splitlines() if line.startswith("size ")]
    assert line.split()[2] == "37" and "█" not in line and "70%" not in line
    assert "  fixed" not in told(capsys, "--rule", "size") and "  ended     " in told(capsys, "--rule", "size")


def test_json_has_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(told(capsys, "--format", "json"))
    assert found["begin"] == clock.iso(example.BEGIN) and found["by"] == "rule" and found["undescribed"] == 0
    size = next(group for group in found["groups"] if group["name"] == "size")
    assert size["episodes"] == sum(size["states"].values())
    assert size["comments"][0]["by"].startswith("human:")


@pytest.mark.parametrize("by", ["hook", "subject", "actor", "agent"])
def test_by_who_and_where(by: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "--by", by)
    assert max(map(len, out.splitlines())) <= 80
    names = {"hook": "pre-commit", "agent": "(people)"}
    assert any(line.startswith(names.get(by, "")) for line in out.splitlines()[3:])


def test_since_counts_what_came_later(capsys: pytest.CaptureFixture[str]) -> None:
    everything = json.loads(told(capsys, "--format", "json"))
    later = json.loads(told(capsys, "--since", "2w", "--format", "json"))
    assert 0 < later["evaluations"] < everything["evaluations"]
    assert later["begin"] >= clock.iso(example.END - 14 * example.DAY)


def test_a_person_at_a_terminal_sees_colours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    assert run(["stats"]) == 0
    assert "\x1b[" in screen.getvalue() and "█" in screen.getvalue()
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "54")
    assert run(["stats"]) == 0 and run(["stats", "--rule", "size"]) == 0 and run(["stats", "--advise"]) == 0
    lines = re.sub("\x1b\\[[0-9;]*m", "", screen.getvalue()).splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 54 and any("41%" in line for line in lines)
    assert ["rule", "episodes", "fixed", "excused"] in [line.split() for line in lines]


def test_what_the_log_does_not_describe_any_more_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = project / "signals.jsonl"
    log.write_text("".join(line for line in log.open() if '"kind": "policy"' not in line))
    assert "by policies that the log does not describe any more" in told(capsys)
    assert "in no policy that judges now" in told(capsys, "--rule", "size")


def test_no_log_and_no_such_rule(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told_of_none = told(capsys, "--rule", "nothing")
    assert "size" not in told_of_none and "the log has no rule called nothing" in told_of_none
    (project / "signals.jsonl").unlink()
    assert told(capsys) == "the log has nothing yet\n"
    assert told(capsys, "--since", "30d") == "the log has nothing since 30d\n"


def test_a_pipe_gets_all_of_a_name(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = project / "signals.jsonl"
    for rule, name in (("lockfile", "a-lock-file-beside-each-manifest"), ("todo", "no-to-dos-of-anybody-here")):
        log.write_text(log.read_text().replace(f'"{rule}"', f'"{name}"'))
    out = told(capsys)
    assert "\na-lock-file-beside-each-manifest " in out and "no-to-dos-of-anybody-here\n" in out


def test_advice_rests_on_figures(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "dormant" not in told(capsys, "--advise")  # without a policy nobody knows what is a guard
    (project / "hooks.yaml").write_text(example.POLICY)
    out = told(capsys, "--advise")
    assert max(map(len, out.splitlines())) <= 80
    for word in (
        "size  noisy: ",
        "tests  blind spot: ",
        "subject  effective: ",
        "todo  dormant: ",
    ):
        assert any(line.startswith(word) for line in out.splitlines()), word
    assert "      replayed: prompt → silent 37 times" in out.splitlines()
    corpus = out.splitlines()[-1]
    assert corpus.startswith("sha256:") and out.splitlines()[-2] == "replayed: 1,062 evaluations,"
    assert run(["replay"]) == 0 and f"corpus: {corpus}" in capsys.readouterr().out
    found = json.loads(told(capsys, "--advise", "--format", "json"))
    assert {one["rule"]: one["tried"] for one in found}["subject"].startswith("replayed: prompt → block ")
    assert {one["kind"] for one in found} == {"noisy", "blind spot", "effective", "dormant"}
    assert told(capsys, "--advise", "--rule", "tests").count("blind spot") == 1


def test_advice_as_a_patch_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "hooks.yaml").write_text(example.POLICY)
    patch = told(capsys, "--advise", "--write")
    assert "-    prompt: not commit.subject.startswith('feat')   # or fix" in patch
    assert "+    block: not commit.subject.startswith('feat')   # or fix" in patch
    assert (project / "hooks.yaml").read_text() == example.POLICY


def test_what_no_edit_can_do_is_told_beside_the_patch(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "hooks.yaml").write_text("version: 1\nrules: {}\n")
    assert run(["stats", "--advise", "--write"]) == 0
    out, err = capsys.readouterr()
    assert out == "" and "subject: effective, but no edit is proposed: the project's policy has no rule" in err
    assert "there is no edit to propose" in err


def test_without_enough_episodes_nothing_is_advised(capsys: pytest.CaptureFixture[str]) -> None:
    assert "below 10 closed episodes" in told(capsys, "--advise", "--since", "3d")


def test_options_that_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "--write"]) == 2 and run(["stats", "--advise", "--by", "actor"]) == 2
    assert "--write goes with --advise" in capsys.readouterr().err


def test_what_somebody_wrote_is_listed_without_passwords(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "signals.jsonl").unlink()
    journal = Journal(str(project))
    id = Story(journal).signal(rule="size", actor="human:ann")
    respond.respond(journal, id, "dismiss", Actor("human", "ann"), feedback="see https://ann:secret@host/x\nsecond")
    out = told(capsys, "--rule", "size")
    assert "human:ann: see https://host/x second" in out and "secret" not in out
    assert "1 dismissed, 1 feedback" in out


def test_an_age_beyond_all_times_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "--since", "9" * 400 + "d"]) == 2
    assert "is no time" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json"])
def test_many_groups_cost_as_much_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    """Ten thousand authors in a project of as many rules took 40 seconds to print."""
    calls = [_calls(tmp_path / str(many), many, form) for many in (100, 500)]
    assert calls[1] < 7 * calls[0]


def _calls(folder: Path, many: int, form: str) -> int:
    """How many functions and comparisons of figures `ahp stats --by actor` takes, of so many rules and actors."""
    rules = [["pre-commit", f"rule-{n}", {"default": "prompt"}, ""] for n in range(many)]
    records: list[dict[str, object]] = [{"kind": "policy", "digest": "p", "rules": rules}]
    for n in range(many):
        about = {"hook": "pre-commit", "actor": f"human:{n}", "subject": "main", "policy": "p", "attempt": f"{n}"}
        signal = {"kind": "signal", "id": f"{n}", "rule": f"rule-{n}", "intensity": "prompt", "decision": "warn"}
        records += [{**about, **signal}, {**about, "kind": "verdict", "decision": "warn"}]
    lines = [json.dumps({"timestamp": clock.iso(example.END), **record}) for record in records]
    folder.mkdir()
    (folder / "signals.jsonl").write_text("\n".join(lines) + "\n")
    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1

    sys.setprofile(count)
    try:
        run(["stats", "--by", "actor", "--from", str(folder), "--format", form])
    finally:
        sys.setprofile(None)
    return seen
