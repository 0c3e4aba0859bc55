"""Small projects for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ahp.runner.verification.check import Check, Ran
from ahp.runner.verification.project import Project
from ahp.runner.verification.project_verifier import ProjectVerifier, environment, find_checks
from ahp.runner.verification.result import VerificationResult
from ahp.system import environ

# Without what the tests' own interpreter adds to pytest.
PYTEST = "[pytest]\naddopts = -p no:xdist -p no:cov -p no:hypothesispytest\n"


def write(root: Path, **files: str) -> None:
    """Writes files by their path; a double underscore in a name stands for nothing."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def program(path: Path, text: str) -> str:
    """A program in sh."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def checks(root: Path) -> dict[str, Check]:
    """The checks of a project by name and folder: `pytest in lib`, `pytest` at the root."""
    found = find_checks(Project(str(root)), environment(environ.current()))
    return {one.name if one.directory == "." else f"{one.name} in {one.directory}": one for one in found}


def verify(root: Path, *only: str, seconds: float = 100.0, **settings: Any) -> VerificationResult:
    """What verification finds now."""
    return ProjectVerifier(str(root), environ.current(), **settings).verify(seconds, only)


def ran(
    code: int = 0,
    out: str = "",
    err: str = "",
    report: str | None = None,
    folder: str = "/p",
    record: str | None = None,
) -> Ran:
    """How a program ended."""
    written = [None if text is None else text.encode() for text in (report, record)]
    return Ran(code, out.encode(), err.encode(), written[0], folder, ".", written[1])
