"""Word expansion before a command runs: quotes, escapes, variables, braces, blanks (bash(1), EXPANSION)."""

from ahp.agents.shell import marks
from ahp.agents.shell.grammar import original
from ahp.agents.shell.marks import CLOSE, COMMA, OPEN, Marks, Unknown
from ahp.agents.shell.variables import Variables
from ahp.system.plain import Plain
from ahp.system.regex import DOTALL, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from tree_sitter import Node

    Substitution = Callable[[Node], str]
    """Reads the commands inside of `$(…)` or `<(…)`; returns what they print, or the name of the file with that."""

_ESCAPE = regex(r"\\(\n|.)|[*?\[{},]", DOTALL)
_IN_QUOTES = regex(r'\\([$`"\\\n])')
_ANSI = regex(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", DOTALL)
_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_BRACES = regex(f"(.*?){OPEN}([^{OPEN}{CLOSE}]*{COMMA}[^{OPEN}{CLOSE}]*){CLOSE}(.*)", DOTALL)
_PLAIN_BRACES = str.maketrans({OPEN: "{", COMMA: ",", CLOSE: "}"})
_UNQUOTED = {"{": OPEN, ",": COMMA, "}": CLOSE}
_MOST = 64
_PLAIN = ("word", "number", "variable_name", "special_variable_name", "regex", "extglob_pattern")


class _Piece(Plain):
    """A part of a word. `splits`: an unquoted value, its blanks end the word, its `*` are wildcards. `ends`: the word
    ends behind it, one of several quoted words (`"$@"`).
    """

    __slots__ = ("ends", "splits", "text")

    def __init__(self, text: str, splits: bool = False, ends: bool = False) -> None:
        self.text, self.splits, self.ends = text, splits, ends


class Expander:
    """Expands the words of a script. Unknown parts become marks."""

    def __init__(self, known: Marks, variables: Variables, substitution: "Substitution") -> None:
        self._marks = known
        self._variables = variables
        self._run = substitution

    def words(self, node: "Node") -> list[str]:
        """The words that one argument becomes: several by braces or an unquoted variable, none by an empty one."""
        words = [word for field in _fields(self._pieces(node, False)) for word in _braces(field)]
        if self._variables.globs_hidden or self._variables.has("GLOBIGNORE"):
            words = [one for word in words for one in dict.fromkeys((word, marks.dotted(word)))]
        if text(node).startswith("~-"):  # the folder before: `cd src; rm ~-/x`
            before = self._marks.mark(Unknown("~-", "script"))
            return [before + word[2:] if word[2:3] in ("", "/") else word for word in words]
        return [_here(word) for word in words] if text(node).startswith("~+") else words

    def word(self, node: "Node") -> str:
        """The one word that a value becomes where the shell splits nothing."""
        pieces = self._pieces(node, False)
        return "".join(part.text + " " * part.ends for part in pieces).translate(_PLAIN_BRACES)

    def heredoc(self, node: "Node") -> str:
        """The text of a here-document; what its delimiter leaves to the shell is expanded."""
        expands = any(child.type != "heredoc_content" for child in node.named_children)
        return "".join(part.text for part in self._between(node, 0, None)) if expands else text(node)

    def _pieces(self, node: "Node", quoted: bool) -> list[_Piece]:
        kind = node.type
        if kind in _PLAIN:
            return [_Piece(self._marks.quoted(_unescaped(text(node)), False))]
        if kind == "raw_string":
            return [_Piece(self._marks.quoted(text(node)[1:-1], True))]
        if kind == "ansi_c_string":
            return [_Piece(_ANSI.sub(_ansi, text(node)[2:-1]))]
        if kind in ("string", "translated_string"):
            start = (node.text or b"").find(b'"') + 1
            return self._between(node, start, -1) or [_Piece("")]
        if kind == "concatenation":
            return [piece for part in node.children for piece in self._pieces(part, quoted)]
        if kind in ("simple_expansion", "expansion"):
            return self._variable(node, quoted)
        if kind in ("command_substitution", "process_substitution"):
            is_name = kind == "process_substitution"
            output = self._marks.quoted(self._run(node).rstrip("\n"), quoted or is_name)
            return [_Piece(output, not quoted and not is_name)]
        return self._other(node, quoted)

    def _other(self, node: "Node", quoted: bool) -> list[_Piece]:
        """Arithmetic, `{1..9}`, stray signs; what runs inside of them still runs."""
        for child in node.named_children:
            self._pieces(child, quoted)
        if node.type in ("{", "}", "$", "=") or not node.named_children:
            return [_Piece(text(node))]
        is_number = node.type == "arithmetic_expansion"
        return [_Piece(self._marks.mark(Unknown(text(node), quoted=quoted or is_number)))]

    def _between(self, node: "Node", start: int, end: int | None) -> list[_Piece]:
        """The parts between double quotes; the blanks that the grammar drops between them are put back."""
        source = node.text or b""
        pieces: list[_Piece] = []
        position = start
        for child in node.children:
            first, last = child.start_byte - node.start_byte, child.end_byte - node.start_byte
            if first < start or child.type == '"':
                continue
            pieces.append(_Piece(_decoded(source[position:first])))
            position = last
            if child.type in ("string_content", "heredoc_content"):
                inside = _IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], text(child))
                pieces.append(_Piece(self._marks.quoted(inside, True)))
            else:
                pieces += self._pieces(child, True)
        return [*pieces, _Piece(_decoded(source[position:end]))]

    def _variable(self, node: "Node", quoted: bool) -> list[_Piece]:
        for child in node.named_children:
            if child.type not in ("variable_name", "special_variable_name", "subscript"):
                self._pieces(child, True)
        value = self._variables.expand(text(node), quoted)
        if isinstance(value, str):
            return [_Piece(value if quoted else self._variables.separated(value), not quoted)]
        several = [_Piece(item, not quoted, True) for item in value]
        return [*several[:-1], _Piece(several[-1].text, several[-1].splits)] if several else [_Piece("", True)]


def _here(word: str) -> str:
    """`~+` is the folder in which the script is (bash(1), Tilde Expansion)."""
    return "." + word[2:] if word.startswith("~+") and word[2:3] in ("", "/") else word


def text(node: "Node") -> str:
    """The source of a node."""
    return _decoded(node.text or b"")


def _decoded(source: bytes) -> str:
    return original(source.decode("ascii"))


def _unescaped(raw: str) -> str:
    def replaced(found: "re.Match[str]") -> str:
        if found[1] is not None:
            return "" if found[1] == "\n" else found[1]
        return _UNQUOTED.get(found[0]) or marks.wild(found[0])

    return _ESCAPE.sub(replaced, raw)


def _fields(pieces: list[_Piece]) -> list[str]:
    """The words of the pieces: unquoted values end them at blanks (bash(1), Word Splitting)."""
    words: list[str] = []
    current: str | None = None
    for piece in pieces:
        if not piece.splits:
            current = (current or "") + piece.text
        else:
            parts = piece.text.split()
            if parts and (piece.text[0].isspace() or not parts) and current is not None:
                words.append(current)
                current = None
            for index, part in enumerate(parts):
                if index:
                    words.append(current or "")
                    current = None
                current = (current or "") + marks.wild(part)
            if parts and piece.text[-1].isspace():
                words.append(current or "")
                current = None
            elif not parts and piece.text and current is not None:
                words.append(current)
                current = None
        if piece.ends and current is not None:
            words.append(current)
            current = None
    return words if current is None else [*words, current]


def _braces(word: str) -> list[str]:
    """`a{b,c}d` as `abd`, `acd`; too many stay as they are written."""
    if OPEN not in word:
        return [word.translate(_PLAIN_BRACES)]
    done: list[str] = []
    queue = [word]
    while queue and len(done) + len(queue) <= _MOST:
        found = _BRACES.fullmatch(queue[0])
        first = queue.pop(0)
        if found is None:
            done.append(first)
        else:
            queue[:0] = [found[1] + part + found[3] for part in found[2].split(COMMA)]
    return [one.translate(_PLAIN_BRACES) for one in ([word] if queue else done)]


def _ansi(found: "re.Match[str]") -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1].upper()) & 0x1F)
    return _SIMPLE.get(code, code)
