"""What a project is made of, as far as a first policy needs to know: languages, tools, tickets, other hooks."""

import re
import tomllib
from dataclasses import dataclass

from ahp.conditions.globs import glob
from ahp.policy.sources import Tree
from ahp.system.errors import AhpError
from ahp.tickets.template import language

_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", ".pre-commit-config.yaml", "package.json")
# Manifests that tell a language, here or in a folder at most two levels down, as in a repository of several projects.
_LANGUAGES = {
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt"),
    "node": ("package.json", "deno.json"),
    "go": ("go.mod",),
    "rust": ("Cargo.toml",),
    "java": ("pom.xml", "build.gradle", "build.gradle.kts"),
}
_LEVELS = 2
# Folders of what is not the project's own.
_FOREIGN = frozenset(["node_modules", "vendor", "third_party", "testdata", "fixtures", ".venv", "site-packages"])
_TICKET = re.compile(r"(?:^|/)Issues/.*\.md$", re.DOTALL)
_SAMPLE = 20  # tickets that are looked into
_MANAGERS = {
    ".pre-commit-config.yaml": "pre-commit",
    "prek.toml": "prek",
    ".husky": "husky",
    "lefthook.yml": "lefthook",
    "lefthook.yaml": "lefthook",
    ".lefthook.yml": "lefthook",
    "lefthook.toml": "lefthook",
}
# A tool is in use when one of its files is there, or its name stands in a manifest.
_FILES = {
    "pytest": ("pytest.ini", "**/conftest.py"),
    "ruff": ("ruff.toml", ".ruff.toml"),
    "mypy": ("mypy.ini", ".mypy.ini"),
    "coverage": (".coveragerc",),
    "eslint": ("eslint.config.*", ".eslintrc*"),
}
_NAMED = {
    "pytest": ("pytest",),
    "ruff": ("[tool.ruff", "ruff-pre-commit"),
    "mypy": ("[tool.mypy", "[mypy", "mirrors-mypy"),
    "coverage": ("[tool.coverage", "[coverage:", "pytest-cov"),
    "eslint": ('"eslint"',),
}
# Files that say which types of commit there are: checkers, and what an editor shows to whoever writes a message.
_CHECKERS = ("commitlint.config.*", ".commitlintrc*", "verify-commit*", ".gitmessage*", ".github/semantic.yml", ".cz*")
_WORKFLOWS = (".github/workflows/*.yml", ".github/workflows/*.yaml")
# Several words with more than a blank between them, or one at the head of a line with a colon behind it.
_ENUMERATED = re.compile(r"\w+(?:[ \t]*[\n'\"|,*-][\s'\"|,*-]*\w+)+")
_AT_HEAD = re.compile(r"^[ \t#*-]*([a-z]+)(?:\([^)\n]*\))?[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found. `languages` are of python, node, go, rust, java; `tools` of pytest, ruff, mypy, coverage, eslint;
    `managers` are other hook managers.

    `mypy_files` says that mypy's configuration names what it checks, `monoco` that Monoco keeps the tickets, `chinese`
    that most of them are written in Chinese, `agents` that coding agents work here. `commit_types` are those that a
    checker of messages names.
    """

    languages: tuple[str, ...]
    tickets: bool
    tools: tuple[str, ...]
    managers: tuple[str, ...]
    mypy_files: bool
    monoco: bool = False
    chinese: bool = False
    agents: bool = False
    commit_types: tuple[str, ...] = ()

    def found(self) -> list[str]:
        """All of it as words for people."""
        words = [word for word in ("tickets", "monoco", "agents") if getattr(self, word)]
        return [*self.languages, *words, *self.tools, *self.managers]


def look(tree: Tree, *, agents: bool = False) -> Survey:
    """Reads names and manifests only; never runs anything. `agents`: traces of one were found. Raises GitError."""
    paths = tree.paths()
    top = {path.partition("/")[0] for path in paths}
    manifests = {name: text for name in _MANIFESTS if name in top and (text := _text(tree, name))}
    monoco = any(path.startswith(".monoco/") or "/.monoco/" in path for path in paths)
    tickets = [path for path in paths if _TICKET.search(path)]
    said = "\n".join(manifests.values())
    tools = tuple(
        tool for tool in _FILES if any(word in said for word in _NAMED[tool]) or any(map(glob([*_FILES[tool]]), paths))
    )
    sample = tickets[-_SAMPLE:]
    return Survey(
        languages=_languages(paths),
        tickets=monoco or any(path.startswith("Issues/") for path in tickets),
        tools=tools,
        managers=tuple(dict.fromkeys(name for file, name in _MANAGERS.items() if file in top)),
        mypy_files=_mypy_names_files(manifests),
        monoco=monoco,
        # headings and titles hold Chinese where the texts do
        chinese=sum(language(_text(tree, path)) == "zh" for path in sample) * 2 > len(sample),
        agents=agents or "AGENTS.md" in top,  # which many agents read
        commit_types=_commit_types(tree, paths),
    )


def _commit_types(tree: Tree, paths: list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for path in filter(glob([*_CHECKERS, *_WORKFLOWS]), paths):
        text = re.sub(r"//.*|/\*(?s:.*?)\*/", "", _text(tree, path))
        if path.startswith(_WORKFLOWS[0][:-5]) and "semantic-pull-request" not in text:
            continue
        for words in [*(re.findall(r"\w+", part) for part in _ENUMERATED.findall(text)), _AT_HEAD.findall(text)]:
            if {"feat", "fix"} <= {*words}:
                found |= dict.fromkeys(word for word in words if re.fullmatch("[a-z]{2,16}", word))
    return tuple(found)


def _languages(paths: list[str]) -> tuple[str, ...]:
    near = [path.split("/") for path in paths if path.count("/") <= _LEVELS]
    names = {parts[-1] for parts in near if _FOREIGN.isdisjoint(parts[:-1])}
    found = [language for language, manifests in _LANGUAGES.items() if not names.isdisjoint(manifests)]
    if "python" not in found and sum(path.endswith(".py") for path in paths) > 2:
        found.insert(0, "python")
    return tuple(found)


def _text(tree: Tree, path: str) -> str:
    try:
        return (tree.read(path) or b"").decode("utf-8", "replace")
    except AhpError:  # a folder or a pipe of that name, or an enormous one: no manifest
        return ""


def _mypy_names_files(manifests: dict[str, str]) -> bool:
    try:
        table = tomllib.loads(manifests.get("pyproject.toml", "")).get("tool", {}).get("mypy", {})
    except (tomllib.TOMLDecodeError, AttributeError):
        return False
    return isinstance(table, dict) and any(name in table for name in ("files", "packages", "modules"))
