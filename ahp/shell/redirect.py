"""What redirects of a shell say: the files that are written, the texts that are read."""

from collections.abc import Callable

from tree_sitter import Node

from ahp.shell.printed import UNKNOWN
from ahp.shell.values import Substitution, Word, text, word_of

_WRITES = (">", ">>", ">|", "&>", "&>>", "<>", ">&")


def target(node: Node, words: Callable[[Node], list[Word]]) -> list[Word]:
    """The file that a redirect writes; reading one is no change, and a descriptor is no file."""
    operator = next((child.type for child in node.children if not child.is_named), "")
    found = [word for child in node.children_by_field_name("destination") for word in words(child)]
    if operator not in _WRITES:
        return []
    return [word for word in found if not (operator == ">&" and (word.text.isdigit() or word.text == "-"))]


def heredoc(node: Node, variables: dict[str, str | None], run: Substitution) -> tuple[Word, list[Node]]:
    """The text of a here-document, and what the grammar hangs behind it: further commands of the line."""
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
