"""Redirects of a shell: the files they write, the texts they read."""

from collections.abc import Callable

from tree_sitter import Node

from ahp.shell.expansion import Substitution, Word, text, word_of
from ahp.shell.output import UNKNOWN

_WRITES = (">", ">>", ">|", "&>", "&>>", "<>", ">&")


def target(node: Node, words: Callable[[Node], list[Word]]) -> list[Word]:
    """The file that a redirect writes; none for input and for descriptors."""
    operator = next((child.type for child in node.children if not child.is_named), "")
    found = [word for child in node.children_by_field_name("destination") for word in words(child)]
    if operator not in _WRITES:
        return []
    return [word for word in found if not (operator == ">&" and (word.text.isdigit() or word.text == "-"))]


def heredoc(node: Node, variables: dict[str, str | None], run: Substitution) -> tuple[Word, list[Node]]:
    """The text of a here-document, and the further commands of its line, which the grammar puts inside the redirect."""
    body, rest = Word(""), []
    for child in node.named_children:
        if child.type == "heredoc_body":
            expands = [inside for inside in child.named_children if inside.type != "heredoc_content"]
            body = Word(text(child), not expands)
            for inside in expands:
                word_of(inside, variables, run)
        elif child.type not in ("heredoc_start", "heredoc_end", "file_descriptor"):
            rest.append(child)
    return body, rest


def herestring(node: Node, variables: dict[str, str | None], run: Substitution) -> Word:
    """The text of `<<< word`."""
    parts = [word_of(child, variables, run) for child in node.named_children]
    return parts[-1] if parts else UNKNOWN
