"""The syntax tree of a script: what tree-sitter-bash 0.25 misreads is rewritten into equivalent text first."""

from ahp.system import extensions
from ahp.system.errors import AhpError, LostDependency
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

    from tree_sitter import Node

# `-F - <<E`: the here-document behind a lone hyphen is lost, and the hyphen with it.
_LONE_DASH = regex(r"(?<=[ \t])-(?=[ \t]*<<)")
# `com\\` at the end of a line and `mit` on the next are one word to a shell.
_SPLIT_WORD = regex(r"(?<=[^\s\\])\\\n(?=\S)")
_HEREDOC = regex(r"""<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z0-9_.]+))""")
_MOST = 50
# A backslash that begins a line is taken for a part of the line before; a form feed between them is a blank.
_LINE_START = regex(r"\n(?=\\[^\n])")
# The grammar's scanner calls isalpha() with whole code points, which reads out of bounds and can crash the process.
_FOREIGN = regex(r"[^\x00-\x7f]")
_STAND_IN = regex(r"uQ([0-9a-f]{6})Qu")


_parser: "list[Any]" = []


def parsed(source: str) -> "Node":
    """The syntax tree of a rewritten script. Raises AhpError where tree-sitter cannot be used."""
    if not _parser:
        # tree-sitter's wrappers in Python would import more than all the rest.
        grammar = extensions.load("tree_sitter_bash._binding")
        parsing = extensions.load("tree_sitter._binding", unused=("re.compile", "enum.IntEnum"))  # queries, logging
        if grammar is None or parsing is None:
            raise LostDependency(ImportError("it reads shell commands, with tree_sitter_bash", name="tree_sitter"))
        try:
            _parser.append(parsing.Parser(parsing.Language(grammar.language())))
        except ValueError as error:  # one of the two is newer than the other knows
            fix = "pip install --upgrade tree-sitter tree-sitter-bash"
            raise AhpError(f"tree-sitter cannot read with this tree-sitter-bash ({error}); fix: {fix}") from None
    tree: Node = _parser[0].parse(rewritten(source).encode("ascii")).root_node
    return tree


def rewritten(source: str) -> str:
    """The script in ASCII, lone hyphens quoted, words whole, here-document words that begin no other line."""
    source = _SPLIT_WORD.sub("", _without_comment_ends(source))
    source = _FOREIGN.sub(lambda found: f"uQ{ord(found[0]):06x}Qu", source)
    source = _BACKQUOTED.sub(lambda found: f"{found[1]}$({found[2]})", source)
    source = _LINE_START.sub("\n\f", source)
    if "<<" not in source:
        return source
    source = _LONE_DASH.sub("'-'", source)
    for found in list(_HEREDOC.finditer(source))[:_MOST]:
        word = found[1] or found[2] or found[3]
        if _is_mistaken(word, source):
            source = _renamed(word, source)
    return source


def _without_comment_ends(source: str) -> str:
    """The script with no backslash at the end of a comment: the line below is none."""
    if "\\\n" not in source or "#" not in source:
        return source
    lines = source.split("\n")
    return "\n".join([line.rstrip("\\") if _COMMENTED.search(line) else line for line in lines])


# `${X:=`command`}`: the grammar takes the command for a word.
_BACKQUOTED = regex(r"(\$\{[^}`\n$]*)`([^`\n]*)`")
_COMMENTED = regex(r"(?:^|[ \t;])#")


def operators(source: str) -> int:
    """How many operators a script has, those between single quotes and in here-documents (`<<` itself aside) left out.

    The time that tree-sitter takes grows with their square.
    """
    lines, ends = [], ""
    for line in source.split("\n"):
        if ends:
            ends = "" if line.lstrip("\t") == ends else ends
        else:
            lines.append(line)
            begun = _HEREDOC.search(line)
            ends = (begun[1] or begun[2] or begun[3]) if begun else ""
    return len(_OPERATOR.findall(_QUOTED.sub("", "\n".join(lines)))) + source.count("<<")


_QUOTED = regex(r"'[^']*'")
_OPERATOR = regex(r"[|&;(){}<]")


def original(text: str) -> str:
    """A piece of a rewritten script with its non-ASCII letters restored."""
    text = text.replace("\f\\", "\\")
    return _STAND_IN.sub(_letter, text) if "uQ" in text else text


def _letter(found: "re.Match[str]") -> str:
    code = int(found[1], 16)
    return chr(code) if 0x80 <= code <= 0x10FFFF else found[0]


def _is_mistaken(word: str, source: str) -> bool:
    """The grammar ends the text at the first line that begins with the word: `E` at `Explain`."""
    lines = (line.lstrip("\t") for line in source.split("\n"))
    return any(line.startswith(word) and line != word for line in lines)


def _renamed(word: str, source: str) -> str:
    import re

    other = word
    while other in source:
        other += "_"
    begun = re.compile(r"(<<-?[ \t]*)(['\"\\]?)" + re.escape(word) + r"(['\"]?)(?![A-Za-z0-9_.])")
    source = begun.sub(lambda found: f"{found[1]}{found[2]}{other}{found[3]}", source)
    return re.sub(rf"(?m)^(\t*){re.escape(word)}$", lambda found: found[1] + other, source)
