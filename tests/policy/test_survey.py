from __future__ import annotations

import pytest

from ahp.policy.survey import Survey, look
from ahp.system.errors import AhpError


class Files:
    """A tree out of a mapping; None stands for a file that cannot be read."""

    def __init__(self, files: dict[str, str | None]) -> None:
        self.files = files

    def paths(self) -> list[str]:
        return list(self.files)

    def read(self, path: str) -> bytes | None:
        text = self.files.get(path, "")
        if text is None:
            raise AhpError("not a regular file")
        return text.encode()


def at(files: dict[str, str | None]) -> Survey:
    return look(Files(files))


def test_an_empty_project_is_nothing_in_particular() -> None:
    assert at({}).found() == []
    assert at({"README.md": "python pytest ruff"}).found() == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"pyproject.toml": ""}, ["python"]),
        ({"a.py": "", "b.py": "", "src/c.py": ""}, ["python"]),
        ({"a.py": "", "b.sh": ""}, []),
        ({"setup.cfg": "[mypy]\n[coverage:run]\n[tool:pytest]"}, ["python", "pytest", "mypy", "coverage"]),
        ({"pyproject.toml": "[tool.ruff.lint]\n[tool.mypy]"}, ["python", "ruff", "mypy"]),
        ({"setup.py": "", "tests/conftest.py": "", ".coveragerc": ""}, ["python", "pytest", "coverage"]),
        ({"package.json": '{"devDependencies": {"eslint": "^9"}}'}, ["node", "eslint"]),
        ({"package.json": "{}", "eslint.config.mjs": ""}, ["node", "eslint"]),
        ({"Issues/Features/open/FEAT-0001-x.md": ""}, ["tickets"]),
        ({"docs/Issues/x.md": "", "Issues/a.txt": ""}, []),
        ({".monoco/workspace.yaml": ""}, ["tickets", "monoco"]),
        ({"shop/.monoco/project.yaml": ""}, ["tickets", "monoco"]),
        ({".pre-commit-config.yaml": "- repo: https://x/ruff-pre-commit"}, ["ruff", "pre-commit"]),
        ({".husky/pre-commit": "", "package.json": ""}, ["node", "husky"]),
        ({"go.mod": "module x", "main.go": ""}, ["go"]),
        ({"Cargo.toml": "[workspace]"}, ["rust"]),
        ({"pom.xml": ""}, ["java"]),
        ({"build.gradle.kts": ""}, ["java"]),
        ({"api/pyproject.toml": "", "apps/web/package.json": "{}", "tools/gen/go.mod": ""}, ["python", "node", "go"]),
        ({"a/b/c/Cargo.toml": "", "vendor/x/go.mod": "", "web/node_modules/package.json": ""}, []),
        ({"lefthook.yml": "", ".lefthook.yml": ""}, ["lefthook"]),
    ],
)
def test_names_and_manifests_tell_what_is_there(files: dict[str, str | None], words: list[str]) -> None:
    assert at(files).found() == words


@pytest.mark.parametrize(
    ("texts", "chinese"),
    [
        ([], False),
        (["## FEAT-0001: 登录"], True),
        (["## FEAT-0001: login"], False),
        (["## 登录", "## login"], False),
        (["## 登录", "## login", "## 注销"], True),
        ([None], False),
    ],
)
def test_the_language_of_most_tickets_is_that_of_the_project(texts: list[str | None], chinese: bool) -> None:
    files = {f"Issues/Features/open/FEAT-{number:04d}-x.md": text for number, text in enumerate(texts)}
    assert at({"README.md": "中文", **files}).chinese is chinese


def test_what_cannot_be_read_is_no_manifest() -> None:
    assert at({"pyproject.toml": None, "package.json": "\xff"}).found() == ["python", "node"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[tool.mypy]\nfiles = ['src']", True),
        ("[tool.mypy]\npackages = ['a']", True),
        ("[tool.mypy]\nstrict = true", False),
        ("tool = 3", False),
        ("[tool]\nmypy = 3", False),
        ("not toml [", False),
    ],
)
def test_whether_mypy_knows_by_itself_what_to_check(text: str, names: bool) -> None:
    assert at({"pyproject.toml": text}).mypy_files is names
