"""A policy and its tests, brought together: `.ahp/tests/*.yaml` of the project, or files named (design §10)."""

import os

from ahp.gate import trial
from ahp.policy import cases, layers
from ahp.policy.problems import PolicyError, Problem
from ahp.policy.rule import Policy
from ahp.policy.sources import FileSource, TextSource
from ahp.policy.yamltext import MAX_BYTES
from ahp.system import environ, files, git
from ahp.system.errors import AhpError
from ahp.system.git import NotARepository


def rehearse(paths: tuple[str, ...], policy_file: str | None) -> trial.Report:
    """Runs the tests in `paths`, or all of the project's, against its policy or that of `policy_file`.

    The user's and the local layer take no part: a test says the same on every machine. Raises PolicyError with the
    mistakes of policy and tests, AhpError when there is no test.
    """
    root = _root()
    policy = from_file(policy_file) if policy_file else _project(root)
    found = [(path, os.path.abspath(path)) for path in paths] or _of_project(root)
    if not found:
        raise AhpError(f"there are no tests: write {cases.FOLDER}/NAME.yaml (docs/testing-policies.md)")
    read: list[cases.Case] = []
    problems: list[Problem] = []
    for name, path in found:
        try:
            read += cases.read(files.read(path, cases.MAX_BYTES) or b"", name, policy)
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(problems)
    return trial.run(policy, read)


def from_file(path: str) -> Policy:
    """The policy in one file by itself, which may extend packs. Raises PolicyError, AhpError."""
    return layers.load(TextSource(files.read(os.path.abspath(path), MAX_BYTES) or b"", path))


def _project(root: str) -> Policy:
    source = FileSource(root)
    source.paths = {"project": source.paths["project"]}
    return layers.load(source)


def _root() -> str:
    try:
        return git.discover(os.getcwd(), environ.current()).root or os.getcwd()
    except NotARepository:
        return os.getcwd()


def _of_project(root: str) -> list[tuple[str, str]]:
    folder = os.path.join(root, cases.FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".yaml", ".yml")))
    except FileNotFoundError:
        return []
    return [(f"{cases.FOLDER}/{name}", os.path.join(folder, name)) for name in names]
