"""What a box and a snapshot cost: medians of interleaved rounds, each beside what it is measured against."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from ahp.box import engine, place, session, table
from ahp.box.quarantine import Copy
from ahp.box.saved import Store
from ahp.system import environ, git
from bench.measure import real_time

FILES = 10_000
POLICY = "version: 1\nrules: {r: {at: pre-commit, prompt: files.changed_count > 30}}\n"
# What is measured, its limit, and the sum of what it is measured against.
BARS = [
    ("first boxed call", 1.0, ("bwrap, the same mounts", "bare Python", "bare Python")),
    ("later boxed call", 1.0, ("hook of a call", "bare Python")),
    ("sync, nothing moved", 1.0, ("git for-each-ref",)),
    ("commit in the box", 2.0, ("commit outside",)),
    ("snapshot, nothing new", 1.2, ("git status",)),
    ("snapshot, a new file", 1.2, ("git status",)),
]


def run(*argv: str, cwd: Path, **more: object) -> None:
    """Runs a program to its end. Raises CalledProcessError."""
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **more}
    subprocess.run(argv, cwd=cwd, check=True, **given)  # type: ignore[call-overload]


def project(root: Path, count: int) -> git.Repository:
    """A repository with ahp's hooks and so many files, 70 of them changed and 30 untracked."""
    root.mkdir()
    (root / ".ahp").mkdir()
    (root / ".ahp/hooks.yaml").write_text(POLICY)
    for number in range(count):
        folder = root / f"package_{number % 100}"
        folder.mkdir(exist_ok=True)
        (folder / f"module_{number}.py").write_text(f"value = {number}\n" * 20)
    run("git", "init", "-q", "-b", "main", cwd=root)
    for name in ("user.name", "user.email"):
        run("git", "config", name, "bench", cwd=root)
    run("git", "add", "-A", cwd=root)
    run("git", "commit", "-qm", "begin", cwd=root)
    run("git", "checkout", "-qb", "topic", cwd=root)
    run(str(Path(sys.executable).with_name("ahp")), "install", "git", "claude", cwd=root)
    for number in range(min(70, count)):
        (root / f"package_{number % 100}/module_{number}.py").write_text("changed = 1\n")
    for number in range(30):
        (root / f"new_{number}.py").write_text("new = 1\n")
    return git.discover(str(root), environ.current())


def bwrap_alone(root: Path, repo: git.Repository, folder: str) -> None:
    """Bubblewrap with the mounts that a box has, around `true`."""
    plan = table.plan(str(root), repo, {}, environ.current(), [], f"{folder}/git")
    pid = os.fork()
    if not pid:
        try:
            engine._enter_namespaces()  # the same, so that only what ahp adds is beside it
            argv = [engine.bwrap(), *engine.ISOLATED, *engine._WHOLE, *engine._processes_read_only(), "--new-session"]
            for mount in plan.mounts:
                argv += engine._arguments(mount, folder)
            os.execve(argv[0], [*argv, "--", "/bin/true"], plan.env)
        finally:
            os._exit(99)
    if os.waitpid(pid, 0)[1]:
        raise RuntimeError("bubblewrap failed")


def measured(root: Path, repo: git.Repository, large: Path) -> dict[str, Callable[[int], object]]:
    """What is measured, by name; each is given the number of its round."""
    home = {**os.environ, "CLAUDE_PROJECT_DIR": str(root)}

    def boxed(name: str, text: str) -> None:
        run(*place.launcher(str(root), name, os.urandom(4).hex(), "{}", "/bin/bash", text), cwd=root)

    boxed("later", "(sleep 1000 &) > /dev/null 2>&1")
    settings = json.loads((root / ".claude/settings.json").read_text())
    hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "cwd": str(root)}
    told = json.dumps({**call, "tool_input": {"command": "true"}})
    copy = Copy(session.place_of(repo, "later"), repo, "later")

    def sync(_: int) -> None:
        copy.refresh()
        copy.sync()

    def snapshot(number: int) -> None:
        (large / f"new_{number % 30}.py").write_text(f"new = {time.time_ns()}\n")
        store.save("s", "x")

    store = Store(git.discover(str(large), environ.current()))
    store.save()
    commit = "git commit -q --allow-empty -m more"
    return {
        "bare Python": lambda _: run(sys.executable, "-I", "-S", "-c", "", cwd=root),
        "bwrap, the same mounts": lambda _: bwrap_alone(root, repo, session.place_of(repo, "later")),
        "first boxed call": lambda _: boxed(f"first {time.time_ns()}", "true"),
        "later boxed call": lambda _: boxed("later", "true"),
        "hook of a call": lambda _: run("/bin/sh", "-c", f"{hook} <<'E'\n{told}\nE", cwd=root, env=home),
        "git for-each-ref": lambda _: run("git", "for-each-ref", cwd=root),
        "sync, nothing moved": sync,
        "commit outside": lambda _: run("sh", "-c", commit, cwd=root),
        "commit in the box": lambda _: boxed("later", commit),
        "git status": lambda _: run("git", "--no-optional-locks", "status", cwd=large),
        "snapshot, nothing new": lambda _: store.save("s", "x"),
        "snapshot, a new file": snapshot,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.box", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds: a first look, not a figure")
    quick = parser.parse_args().quick
    try:
        engine.try_out()
    except table.CannotBox as error:
        print(f"bench: nothing is measured: {error}")
        return 0
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        root, large = Path(folder).resolve() / "small", Path(folder).resolve() / "large"
        repo = project(root, 500)
        project(large, 1000 if quick else FILES)
        acts = measured(root, repo, large)
        with real_time():
            for number in range(-1, 5 if quick else 20):
                for name, act in acts.items():
                    begun = time.perf_counter()
                    act(number)
                    if number >= 0:
                        times.setdefault(name, []).append((time.perf_counter() - begun) * 1e3)
    for name, found in times.items():
        print(f"{name:24} {median(found):8.1f} ms")
    for name, limit, against in BARS:
        ratio = median(
            mine / sum(its) for mine, *its in zip(times[name], *[times[one] for one in against], strict=True)
        )
        print(f"{name} / {' + '.join(against)}: {ratio:.2f}, limit {limit}: {'kept' if ratio <= limit else 'NOT KEPT'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
