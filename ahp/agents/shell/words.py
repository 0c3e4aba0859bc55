"""The words of a shell command: what of them is known before it runs (bash(1), QUOTING and EXPANSION).

Nothing is computed: a word with a variable, a substitution, braces or a pattern in it is known when the command runs.
"""

from ahp.agents.shell.grammar import original
from ahp.system.plain import Plain
from ahp.system.regex import DOTALL, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

ANYTHING = "**"
"""In a path: a part that is not known."""
_LITERAL = ("word", "number", "variable_name", "special_variable_name", "regex", "extglob_pattern")
_ESCAPED = regex(r"\\(\n|.)", DOTALL)
_IN_QUOTES = regex(r'\\([$`"\\\n])')
_BRACES = regex(r"(?<!\\)\{[^{}]*(,|\.\.)[^{}]*\}")
_WILD = regex(r"(?<!\\)[*?\[]")
_PLACES = {"$HOME": "~", "${HOME}": "~", "$PWD": ".", "${PWD}": ".", "$TMPDIR": "/tmp"}  # noqa: S108


class Word(Plain):
    """`text` is the word without its quotes, unknown parts as the script has them; `path` is it as a path, with `**`
    for those. `known`: it is what the command gets, to the last character. `wild`: the shell replaces it by the names
    of files.
    """

    __slots__ = ("known", "path", "text", "wild")

    def __init__(self, text: str, known: bool = True, path: str | None = None, wild: bool = False) -> None:
        self.text, self.known, self.path, self.wild = text, known, path or text, wild

    def __add__(self, other: "Word") -> "Word":
        known, wild = self.known and other.known, self.wild or other.wild
        return Word(self.text + other.text, known, self.path + other.path, wild)


NOTHING = Word("")


class Words:
    """Reads words. `run` reads the commands inside of a substitution."""

    def __init__(self, run: "Callable[[Node], None]") -> None:
        self._run = run

    def read(self, node: "Node", quoted: bool = False) -> Word:
        """The word that a node is."""
        kind, raw = node.type, text(node)
        if kind in _LITERAL:
            return _bare(raw)
        if kind == "raw_string":
            return Word(raw[1:-1])
        if kind == "ansi_c_string":
            return Word(raw[2:-1], "\\" not in raw)
        if kind in ("string", "translated_string"):
            return self._between(node, (node.text or b"").find(b'"') + 1, -1)
        if kind == "concatenation":
            found = NOTHING
            for child in node.children:
                found += self.read(child, quoted)
            bare = [text(child) if child.type not in ("string", "raw_string") else "_" for child in node.children]
            return Word(raw, False) if _BRACES.search("".join(bare)) else found
        if kind in ("command_substitution", "process_substitution"):
            said = _heredoc_of(node)
            if said is not None and quoted:
                return Word(self.heredoc(said).text.rstrip("\n"), self.heredoc(said).known)
            self._run(node)
            return Word(raw, False, ANYTHING)
        if kind in ("simple_expansion", "expansion"):
            self._inner(node)
            return Word(raw, False, _PLACES.get(raw, ANYTHING))
        if node.named_children:
            self._inner(node)
            return Word(raw, False, ANYTHING)
        return Word(raw)

    def heredoc(self, node: "Node") -> Word:
        """The text of a here-document."""
        expands = any(child.type != "heredoc_content" for child in node.named_children)
        return self._between(node, 0, None) if expands else Word(text(node))

    def _inner(self, node: "Node") -> None:
        for child in node.named_children:
            self.read(child, True)

    def _between(self, node: "Node", start: int, end: int | None) -> Word:
        """The parts between double quotes; the blanks that the grammar drops between them are put back."""
        source, position, found = node.text or b"", start, NOTHING
        for child in node.children:
            first, last = child.start_byte - node.start_byte, child.end_byte - node.start_byte
            if first < start or child.type == '"':
                continue
            found += Word(_decoded(source[position:first]))
            position = last
            if child.type in ("string_content", "heredoc_content"):
                found += Word(_IN_QUOTES.sub(lambda one: "" if one[1] == "\n" else one[1], text(child)))
            else:
                found += self.read(child, True)
        return found + Word(_decoded(source[position:end]))


def _bare(raw: str) -> Word:
    """A word without quotes around it."""
    plain = _ESCAPED.sub(lambda one: "" if one[1] == "\n" else one[1], raw)
    is_shells = _BRACES.search(raw) is not None or plain.startswith(("~+", "~-"))
    return Word(plain, not is_shells, wild=_WILD.search(raw) is not None)


def _heredoc_of(node: "Node") -> "Node | None":
    """The text of `$(cat <<E … E)`, the way in which agents write the message of a commit; None for all else."""
    inner = node.named_children
    if len(inner) != 1 or inner[0].type != "redirected_statement":
        return None
    body, *redirects = inner[0].named_children
    if text(body) != "cat" or len(redirects) != 1 or redirects[0].type != "heredoc_redirect":
        return None
    parts = redirects[0].named_children
    known = all(part.type in ("heredoc_start", "heredoc_body", "heredoc_end") for part in parts)
    return next((part for part in parts if part.type == "heredoc_body"), None) if known else None


def text(node: "Node") -> str:
    """The source of a node."""
    return _decoded(node.text or b"")


def _decoded(source: bytes) -> str:
    return original(source.decode("ascii"))
