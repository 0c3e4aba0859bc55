"""Checks that are a command: those that `.ahp/agent.yaml` names with their report, and those that a build file implies.

Of the latter only the exit code is read, but for Go and Cargo, which tell what they run (`build_reports`).
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ahp.facts.policy import AGENT_FILE
from ahp.runner.verification import build_reports, outcomes
from ahp.runner.verification.check import REPORT, Check, Ran
from ahp.runner.verification.project import Project, joined, tops
from ahp.runner.verification.result import DETAILS, VerificationResult, detail
from ahp.system import process

_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)
_TAP_LINE = re.compile(r"^(not )?ok\b[ \t\d]*-?[ \t]*([^#\n]*)(?:#[ \t]*(skip|todo))?", re.IGNORECASE | re.MULTILINE)
_TAP_PLAN = re.compile(r"^1\.\.(\d{1,9})", re.MULTILINE)
# What a build file implies, by name: the file, what has to stand in it, the command. The upper one of several files is
# the project's. A wrapper beside it (`mvnw`) goes before the program on the PATH.
_IMPLIED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "go-test": (r"go\.mod", "", ("go", "test", "-json", "./...")),
    "cargo-test": (r"Cargo\.toml", "", ("cargo", "test", "--workspace", "--no-fail-fast")),
    "maven-test": (r"pom\.xml", "", ("mvn", "-B", "test")),
    "gradle-test": (r"build\.gradle(?:\.kts)?", "", ("gradle", "test")),
    "rake-test": (r"Rakefile", r"(?i)test", ("rake", "test")),
    "composer-test": (r"composer\.json", r'"test"\s*:', ("composer", "test")),
    "dotnet-test": (r".+\.slnx?", "", ("dotnet", "test")),
    "mix-test": (r"mix\.exs", "", ("mix", "test")),
}
IMPLIED = tuple(_IMPLIED)
_REPORTS: dict[str, Callable[..., VerificationResult]] = {
    "go-test": build_reports.read_go,
    "cargo-test": build_reports.read_cargo,
}
_EACH = ("go-test",)  # a module of Go is no part of one above it
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in make's own order


class NamedCheck(BaseModel):
    """A check that the settings name."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")
    """What `ahp verify` calls it."""

    run: str | tuple[str, ...] = Field(min_length=1)
    """The program and its arguments, or a line for `sh`. `{report}` stands for a file for its report."""

    kind: Literal["tests", "lint"] = "tests"
    """The checks of this kind that ahp would find are not made."""

    report: Literal["exit", "junit", "tap", "sarif"] = "exit"
    """What tells of its findings: the file `{report}`, else what it prints. `exit` is the exit code alone."""

    directory: str = "."
    """Where it runs, below the project's folder."""


def named_check(named: NamedCheck) -> Check:
    """A check of the settings."""
    argv = ("sh", "-c", named.run) if isinstance(named.run, str) else tuple(named.run)
    in_file = any(REPORT in word for word in argv)
    return Check(named.name, named.kind, named.directory, argv, partial(_read, named=named, in_file=in_file))


def _read(ran: Ran, named: NamedCheck, in_file: bool) -> VerificationResult:
    if missing := outcomes.not_started(ran, named.name):
        return missing
    data = ran.report if in_file else ran.out
    if named.report == "junit":
        return outcomes.of_junit(ran, named.name, data=data)
    if named.report == "sarif":
        return outcomes.of_sarif(ran, named.name, data or b"")
    if named.report == "tap":
        return _of_tap(ran, named.name, (data or b"").decode("utf-8", "replace"))
    return replace(outcomes.by_exit_code(ran, named.name), cautions=())  # whoever named it wants no more


def _of_tap(ran: Ran, what: str, text: str) -> VerificationResult:
    """What TAP 14 tells at its top level: subtests are indented."""
    lines = [(bool(found[0]), found[1].strip(), found[2].lower()) for found in _TAP_LINE.findall(text)]
    plan = _TAP_PLAN.search(text)
    if plan is None or "\nBail out!" in f"\n{text}" or int(plan[1]) > len(lines):
        return outcomes.crash(ran, what, f"{what} ended with {ran.code} before its tests had run")
    failed = [name for bad, name, directive in lines if bad and directive != "todo"]
    skipped = sum(directive == "skip" for _, _, directive in lines)
    details = [detail(ran.directory, None, f"{name or 'a test'} failed", text) for name in failed[:DETAILS]]
    return outcomes.of_counts(ran, what, len(lines) - len(failed) - skipped, len(failed), details, skipped=skipped)


def implied_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The tests of build tools whose files are there."""
    found: list[Check] = []
    for name, (file, holds, argv) in _IMPLIED.items():
        folders = project.folders_where(re.compile(file).fullmatch)
        for folder in folders if name in _EACH else tops(folders):
            seen = next(one for one in sorted(project.names(folder)) if re.fullmatch(file, one))
            if re.search(holds, project.text(joined(folder, seen))):
                found.append(_command(project, name, folder, argv, seen, env))
    return found


def make_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """`make test` or `make check`, where the makefile at the root has such a target."""
    makefile = next((name for name in _MAKEFILES if project.has(name)), "")
    target = _TARGET.search(project.text(makefile)) if makefile else None
    return [_command(project, "make-test", ".", ("make", target[1]), makefile, env)] if target else []


def _command(project: Project, name: str, folder: str, argv: Sequence[str], file: str, env: Mapping[str, str]) -> Check:
    wrapper = os.path.join(project.root, folder, f"{argv[0]}w")
    program = wrapper if os.access(wrapper, os.X_OK) else process.find(argv[0], dict(env))
    if program is None:
        said = f"{joined(folder, file)} is there, and {argv[0]} is not installed"
        how = f"Install {argv[0]}, or name a command under `checks:` in {AGENT_FILE}."
        return Check(name, "tests", folder, missing=said, suggestion=how)
    read: Callable[[Ran], VerificationResult] = partial(outcomes.by_exit_code, what=" ".join(argv[:2]), file=file)
    if name in _REPORTS:
        read = partial(_REPORTS[name], program=program, env=env)
    return Check(name, "tests", folder, (program, *argv[1:]), read)
