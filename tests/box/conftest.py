"""A project with a box around what a test runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.box import engine, place
from ahp.box.table import CannotBox
from tests.conftest import Repo

POLICY = """\
version: 1
rules:
  in-a-box: {at: pre-tool-use, control: tool.name == 'shell', action: {type: sandbox}}
"""


@pytest.fixture(scope="session")
def engine_here() -> None:
    """Skips where no box can start, and says why."""
    try:
        engine.try_out()
    except CannotBox as error:
        pytest.skip(str(error))


class Boxed:
    """Runs texts of a shell in the box of a repository."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo

    def start(self, script: str, session: str = "", keys: dict[str, list[str]] | None = None, **more: object):
        """The launcher as an agent's call starts it, still running."""
        argv = place.launcher(str(self.repo.root), session, os.urandom(4).hex())
        argv += [json.dumps(keys or {}), "/bin/bash", script]
        given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(argv, **{"cwd": self.repo.root, **given, **more})  # type: ignore[call-overload]

    def __call__(
        self, text: str, session: str = "", keys: dict[str, list[str]] | None = None, **more: object
    ) -> subprocess.CompletedProcess[str]:
        launcher = self.start(text, session, keys, **more)
        out, err = launcher.communicate(timeout=120)
        return subprocess.CompletedProcess(launcher.args, launcher.returncode, out, err)


@pytest.fixture
def boxed(repo: Repo, engine_here: None) -> Boxed:
    repo.commit("begin", **{"a.txt": "a\n"})
    return Boxed(repo)


@pytest.fixture
def tree() -> Callable[[Path], list[str]]:
    """What lies in a folder, but for git's directory."""

    def listed(folder: Path) -> list[str]:
        # Not `rglob`: a box that ends meanwhile takes its covers away, and os.walk passes over them.
        named = (os.path.join(at, name) for at, folders, files in os.walk(folder) for name in [*folders, *files])
        found = (os.path.relpath(path, folder) for path in named)
        return sorted(path for path in found if path.split(os.sep)[0] != ".git")

    return listed
