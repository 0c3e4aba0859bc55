"""Tasks across files in ten projects, by models that do eight things with them: real tools, gate and verification."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.run_state import NO_EVIDENCE
from ahp.runner.scripted import ScriptedModel
from ahp.runner.tools.catalog import standard_tools
from tests.conftest import Repo
from tests.runner.runs import DONE, call
from tests.runner.verification.projects import PYTEST
from tests.runner.verification.test_node_checks import linked

NOUNS = ["shape", "order", "price", "route", "score", "token", "event", "field", "batch", "limit"]
LANGUAGES = ["python"] * 4 + ["typescript"] * 3 + ["mixed"] * 3


class Project:
    """One project: a name is to change in the file that has it and in those that use it; tests say whether it did."""

    def __init__(self, noun: str, language: str) -> None:
        self.noun, self.language = noun, language
        self.task = f"Rename size to amount in every file of the {noun}s; the report has to use it, too."
        self.files: dict[str, str] = {"README.md": f"# {noun}s\n"}
        self.tests: list[str] = []
        if language in ("python", "mixed"):
            self.files |= {
                "pytest.ini": PYTEST,
                f"{noun}s.py": "def size(items):\n    return len(items)\n",
                "report.py": f"from {noun}s import size\n\n\ndef line(items):\n    return f'{{size(items)}} {noun}s'\n",
                "test_report.py": f"import report\nimport {noun}s\n\n\ndef test_line():\n"
                f"    assert {noun}s.amount([1, 2]) == 2\n    assert report.line([1]) == '1 {noun}s'\n"
                f"    assert not hasattr({noun}s, 'size')\n",
            }
            self.tests.append("test_report.py")
        if language in ("typescript", "mixed"):
            self.files |= {
                ".gitignore": "node_modules\n",
                "package.json": json.dumps({"type": "module", "devDependencies": {"vitest": "3"}}),
                f"{noun}s.ts": "export const size = (items: number[]): number => items.length;\n",
                "report.ts": f"import {{ size }} from './{noun}s';\n\n"
                f"export const line = (items: number[]): string => `${{size(items)}} {noun}s`;\n",
                "report.test.ts": "import { expect, test } from 'vitest';\n"
                f"import * as all from './{noun}s';\nimport {{ line }} from './report';\n\n"
                "test('line', () => {\n  expect(all).toHaveProperty('amount');\n"
                f"  expect(line([1])).toBe('1 {noun}s');\n}});\n",
            }
            self.tests.append("report.test.ts")

    @property
    def sources(self) -> list[str]:
        """The files to change, those that others use first."""
        return [name for name in self.files if name.endswith((".py", ".ts")) and name not in self.tests]

    def right(self, path: str) -> str:
        return self.files[path].replace("size", "amount")

    def wrong(self, path: str) -> str:
        return self.files[path].replace("size", "many")


def plan(project: Project) -> str:
    """A step a file, each behind the former."""
    listed = [
        {"id": f"s{at}", "description": f"change {path}", "tools_expected": ["write_file"]}
        for at, path in enumerate(project.sources)
    ]
    for former, one in itertools.pairwise(listed):
        one["dependencies"] = [former["id"]]
    return json.dumps({"title": project.task, "steps": listed})


def write(path: str, content: str) -> str:
    return call("write_file", path=path, content=content)


def steps(project: Project, make: Any) -> list[str]:
    """The answers of all steps; `make` gives those of one file."""
    return [answer for path in project.sources for answer in (*make(path), DONE)]


ANSWER = "size is called amount in every file now, and the tests pass."


def succeeds(project: Project) -> list[str]:
    return [plan(project), *steps(project, lambda path: [write(path, project.right(path))]), ANSWER]


def fails(project: Project) -> list[str]:
    once = [plan(project), *steps(project, lambda path: [write(path, project.wrong(path))])]
    again = json.dumps({"steps": [{"id": "again", "description": "look again"}]})
    looks = [call("read_file", path=project.sources[0]), DONE]
    return [*once, again, *looks, again.replace("again", "more"), *looks, ANSWER]


def drifts(project: Project) -> list[str]:
    """It does something else than the task, and says that it is done."""
    once = [plan(project), *steps(project, lambda path: [write("NOTES.md", f"on {path}: {project.noun}\n")])]
    again = json.dumps({"steps": [{"id": "again", "description": "write more notes"}]})
    notes = [write("NOTES.md", "more notes\n"), DONE]
    return [*once, again, *notes, again.replace("again", "more"), *notes, ANSWER]


def loops(project: Project) -> list[str]:
    return [plan(project), *[call("read_file", path=project.sources[0])] * 100]


def lies(project: Project) -> list[str]:
    return [plan(project), call("read_file", path=project.sources[0]), *[DONE] * 100]


def weakens(project: Project) -> list[str]:
    """It takes away what the tests ask for."""
    emptied = {path: "def test_line():\n    pass\n" for path in project.tests if path.endswith(".py")}
    emptied |= {
        path: "import { test } from 'vitest';\ntest.skip('line', () => {});\ntest('x', () => {});\n"
        for path in project.tests
        if path.endswith(".ts")
    }
    first = project.sources[0]
    only = json.dumps({"steps": [{"id": "s", "description": "mend the tests", "tools_expected": ["write_file"]}]})
    writes = [write(path, text) for path, text in emptied.items()]
    return [only, *writes, write(first, f"{project.files[first]}\n"), DONE, ANSWER]


def nothing(project: Project) -> list[str]:
    only = json.dumps({"steps": [{"id": "s", "description": "look"}]})
    return [only, DONE, *["There is nothing to do.", only, DONE] * 30]


def announces(project: Project) -> list[str]:
    return [plan(project), *[f"I'll now change {project.sources[0]}."] * 100]


# How a run has to end by what the model does, and whether it has changed what was asked for.
ENDS: dict[Any, tuple[str, ...]] = {
    succeeds: ("DONE",),
    fails: ("VERIFICATION_FAILED",),
    drifts: ("VERIFICATION_FAILED",),
    loops: ("MAX_ITER", "MAX_REPLANS", "PLAN_INVALID"),
    lies: (NO_EVIDENCE,),
    weakens: ("DONE", "VERIFICATION_FAILED"),
    nothing: (NO_EVIDENCE, "VERIFICATION_FAILED", "PLAN_INVALID"),
    announces: ("MAX_ITER",),
}
CASES = [
    pytest.param(
        noun,
        language,
        behaviour,
        id=f"{language}-{noun}-{behaviour.__name__}",
        marks=() if noun == NOUNS[0] else pytest.mark.slow if language == "python" else pytest.mark.tools,
    )
    for noun, language in zip(NOUNS, LANGUAGES, strict=True)
    for behaviour in ENDS
]


def carried_out(project: Project, answers: list[str], repo: Repo) -> AgentTurn:
    repo.commit("begin", **{".ahp/hooks.yaml": "version: 1\n", **project.files})
    if "package.json" in project.files:
        linked(Path(repo.root), "vitest")
    agent = Agent(
        ScriptedModel(answers),
        standard_tools(print),
        gate=RepositoryGate(str(repo.root), session="s1"),
        config=AgentConfig(max_iterations=14),
    )
    return agent.run(project.task)


@pytest.mark.slow
@pytest.mark.parametrize(("noun", "language", "behaviour"), CASES)
def test_a_run_is_done_where_the_task_is(noun: str, language: str, behaviour: Any, repo: Repo) -> None:
    project = Project(noun, language)
    turn = carried_out(project, behaviour(project), repo)
    assert turn.stop_reason in ENDS[behaviour], turn.answer
    good = all((repo.root / path).read_text() == project.right(path) for path in project.sources)
    assert good is (behaviour is succeeds)
    if behaviour is succeeds:
        assert turn.changed == sorted(project.sources) and turn.verified and not turn.unverified
    elif turn.ok:  # what the tests ask for now is the model's word, and the person is told
        assert any("The run alters tests that were there" in one for one in turn.unverified), turn.unverified
