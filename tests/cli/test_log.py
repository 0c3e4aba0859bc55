"""`ahp log` and `ahp respond` as a person types them (design §10)."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len
from rich.text import Text

from ahp.cli import log, respond
from ahp.hosts.git import install as installing
from ahp.journal.append import Journal
from ahp.journal.place import journal_of
from ahp.protocol import records
from ahp.system import clock, git
from ahp.system.errors import AhpError
from tests.conftest import Repo

ID = "a1b2c3d4-0000-4000-8000-000000000000"


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.chdir(tmp_path)
    journal = Journal(str(tmp_path / ".ahp"))
    journal.append([_signal(ID, "prompt"), _signal("b" + ID[1:], "block", actor="agent:claude", decision="deny")])
    return journal


def _signal(id: str, intensity: str, **more: Any) -> dict[str, Any]:
    known = {"timestamp": clock.iso(clock.now()), "hook": "pre-commit", "intensity": intensity, "source": "size"}
    told = {"rule": "size/1", "subject": "main", "actor": "human:ann", "message": "too\x1b[2J many files"}
    return {**known, "consumed": False, "action": None, "kind": "signal", "id": id, "decision": "warn", **told, **more}


def run(command: Any, *arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments), standalone_mode=False, env={"USER": "ann", "AHP_AGENT": ""})


def test_a_line_a_signal_without_control_characters(journal: Journal) -> None:
    result = run(log.command)
    first, second = result.output.splitlines()
    assert "prompt   size/1  main  human:ann  a1b2c3d4  too" in first
    assert "block" in second
    assert "\x1b" not in result.output


def test_a_line_names_the_first_finding_else_the_tool_call(journal: Journal) -> None:
    findings = [{"file": "src/\x1ba.py", "line": 3, "fingerprint": "1"}, {"file": "b.py", "fingerprint": "2"}]
    command = {"message": "git\x1b commit", "fingerprint": "3"}
    told: list[tuple[dict[str, Any], str]] = [
        ({"findings": findings, "findings_total": 7}, " (src/\ufffda.py:3 and 6 more)"),
        ({"findings": findings[1:], "findings_total": 1}, " (b.py)"),
        (
            {"findings": [command, command], "findings_total": 2, "target": "shell git"},
            " (git\ufffd commit and 1 more)",
        ),
        ({"findings": [{"fingerprint": "4"}], "target": "write a\nb.txt"}, " (write a b.txt)"),
        ({"findings": ["odd"], "findings_total": "odd"}, ""),
        ({"findings": {"file": "a"}}, ""),
    ]
    journal.append([_signal(f"{n:08}" + ID[8:], "block", **more) for n, (more, _) in enumerate(told)])
    for line, (_, place) in zip(run(log.command).output.splitlines()[2:], told, strict=True):
        assert line.endswith(f" many files{place}")


def test_every_kind_of_record_tells_something(journal: Journal) -> None:
    told: dict[str, tuple[dict[str, Any], str]] = {
        "verdict": ({"decision": "deny"}, "deny"),
        "cut": ({"had": 9, "found": 4}, "the end is gone: of 9 lines 4 are left"),
        "clock": ({"was": "2100-01-01\x1b"}, "time goes on from here; it was 2100-01-01\ufffd"),
        "prune": ({"lines": 70}, "removed up to line 70"),
        "rotation": ({"after": "signals.1.jsonl"}, "goes on after signals.1.jsonl"),
        "count": ({"calls": [{"calls": 2}, {"calls": 40}, {}, 7]}, "42 clean tool calls"),
    }
    journal.append([{"kind": kind, **record} for kind, (record, _) in told.items()])
    for kind, (_, sentence) in told.items():
        assert run(log.command, "--kind", kind).output.splitlines()[-1].endswith(f"  {sentence}")


def test_filters_limit_and_json(journal: Journal) -> None:
    told = [
        json.loads(line) for line in run(log.command, "--format", "json", "--intensity", "block").output.splitlines()
    ]
    assert [record["id"] for record in told] == ["b" + ID[1:]]
    assert len(run(log.command, "--limit", "1").output.splitlines()) == 1
    none = run(log.command, "--since", "2099-01-01")
    assert (none.stdout, none.stderr) == ("", "nothing in the log fits\n")
    assert run(log.command, "--since", "2099-01-01", "--format", "json").output == ""
    assert len(run(log.command, "--since", "2h", "--until", "2099-01-01T00:00:00Z").output.splitlines()) == 2
    assert "genesis" in run(log.command, "--kind", "genesis").output


def test_a_limit_beyond_every_log_is_none(journal: Journal) -> None:
    for many in (sys.maxsize + 1, sys.maxsize, 10):
        assert len(run(log.command, "-n", str(many)).output.splitlines()) == 2
    assert "is not in the range x>=1" in str(run(log.command, "-n", "0").exception)


@pytest.mark.parametrize("text", ["soon", "5y", "", "2026-02-30", "2025-02-29T10:00:00Z", "2026-02-09x", "T"])
def test_a_time_that_is_none_is_a_usage_error(journal: Journal, text: str) -> None:
    result = run(log.command, "--since", text)
    assert "is no time; write 2026-02-09" in str(result.exception)


@pytest.mark.parametrize(
    ("option", "name", "meant"), [("--hook", "pre-comit", "`pre-commit`"), ("--kind", "verdicts", "`verdict`")]
)
def test_a_word_that_no_record_can_have_is_a_usage_error(journal: Journal, option: str, name: str, meant: str) -> None:
    assert f"did you mean {meant}?" in str(run(log.command, option, name).exception)


def test_a_block_that_a_person_let_pass_is_told_from_one_that_held(journal: Journal) -> None:
    journal.append([_signal("c" + ID[1:], "block", overrides=ID)])
    lines = run(log.command).output.splitlines()
    assert ["passed once, claimed" in line for line in lines] == [False, False, True]


def test_an_answer_that_lets_a_block_pass_is_claimed(journal: Journal) -> None:
    refused = _signal("d" + ID[1:], "block")
    risk = records.response(refused, clock.iso(clock.now()), "proceed_with_risk", "human", feedback="x")
    journal.append([refused, risk])
    lines = run(log.command).output.splitlines()
    assert ["claimed  → proceed_with_risk" in line for line in lines] == [False, False, True]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colours_and_a_hint(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    for colour in (True, False):
        terminal = Terminal()
        monkeypatch.setattr("sys.stdout", terminal)
        log.command.main(["--limit", "1"], standalone_mode=False)
        drawn = terminal.getvalue()
        assert bool(re.search("\x1b\\[[0-9;]*31m", drawn)) is colour
        assert all(cell_len(line) <= 80 for line in Text.from_ansi(drawn).plain.splitlines())
        assert capsys.readouterr().err == "… there are more; raise --limit\n"
        monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("option", [(), ("--open",)])
@pytest.mark.parametrize("width", [40, 80])
def test_no_terminal_is_too_narrow_for_whole_words(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], width: int
) -> None:
    journal.append(
        [_signal("c" + ID[1:], "prompt", subject="topic-14", actor="agent:codex", message="split it in two")]
    )
    piped = run(log.command, *option).output
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    log.command.main(list(option), standalone_mode=False)
    lines = Text.from_ansi(terminal.getvalue()).plain.splitlines()
    assert all(cell_len(line) <= width for line in lines)
    drawn = [re.sub(r"^\d{4}-", "", word) for word in " ".join(lines).split()]
    wanted = [re.sub(r"^\d{4}-", "", word) for word in piped.split()]
    seconds = re.compile(r"(\d\d:\d\d):\d\d")
    assert sorted(drawn) == sorted(seconds.sub(r"\1", word) for word in wanted)
    assert len(lines) <= piped.count("\n") * (3 if width == 80 else 6)


def test_following_ends_with_an_interrupt(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def follow(*_: object) -> Any:
        yield _signal("c" + ID[1:], "aid")
        raise KeyboardInterrupt

    monkeypatch.setattr("ahp.journal.query.follow", follow)
    result = run(log.command, "--follow")
    assert result.return_value == 130
    assert "c1b2c3d4" in result.output


def test_verify_and_anchor(journal: Journal) -> None:
    kept = run(log.command, "anchor").output.strip()
    result = run(log.command, "verify", "--anchor", kept)
    assert (result.return_value, result.output) == (0, "3 lines, every one chained to the one before it\n")
    assert "no anchor given" in run(log.command, "verify").output
    path = Path(journal.log_path)
    path.write_bytes(path.read_bytes().replace(b'"prompt"', b'"aid"'))
    result = run(log.command, "verify")
    assert result.return_value == 1
    assert "signals.jsonl:2: edited" in result.output
    told = json.loads(run(log.command, "verify", "--format", "json").output)
    assert (told["ok"], told["lines"]) == (False, 3)


def test_no_log_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(log.command).output == "nothing was said yet\n"
    assert run(log.command, "--open").output == "nothing is open\n"
    assert "there is no log yet" in run(log.command, "verify").output


def test_an_answer_by_the_beginning_of_an_id(journal: Journal, person: list[str]) -> None:
    result = run(respond.command, "a1", "acknowledge", "--feedback", "noise")
    assert result.output == "acknowledge: size/1 (a1b2c3d4); the same evidence does not climb again\n"
    told = run(respond.command, "b1", "proceed_with_risk", "--reason", "hot fix", "--format", "json")
    assert json.loads(told.output)["details"] == {"reason": "hot fix"}
    assert "→ acknowledge" in run(log.command).output
    assert run(log.command, "--kind", "feedback").output.endswith("  noise\n")
    assert isinstance(run(respond.command, "zz", "abort").exception, AhpError)


def test_one_journal_for_all_worktrees_and_the_genesis_that_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.system(f"git init -q {tmp_path}/repo")
    folder = tmp_path / "repo/sub"
    folder.mkdir()
    assert os.path.realpath(journal_of(str(folder)).folder) == os.path.realpath(tmp_path / "repo/.git/ahp")
    place = tmp_path / "repo/.git/ahp"
    place.mkdir()
    noted = place / "install.json"
    noted.write_text('{"genesis": "abc"}')
    assert journal_of(str(folder)).genesis == "abc"
    noted.write_text('{"genesis": 5}')
    assert journal_of(str(folder)).genesis is None
    noted.write_text("{")
    with pytest.raises(AhpError, match=r"install\.json is damaged"):
        journal_of(str(folder))


def test_what_is_open(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run(log.command, "--open").output.splitlines()
    assert [line.split()[:3] for line in lines] == [["block", "size/1", "main"], ["prompt", "size/1", "main"]]
    assert "ignored 1 time, open since " in lines[1] and "  open since " in lines[0]
    (told,) = run(log.command, "--open", "--actor", "human", "--format", "json").output.splitlines()
    assert (json.loads(told)["id"], json.loads(told)["went_past"]) == (ID, 1)
    none = run(log.command, "--open", "--rule", "none")
    assert (none.stdout, none.stderr) == ("", "nothing that is open fits\n")


def test_silence_is_told_from_an_answer(journal: Journal) -> None:
    later = clock.iso(clock.now() + 1)  # in the same millisecond it would be the same attempt
    journal.append([_signal("c" + ID[1:], "prompt", attempt="next", timestamp=later)])
    run(respond.command, "c1", "dismiss")
    lines = run(log.command, "--intensity", "prompt").output.splitlines()
    assert ["→ dismiss (by silence)" in line for line in lines] == [True, False]
    assert "→ dismiss" in lines[1]


def test_an_answer_that_a_clean_evaluation_gave_is_told_from_a_mend_that_somebody_told_of(journal: Journal) -> None:
    more = {"hook": "pre-tool-use", "target": "shell git", "actor": "agent:claude"}
    journal.append([_signal(f"{n}" + ID[1:], "block", **more) for n in "cd"])
    run(respond.command, "b1", "retry_after_fix")
    run(respond.command, "c1", "retry_after_fix")
    for actor in ("human:ann", "agent:claude"):
        journal.append([{**_signal("", ""), "kind": "episode-end", "reason": "mended", "actor": actor}])
    lines = run(log.command).output.splitlines()
    answers = [line.partition("→ ")[2].partition("  ")[0] for line in lines]
    assert answers == ["retry_after_fix (clean later)", *["retry_after_fix"] * 3]


def test_an_agent_is_told_why_a_block_is_not_its_to_let_pass(journal: Journal) -> None:
    arguments = ["b1b2", "proceed_with_risk", "--reason", "x"]
    agent = {"USER": "ann", "AHP_AGENT": "claude"}
    result = CliRunner().invoke(respond.command, arguments, standalone_mode=False, env=agent)
    assert "is a person's answer" in str(result.exception)
    assert str(run(respond.command, "b1b2").exception) == "Missing parameter: action"


def test_a_log_that_was_removed_with_its_folder_is_not_taken_for_none(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root)
    where = git.discover(str(repo.root), dict(os.environ))
    assert run(log.command, "verify").return_value == 0
    installing.install(where, "")
    assert run(log.command, "verify").return_value == 0
    shutil.rmtree(where.ahp_dir)
    result = run(log.command, "verify")
    assert result.return_value == 1
    assert "and nothing of it is left" in result.output


def test_old_files_are_removed_by_a_person(journal: Journal) -> None:
    assert run(log.command, "prune", "--before", "100d").output == "there is nothing to remove\n"
    assert "the last 90 days" in str(run(log.command, "prune", "--before", "2d").exception)


def test_an_anchor_is_kept_by_a_remote(journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("here", "there.git"):
        subprocess.run(
            ["git", "init", "--quiet", *(["--bare"] * path.endswith("git")), str(tmp_path / path)], check=True
        )
    monkeypatch.chdir(tmp_path / "here")
    here = Journal(str(tmp_path / "here" / ".git" / "ahp"))
    here.append([{"kind": "verdict"}])
    there = str(tmp_path / "there.git")
    told = run(log.command, "verify", "--remote", there)
    assert told.exception is None, told.exception
    assert (told.return_value, "keeps no anchor of the log" in told.output) == (1, True)
    kept = run(log.command, "anchor", "--push", there).output.strip()
    assert kept == run(log.command, "anchor").output.strip()
    told = run(log.command, "verify", "--remote", there)
    assert told.return_value == 0
    first, second, third = told.output.splitlines()
    assert (first, third) == ("note: compared with 1 kept anchor", "2 lines, every one chained to the one before it")
    assert second.startswith("note: nothing that is seen from here keeps ") and "a ruleset for refs/ahp/**" in second
    hook = tmp_path / "there.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexec ahp hook pre-receive\n")
    hook.chmod(0o755)
    second = run(log.command, "verify", "--remote", there).output.splitlines()[1]
    assert "keeps its anchors: hooks/pre-receive takes them forward only and deletes none" in second


def test_without_a_repository_no_remote_keeps_an_anchor(journal: Journal) -> None:
    assert "no remote could keep it" in str(run(log.command, "anchor", "--push", "origin").exception)
    assert "there is no git repository here" in str(run(log.command, "verify", "--remote", "origin").exception)
