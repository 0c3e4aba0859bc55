"""Hooks as git starts them, and the same code inside this process."""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.hosts.git import main as hooks
from ahp.system import environ
from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

Ask = Callable[..., tuple[int, str]]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Gated]:
    """A repository with the gate, installed once and copied by each test."""
    made: list[Gated] = []

    def get() -> Gated:
        if not made:
            made.append(making.make(tmp_path_factory.mktemp("template") / "repo"))
        return made[0]

    return get


@pytest.fixture
def gated(template: Callable[[], Gated], tmp_path: Path) -> Gated:
    """A repository with one commit and the gate installed."""
    return making.copy(template(), tmp_path / "repo")


class _Ended(BaseException):
    def __init__(self, code: int) -> None:
        self.code = code


@pytest.fixture
def ask(gated: Gated, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """`ask("pre-commit", *arguments, stdin=b"", env={}, parent="1")`: one hook in this process, its code and words."""

    def run(
        name: str, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None, **baked: Any
    ) -> tuple[int, str]:
        genesis = baked.get("genesis", gated.log("genesis")[0]["id"] if gated.log("genesis") else "")
        parent, user = baked.get("parent", "1"), str(baked.get("user", gated.user_policy))
        monkeypatch.setattr(environ, "current", lambda: {**os.environ, **(env or {})})
        monkeypatch.setattr(sys, "argv", ["ahp", name, parent, genesis, user, "git", *arguments])
        monkeypatch.chdir(baked.get("at", gated.root))

        def end(code: int) -> None:
            raise _Ended(code)

        monkeypatch.setattr(posix, "_exit", end)
        reading, writing = os.pipe()
        os.write(writing, stdin)
        os.close(writing)
        before = os.dup(0)
        os.dup2(reading, 0)
        capfd.readouterr()
        try:
            hooks.main(baked.get("bundle", ""))
        except _Ended as ended:
            out, err = capfd.readouterr()
            assert not out
            return ended.code, err
        finally:
            os.dup2(before, 0)
            os.close(before)
            os.close(reading)
        raise AssertionError("the hook did not end the process")

    return run
