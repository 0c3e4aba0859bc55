"""How a command runs in a box: as outside, and with nothing left behind."""

from __future__ import annotations

import os
import pty
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.box import session, start
from tests.conftest import PROJECT, Repo

from .conftest import Boxed

pytestmark = pytest.mark.box


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("true", 0),
        ("exit 3", 3),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
        ("nothing-like-it", 127),
        ("/etc", 126),
    ],
)
def test_the_exit_code_is_the_commands(boxed: Boxed, text: str, code: int) -> None:
    assert boxed(text).returncode == code
    assert boxed(text, "s").returncode == code


def test_streams_are_the_callers(boxed: Boxed, tmp_path: Path) -> None:
    with open(tmp_path / "out", "wb") as out:
        launcher = boxed.start("cat; echo err >&2", stdin=subprocess.PIPE, stdout=out)
        _, err = launcher.communicate("in\n", timeout=60)
    assert ((tmp_path / "out").read_text(), err) == ("in\n", "err\n")


def test_a_folder_as_a_stream_is_no_way_out() -> None:
    folder = os.open("/", os.O_RDONLY)
    given = session._given(folder)
    assert os.readlink(f"/proc/self/fd/{given}") == "/dev/null"
    os.close(folder)
    os.close(given)


def test_a_gigabyte_of_output_arrives(boxed: Boxed) -> None:
    launcher = boxed.start("head -c 1000000000 /dev/zero", text=False)
    assert launcher.stdout is not None
    size = 0
    while part := launcher.stdout.read(1 << 20):
        size += len(part)
    assert (size, launcher.wait(60)) == (1_000_000_000, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_reaches_the_command(boxed: Boxed, number: int) -> None:
    name = signal.Signals(number).name.removeprefix("SIG")
    launcher = boxed.start(f"trap 'echo caught; exit 7' {name}; echo ready; while :; do sleep 0.05; done")
    assert launcher.stdout is not None and launcher.stdout.readline() == "ready\n"
    launcher.send_signal(number)
    assert (launcher.communicate(timeout=60)[0], launcher.returncode) == ("caught\n", 7)


def test_a_launcher_that_is_killed_takes_its_command_along(boxed: Boxed, tree: Callable[[Path], list[str]]) -> None:
    launcher = boxed.start("echo $$ > pid; echo ready; sleep 1000", "s")
    assert launcher.stdout is not None and launcher.stdout.readline() == "ready\n"
    launcher.kill()
    launcher.wait()
    while tree(boxed.repo.root) != ["a.txt", "pid"]:
        time.sleep(0.01)
    assert boxed(f"{ARGUMENTS} | grep -c '[s]leep 1000'", "s").stdout == "0\n"


def test_two_hundred_calls_and_twenty_at_once(boxed: Boxed, tree: Callable[[Path], list[str]]) -> None:
    for number in range(200):
        assert boxed(f"echo {number}", "s").stdout == f"{number}\n"
    many = [boxed.start(f"sleep 0.1; echo {number}", "s") for number in range(20)]
    assert [one.communicate(timeout=120)[0] for one in many] == [f"{number}\n" for number in range(20)]
    assert tree(boxed.repo.root) == ["a.txt"]


ARGUMENTS = "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"


def test_a_session_keeps_its_processes_and_its_folders(boxed: Boxed, tree: Callable[[Path], list[str]]) -> None:
    waits = "while [ ! -e stop ]; do sleep 0.02; done"
    assert boxed(f"echo kept > /tmp/note; (sh -c '{waits}; true') > /dev/null 2>&1 &", "s").returncode == 0
    assert boxed(f"cat /tmp/note; {ARGUMENTS} | grep -c '[w]hile'", "s").stdout == "kept\n1\n"
    assert boxed("cat /tmp/note", "t").stdout == ""
    (boxed.repo.root / "stop").touch()
    while tree(boxed.repo.root) != ["a.txt", "stop"]:
        time.sleep(0.01)


def test_another_table_is_another_box(boxed: Boxed) -> None:
    boxed("(sleep 1000 &) > /dev/null 2>&1", "s")
    assert boxed("cat a.txt", "s", {"hidden": ["a.txt"]}).stdout == ""
    assert boxed(f"cat a.txt; {ARGUMENTS} | grep -c '[s]leep 1000'", "s").stdout == "a\n0\n"


STOP = b"\x1a"


def test_a_terminal_has_job_control_and_takes_no_typing(boxed: Boxed) -> None:
    ahp = [sys.executable, "-c", "from ahp.cli.main import main; main()", "box", "--", "bash", "--norc", "-i"]
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(boxed.repo.root)
        os.environ["PYTHONPATH"] = str(PROJECT)
        os.execvpe(ahp[0], ahp, os.environ)
    said = b""

    def after(typed: bytes, expected: bytes) -> bytes:
        nonlocal said
        seen = len(said)
        os.write(terminal, typed)
        while expected not in said[seen:]:
            if select.select([terminal], [], [], 2)[0]:
                said += os.read(terminal, 1 << 16)
            elif typed == STOP:  # between two commands nothing is there to be stopped
                os.write(terminal, typed)
        return said[seen:]

    after(b"echo be'gin'; sleep 1000\n", b"begin")
    after(STOP, b"Stopped")
    after(b"kill %1; echo kil'led'\n", b"killed")
    typing = b"python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'; echo do'ne'\n"
    assert b"PermissionError" in after(typing, b"done")
    os.write(terminal, b"exit 5\n")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
    assert b"no job control" not in said


@pytest.mark.skipif(
    os.getuid() != 0 or not os.path.exists("/usr/bin/setpriv"), reason="only root can become another user"
)
def test_an_ordinary_user_has_a_box(tmp_path: Path, engine_here: None) -> None:
    import shutil

    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no Python that another user can run")
    place = Path("/var/tmp") / f"ahp-test-{os.getpid()}"
    try:
        shutil.copytree(PROJECT / "ahp", place / "ahp", ignore=shutil.ignore_patterns("__pycache__"))
        repo = Repo(place / "project")
        repo.root.mkdir()
        repo.git("init", "-q")
        repo.commit("begin", **{"a.txt": "a\n"})
        (place / "home").mkdir()
        for folder, folders, names in os.walk(place):
            for name in [".", *folders, *names]:
                os.chown(os.path.join(folder, name), 65534, 65534)
        argv = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", python, "-I", "-S"]
        argv += [str(place / "ahp/box/start.py"), "", str(repo.root), "s", "1", "{}", "/bin/sh"]
        text = "id -u; echo b > b.txt; (: > /etc/x); (echo x > .git/HEAD); grep CapEff /proc/self/status"
        env = {"PATH": "/usr/bin:/bin", "HOME": str(place / "home")}
        done = subprocess.run([*argv, text], cwd=repo.root, env=env, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[0] == "65534", done.stderr
        assert done.stdout.splitlines()[-1].endswith("0000000000000000")
        assert (repo.root / ".git/HEAD").read_text() == "ref: refs/heads/main\n"
        assert sorted(os.listdir(repo.root)) == [".git", "a.txt", "b.txt"]
    finally:
        shutil.rmtree(place)


def test_a_box_that_cannot_start_runs_nothing(boxed: Boxed) -> None:
    (boxed.repo.root / ".git/ahp-box").write_text("no folder\n")
    done = boxed("touch x")
    assert (done.returncode, (boxed.repo.root / "x").exists()) == (session.CANNOT, False)
    assert "nothing was run" in done.stderr


def test_the_socket_and_the_folders_are_the_owners_alone(boxed: Boxed) -> None:
    boxed("true", "s")
    (folder,) = (one for one in (boxed.repo.root / ".git/ahp-box").iterdir() if one.is_dir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert start.INSIDE.startswith("/run/")
