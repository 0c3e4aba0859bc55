"""Nobody is locked out: what the screen says to do next is done here to the letter, and it works (design §4, §9)."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.system import installed
from tests.hosts.git.gated import Gated, Said, shims
from tests.hosts.git.test_failure import at_a_terminal
from tests.hosts.git.unprivileged import drop_for_good

POLICY = """\
version: 1
rules:
  names: {at: pre-commit, each: p in files.changed, block: "p.startswith('bad')", message: bad}
"""
GONE = "/no/such/python"


@pytest.fixture
def gated(gated: Gated) -> Gated:
    gated.policy(POLICY)
    return gated


def sh(gated: Gated, command: str, path: str = "", before: Callable[[], None] | None = None) -> Said:
    """What a person types at the shell, in the repository."""
    env = {**os.environ, **({"PATH": path} if path else {})}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=gated.root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=before,
    )
    return Said(done.returncode, done.stdout + done.stderr)


def stage(gated: Gated, name: str = "good.txt") -> None:
    gated.write(name, os.urandom(8).hex())
    gated.add(name)


def commits_quietly(gated: Gated, path: str = "") -> bool:
    """Whether an ordinary commit passes without a word, and one that the policy refuses does not."""
    stage(gated)
    quiet = sh(gated, "git commit -q -m x", path) == Said(0, "")
    stage(gated, "bad.txt")
    refused = "refused by names" in sh(gated, "git commit -q -m x", path).text
    gated.git("rm", "-q", "--cached", "bad.txt")
    return quiet and refused


def with_python(gated: Gated, python: str) -> None:
    """Bakes another interpreter into the shims; with it the program that it started is gone."""
    for path in shims(gated):
        text = re.sub("^python=.*", f"python={shlex.quote(python)}", path.read_text(), flags=re.M)
        path.write_text(re.sub("^program=.*", "program=/no/such/bin/ahp", text, flags=re.M))


def advised(text: str) -> str:
    """The command after `fix: `, to the end of its line or parenthesis."""
    return re.search(r"fix: ([^\n)]+)", text)[1]  # type: ignore[index]


def doctor(gated: Gated, check: str, before: Callable[[], None] | None = None) -> str:
    """What `ahp doctor`, which the screen names, says to do about one check."""
    said = sh(gated, "ahp doctor", before=before)
    assert said.code == 1
    (line,) = [line for line in said.text.splitlines() if line.startswith("wrong") and check in line]
    return advised(line)


@pytest.mark.slow
def test_the_interpreter_is_gone_and_ahp_is_on_the_path(gated: Gated) -> None:
    with_python(gated, GONE)
    stage(gated, "bad.txt")
    said = sh(gated, "git commit -m x")
    assert said.code == 1
    assert "the one on PATH judges" in said.text and "refused by names" in said.text
    gated.git("rm", "-q", "--cached", "bad.txt")
    assert sh(gated, advised(said.text)).code == 0
    assert commits_quietly(gated)


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH without ahp, on which `pip install` puts one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    link = shlex.join([str(shutil.which("ln")), "-s", str(Path(sys.executable).with_name("ahp")), str(folder / "ahp")])
    (folder / "pip").write_text(f'#!/bin/sh\n[ "pip $*" = {shlex.quote(installed.command(here=False))} ] && {link}\n')
    (folder / "pip").chmod(0o755)
    for name in ("git", "sh", "cat", "rm"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return str(folder)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["gone", "broken"])
def test_the_interpreter_is_gone_or_cannot_start_and_there_is_no_other(
    gated: Gated, bare_path: str, tmp_path: Path, how: str
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'libpython: cannot open shared object file' >&2\nexit 127\n")
    broken.chmod(0o755)
    with_python(gated, GONE if how == "gone" else str(broken))
    stage(gated)
    said = sh(gated, "git commit -m x", bare_path)
    assert said.code == 1
    assert "ahp: cannot judge this pre-commit: " in said.text
    assert advised(said.text) == f"{installed.command(here=False)} && ahp install git"
    done = sh(gated, advised(said.text), bare_path)
    assert done.code == 0, done.text
    assert commits_quietly(gated, bare_path)


def test_a_person_without_any_ahp_gets_past_by_the_command_on_the_screen(gated: Gated, bare_path: str) -> None:
    with_python(gated, GONE)
    stage(gated)
    assert "--no-verify" not in sh(gated, "git commit -m x", bare_path).text
    assert "--no-verify" not in at_a_terminal(gated, "commit", "-m", "x", env={"PATH": bare_path, "CLAUDECODE": "1"})[1]
    code, said = at_a_terminal(gated, "commit", "-m", "x", env={"PATH": bare_path})
    assert code == 1
    command = re.search(r"may go on with `([^`]+)`\n", said)[1]  # type: ignore[index]
    assert sh(gated, f"{command} -q -m x", bare_path).code == 0


@pytest.mark.parametrize("hook", ["commit-msg", "pre-push", "post-commit"])
def test_every_hook_says_so_when_its_interpreter_cannot_start(gated: Gated, tmp_path: Path, hook: str) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nkill -9 $$\n")
    broken.chmod(0o755)
    with_python(gated, str(broken))
    (path,) = [path for path in shims(gated) if path.name.startswith(hook)]
    said = sh(gated, f"{path} message </dev/null")
    assert said.code == 2
    assert f"cannot judge this {hook}: {broken} ended with 137" in said.text
    assert "fix: try again; it was killed by signal 9" in said.text
    assert "pip install" not in said.text


def test_a_broken_policy_is_corrected_as_the_screen_says(gated: Gated) -> None:
    gated.write(".ahp/hooks.yaml", POLICY.replace("at: pre-commit", "at: pre-comit"))
    stage(gated)
    said = sh(gated, "git commit -m x")
    assert said.code == 1
    file, line, wrong, right = re.search(  # type: ignore[misc]
        r"(\S+):(\d+):\d+: .*`(\S+)`; did you mean `(\S+)`", said.text
    ).groups()
    lines = (gated.root / file).read_text().splitlines(keepends=True)
    lines[int(line) - 1] = lines[int(line) - 1].replace(wrong, right)
    (gated.root / file).write_text("".join(lines))
    assert "`ahp policy lint` tells when it is right" in said.text
    assert sh(gated, "ahp policy lint").code == 0
    assert commits_quietly(gated)


def test_a_person_gets_past_a_broken_policy_by_the_command_on_the_screen(gated: Gated) -> None:
    gated.write(".ahp/hooks.yaml", "version: 1\nrules: 7\n")
    stage(gated)
    code, said = at_a_terminal(gated, "commit", "-m", "x")
    assert code == 1
    command = re.search(r"may go on with `([^`]+)`", said)[1]  # type: ignore[index]
    head = gated.head()
    assert sh(gated, f"{command} -q -m x").code == 0
    assert gated.head() != head


@pytest.mark.slow
def test_a_git_directory_that_takes_no_log_is_mended_as_doctor_says(gated: Gated) -> None:
    for path in (*gated.folder.rglob("*"), gated.folder):
        path.chmod(path.stat().st_mode & ~0o222)
    stage(gated)
    said = sh(gated, "git commit -m x", before=drop_for_good)
    assert said.code == 0  # nothing is refused for want of a log, but it is said
    assert "cannot be written" in said.text and "`ahp doctor` says what to do" in said.text
    stage(gated, "bad.txt")
    assert "refused by names" in sh(gated, "git commit -m x", before=drop_for_good).text
    gated.git("rm", "-q", "--cached", "bad.txt")
    mend = doctor(gated, "git directory", before=drop_for_good)
    assert sh(gated, mend, before=drop_for_good).code == 0
    stage(gated)
    assert sh(gated, "git commit -q -m x", before=drop_for_good) == Said(0, "")


FULL = """\
mount -t tmpfs -o size=4m none {place} || exit 99
cp -R {root}/. {place} && cd {place} || exit 99
echo more >more.txt && git add more.txt
cat /dev/zero >filler 2>/dev/null
git commit -m x 2>&1 && echo PASSED
ahp doctor
rm filler
git commit -q -m x && echo THEN PASSED; ahp log verify
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="making a small disk needs unshare")
def test_a_full_disk_is_mended_as_doctor_says(gated: Gated, tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    script = FULL.format(place=shlex.quote(str(place)), root=shlex.quote(str(gated.root)))
    said = sh(gated, f"unshare --mount sh -c {shlex.quote(script)}")
    if "THEN" not in said.text and ("unshare" in said.text or "mount" in said.text):
        pytest.skip("this user may not make a small disk")
    first, _, then = said.text.partition("wrong  hooks")
    assert "\nPASSED" not in first
    assert "No space left on device" in first
    assert "fix: make room on the disk, or see" in then  # the script removes what fills it
    assert "THEN PASSED" in then
    assert "ahp: cannot judge" not in then
