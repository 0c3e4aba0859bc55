"""When a hook cannot judge: never a silent pass (design §4, §9)."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ahp.hosts.git import failure, githooks, post_commit, pre_commit
from ahp.protocol.event import Actor
from ahp.system import files, installed, process
from ahp.system.errors import AhpError
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

QUIET = "version: 1\nrules:\n  many: {at: pre-commit, block: files.changed_count > 100}\n"


def at_a_terminal(gated: Gated, *arguments: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """A git command whose output is a terminal."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        ["git", *arguments],
        cwd=gated.root,
        stdout=side,
        stderr=side,
        env={**os.environ, "TERM": "xterm", **(env or {})},
    )
    os.close(side)
    parts = []
    try:
        while part := os.read(main, 4096):
            parts.append(part)
    except OSError:  # Linux says EIO when the other side is closed
        pass
    os.close(main)
    return process.wait(), b"".join(parts).decode().replace("\r\n", "\n")


def test_an_invalid_policy_refuses_commits_with_every_error_at_its_place(gated: Gated) -> None:
    gated.write(".ahp/hooks.yaml", "version: 1\nrules:\n  a: {at: pre-comit, block: 1 > 0}\n  b: {at: pre-commit}\n")
    gated.write("a.txt")
    gated.add()
    said = gated.say("commit", "-m", "x")
    assert said.code == 1
    assert "cannot judge this pre-commit" in said.text
    assert ".ahp/hooks.yaml:3:" in said.text
    assert "pre-commit" in said.text
    assert ".ahp/hooks.yaml:4:" in said.text
    assert "--no-verify" not in said.text


def test_gits_own_way_out_is_named_on_a_terminal_and_never_to_an_agent(gated: Gated) -> None:
    gated.write(".ahp/hooks.yaml", "version: 1\nrules: 7\n")
    gated.write("a.txt")
    gated.add()
    code, said = at_a_terminal(gated, "commit", "-m", "x")
    assert code == 1
    assert "a person may go on with `git commit --no-verify`\n" in said
    code, said = at_a_terminal(gated, "commit", "-m", "x", env={"CLAUDECODE": "1"})
    assert code == 1
    assert "--no-verify" not in said


def test_colour_and_symbols_only_on_a_terminal_that_shows_them(gated: Gated) -> None:
    gated.policy(QUIET.replace("> 100", "> 0"))
    gated.write("a.txt")
    gated.add()
    code, said = at_a_terminal(gated, "commit", "-m", "x")
    assert (code, "\x1b[31m✗\x1b[0m ahp: commit refused by many" in said) == (1, True)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, said = at_a_terminal(gated, "commit", "-m", "x", env=env)
        assert (code, "\x1b" in said, "✗" in said) == (1, False, False)
    assert "\x1b" not in gated.say("commit", "-m", "x").text


def test_control_characters_never_reach_the_terminal_raw(gated: Gated) -> None:
    gated.policy(
        "version: 1\nrules:\n  any: {at: pre-commit, each: p in files.changed, block: len(p) > 0, finding: {file: p}}\n"
    )
    gated.write("clear\x1b[2J\x07\u202e.txt")
    gated.add()
    code, said = at_a_terminal(gated, "commit", "-m", "x", env={"NO_COLOR": "1"})
    assert code == 1
    assert "clear\ufffd[2J\ufffd\ufffd.txt" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_a_bug_is_reported_with_versions_and_refuses(gated: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(pre_commit, "decide", broken)
    gated.policy(QUIET)
    code, said = ask("pre-commit")
    assert code == 2
    assert said.startswith("ahp: a bug in ahp stopped it from judging this pre-commit; please report this:\nahp 0.")
    assert "ZeroDivisionError: a bug" in said
    monkeypatch.setattr(post_commit, "judge", broken)
    assert ask("post-commit")[0] == 0


def test_a_package_that_is_gone_is_named_with_what_mends_it(
    gated: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'yaml'", name="yaml")

    monkeypatch.setattr(pre_commit, "decide", broken)
    gated.policy(QUIET)
    code, said = ask("pre-commit")
    assert (code, len(said.splitlines())) == (2, 1)
    assert said.startswith("ahp: cannot judge this pre-commit: Python cannot import yaml, which ahp needs")
    assert f"fix: {installed.command()}" in said


def test_an_interrupt_ends_as_the_shell_expects(gated: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pre_commit, "judge", stopped)
    assert ask("pre-commit") == (130, "")


def test_past_the_limit_of_its_input_it_refuses(gated: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(githooks, "_INPUT_LIMIT", 3)
    code, said = ask("pre-push", "origin", "there", stdin=b"12345")
    assert code == 2
    assert "more than 3 bytes" in said


def test_outside_a_repository_it_refuses(gated: Gated, ask: Ask, tmp_path: Path) -> None:
    code, said = ask("pre-commit", at=tmp_path)
    assert code == 2
    assert f"no git repository at {tmp_path}" in said


def test_after_the_fact_there_is_nothing_left_to_refuse(gated: Gated, ask: Ask) -> None:
    gated.write(".ahp/hooks.yaml", "version: 1\nrules: 7\n")
    code, said = ask("post-commit")
    assert code == 0
    assert "cannot judge this post-commit" in said
    gated.git("update-ref", "-d", "HEAD")
    code, said = ask("post-commit")
    assert code == 0
    assert "HEAD names no commit after a commit" in said


def test_many_lines_are_cut_and_what_they_quote_is_made_safe(capfd: pytest.CaptureFixture[str]) -> None:
    error = AhpError("\n".join([f"line {n} \x1b[2J" for n in range(30)]))
    assert failure.refuse("pre-push", error, Actor("agent", "claude")) == 2
    said = capfd.readouterr().err
    assert "\x1b" not in said
    assert "and 10 more lines: ahp policy lint\n" in said
    assert failure.refuse("pre-push", AhpError(""), Actor("human")) == 2
    assert capfd.readouterr().err == (
        "ahp: cannot judge this pre-push: unknown error\n     `ahp doctor` tells what is wrong here and what to do\n"
    )
    assert failure.refuse("pre-push", AhpError("no head; fix: git fetch"), Actor("human")) == 2
    assert capfd.readouterr().err == "ahp: cannot judge this pre-push: no head; fix: git fetch\n"


def test_a_git_directory_that_takes_no_log_refuses_nothing_to_a_person_and_says_so(gated: Gated, ask: Ask) -> None:
    gated.policy(QUIET.replace("block", "prompt").replace("> 100", "> 0"))
    gated.write("a.txt")
    gated.add()
    # Root cannot be denied; a folder in the lock's place denies everybody.
    (gated.folder / "signals.lock").unlink(missing_ok=True)
    (gated.folder / "signals.lock").mkdir()
    code, said = ask("pre-commit")
    assert code == 0
    assert "warned by many" in said
    assert "unrecorded" in said


def test_a_block_stays_a_block_where_the_log_takes_nothing(gated: Gated, ask: Ask) -> None:
    gated.policy(QUIET.replace("> 100", "> 0"))
    gated.write("a.txt")
    gated.add()
    (gated.folder / "signals.lock").unlink(missing_ok=True)
    (gated.folder / "signals.lock").mkdir()
    code, said = ask("pre-commit")
    assert (code, "refused by many" in said, "unrecorded" in said) == (1, True, True)


def test_a_climbing_warning_that_cannot_be_recorded_is_refused_to_an_agent(gated: Gated, ask: Ask) -> None:
    gated.policy(
        QUIET.replace("block", "prompt").replace("> 100", "> 0") + "escalation: {ladder: [prompt, block], after: 1}\n"
    )
    gated.write("a.txt")
    gated.add()
    (gated.folder / "signals.lock").unlink(missing_ok=True)
    (gated.folder / "signals.lock").mkdir()
    code, said = ask("pre-commit", env={"CLAUDECODE": "1"})
    assert code == 1
    assert "a warning that climbs must be recorded" in said
    assert "accepted" not in said and "blocks" not in said
    assert "(" not in said.partition("ahp note: many")[2].partition(":")[0]  # no id that could be answered
    assert ask("pre-commit")[0] == 0


def test_a_clean_commit_that_cannot_be_recorded_passes_with_a_note(gated: Gated, ask: Ask) -> None:
    gated.policy(QUIET)
    (gated.folder / "signals.lock").unlink(missing_ok=True)
    (gated.folder / "signals.lock").mkdir()
    code, said = ask("pre-commit")
    assert code == 0
    assert said.startswith("ahp: ")


def test_a_git_directory_that_cannot_be_written_refuses_with_the_reason(gated: Gated, ask: Ask) -> None:
    gated.policy(QUIET)
    (gated.root / ".git" / "ahp-token").mkdir()
    code, said = ask("pre-commit")
    assert code == 2
    assert "ahp-token is not a regular file" in said


def test_a_cache_that_cannot_be_written_still_judges(gated: Gated, ask: Ask) -> None:
    gated.write(".ahp/hooks.yaml", QUIET.replace("> 100", "> 0"))
    shutil.rmtree(gated.folder / "cache")
    (gated.folder / "cache").write_text("in the way\n")
    gated.write("a.txt")
    gated.add()
    code, said = ask("pre-commit")
    assert (code, "refused by many" in said) == (1, True)


def test_two_limits_are_the_design_s() -> None:
    assert githooks._INPUT_LIMIT == process.OUTPUT_LIMIT == 64 << 20
    assert files.Lock("x").timeout == 0.1


@pytest.mark.parametrize(("hook", "command"), [("pre-merge-commit", "git merge"), ("pre-push", "git push")])
def test_the_way_out_is_the_command_s_own(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, hook: str, command: str
) -> None:
    monkeypatch.setattr(failure.os, "isatty", lambda fd: True)
    failure.refuse(hook, AhpError("x"), Actor("human"))
    assert f"`{command} --no-verify`" in capfd.readouterr().err
    for other in (Actor("agent", "claude"), Actor("ci")):
        failure.refuse(hook, AhpError("x"), other)
        assert "--no-verify" not in capfd.readouterr().err
    failure.refuse("post-commit", AhpError("x"), Actor("human"))
    assert "--no-verify" not in capfd.readouterr().err


@pytest.fixture
def read_only(gated: Gated) -> Iterator[Callable[[Path], None]]:
    """Denies writing in a folder, to root too where the file system can."""
    denied: list[Path] = []

    def deny(folder: Path) -> None:
        if os.getuid():
            folder.chmod(0o500)
        elif not shutil.which("chattr") or subprocess.run(["chattr", "+i", folder], check=False).returncode:
            pytest.skip("root cannot be denied here")
        denied.append(folder)

    yield deny
    for folder in denied:
        if os.getuid():
            folder.chmod(0o700)
        else:
            subprocess.run(["chattr", "-i", folder], check=True)


def test_a_read_only_log_folder_warns_people_and_still_blocks(gated: Gated, read_only: Callable[[Path], None]) -> None:
    gated.policy(QUIET.replace("block", "prompt").replace("> 100", "> 0"))
    gated.write("a.txt")
    gated.add()
    (gated.folder / "signals.jsonl").chmod(0o400)
    read_only(gated.folder)
    said = gated.say("commit", "-q", "-m", "x")
    assert said.code == 0
    assert "warned by many" in said.text
    if os.getuid():
        assert "unrecorded" in said.text


def test_a_read_only_git_directory_is_refused_by_git_or_by_us(gated: Gated, read_only: Callable[[Path], None]) -> None:
    gated.policy(QUIET.replace("> 100", "> 0"))
    gated.write("a.txt")
    gated.add()
    head = gated.head()
    read_only(gated.root / ".git")
    assert gated.say("commit", "-q", "-m", "x").code != 0
    assert gated.head() == head


@pytest.mark.parametrize("descriptors", [11, 12, 13])  # with fewer no shell begins
def test_without_descriptors_a_commit_is_refused_in_our_words(gated: Gated, descriptors: int) -> None:
    gated.policy("version: 1\nrules:\n  s: {at: pre-commit, block: \"'f.txt' in files.changed\", message: no}\n")
    gated.write("f.txt")
    gated.add()
    limited = f"ulimit -n {descriptors}; exec .git/hooks/pre-commit"
    done = gated.run("sh", "-c", limited, env={"GIT_INDEX_FILE": ".git/index"})
    assert done.returncode in (1, 2)
    assert b"ahp: c" in done.stderr and b"a bug in ahp" not in done.stderr, done.stderr


def test_a_bundle_of_other_bytes_is_told_of_in_our_words(gated: Gated) -> None:
    (gated.folder / "cache" / "light.pyc").write_bytes(b"nothing that Python runs\n" * 100)
    gated.write("f.txt")
    gated.add()
    said = gated.say("commit", "-m", "x")
    assert said.code == 1
    assert "ahp: cannot judge this pre-commit: " in said.text and "ended with 1 and without an answer" in said.text


@pytest.mark.parametrize("name", ["GIT_TRACE", "GIT_TRACE_SETUP", "GIT_TRACE_PERFORMANCE"])
def test_a_trace_on_standard_output_is_not_read_as_an_answer(gated: Gated, name: str) -> None:
    gated.policy("version: 1\nrules:\n  s: {at: pre-commit, block: \"'f.txt' in files.changed\", message: no}\n")
    gated.write("good.txt")
    gated.add()
    said = gated.say("commit", "-qm", "x", env={name: "/dev/stdout"})
    assert said.code == 0 and "ahp" not in said.text.replace("ahp-", ""), said.text
    gated.write("f.txt")
    gated.add()
    assert "refused by s" in gated.say("commit", "-qm", "x", env={name: "/dev/stdout"}).text
