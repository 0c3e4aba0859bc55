"""The words of docs/words.md: every text that the program can print is short enough and has none of those to avoid."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from ahp.cli.main import cli
from tests.conftest import PROJECT

PAGE = (PROJECT / "docs/words.md").read_text("utf-8")
AVOIDED = [
    phrase.strip()
    for row in re.findall(r"^\| (.+?) \| .+ \|$", PAGE.partition("## Not so")[2], re.MULTILINE)[2:]
    for phrase in row.split(",")
]
WORDS = 30
_WORD = re.compile(r"[A-Za-z]{2,}")
_PATTERN = re.compile(r"\(\?|\\[bswd]|\[\^")  # a regular expression is no sentence
_END = re.compile(r"(?<=[.;:!?])\s+|\n")


def test_the_page_names_what_to_avoid() -> None:
    assert "mended" in AVOIDED and "1 files" in AVOIDED and len(AVOIDED) > 10


def faults(text: str) -> list[str]:
    """What of a text is not as the page says."""
    found = [phrase for phrase in AVOIDED if re.search(rf"\b{re.escape(phrase)}\b", text)]
    sentences = [
        part for part in _END.split(text) if len(part.split()) > WORDS and len(_WORD.findall(part)) > WORDS // 2
    ]
    return found + [f"{len(part.split())} words: {part[:60]}…" for part in sentences]


def text_of(node: ast.AST) -> str | None:
    """A literal as it reads, with a word for each value that is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return None


def messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts of a module that read like sentences, without docstrings: (line, text)."""
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            passed.add(node.value)  # a docstring, or the text under a field
        if isinstance(node, ast.JoinedStr):
            passed.update(node.values)
    for node in ast.walk(tree):
        text = None if node in passed else text_of(node)
        if text is not None and " " in text and len(_WORD.findall(text)) > 3 and not _PATTERN.search(text):
            yield getattr(node, "lineno", 0), text


def test_no_message_is_long_or_has_a_word_to_avoid() -> None:
    wrong, count = [], 0
    for path in sorted((PROJECT / "ahp").rglob("*.py")):
        for line, text in messages(ast.parse(path.read_bytes())):
            count += 1
            name = path.relative_to(PROJECT)
            # A list of names or endings is split where it is used.
            wrong += [f"{name}:{line}: {one}" for one in faults(text) if re.search("[a-z]{2,} [a-z]{2,}", text)]
    assert count > 2_000 and wrong == []


def commands(group: click.Command, path: str = "ahp") -> Iterator[tuple[str, click.Command]]:
    yield path, group
    if isinstance(group, click.Group):
        with click.Context(group) as context:
            for name in group.list_commands(context):
                command = group.get_command(context, name)
                if command is not None and not command.hidden:
                    yield from commands(command, f"{path} {name}")


def test_no_help_is_long_or_has_a_word_to_avoid() -> None:
    wrong = []
    for path, command in commands(cli):
        texts = [command.help or "", *(getattr(one, "help", None) or "" for one in command.params)]
        paragraphs = [" ".join(part.split()) for text in texts for part in text.replace("\b", "").split("\n\n")]
        wrong += [f"{path}: {one}" for text in paragraphs for one in faults(text)]
    assert wrong == []


@pytest.mark.parametrize("path", sorted((PROJECT / "ahp/policy/packs").glob("*.yaml")), ids=lambda path: path.name)
def test_no_text_of_a_pack_is_long_or_has_a_word_to_avoid(path: Path) -> None:
    def texts(node: object) -> Iterator[str]:
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            for key, value in node.items():
                if key not in ("block", "prompt", "aid", "control", "when", "each", "condition", "run"):
                    yield from texts(value)
        elif isinstance(node, list):
            for value in node:
                yield from texts(value)

    assert [one for text in texts(yaml.safe_load(path.read_bytes())) for one in faults(text)] == []
