"""What tree-sitter-bash 0.25 misreads, written so that it reads it right; the meaning stays."""

import re

# `-F - <<E`: the here-document behind a lone hyphen is lost, and the hyphen with it.
_LONE_DASH = re.compile(r"(?<=[ \t])-(?=[ \t]*<<)")
# `com\\` at the end of a line and `mit` on the next are one word to a shell.
_SPLIT_WORD = re.compile(r"(?<=[^\s\\])\\\n(?=\S)")
_HEREDOC = re.compile(r"""<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z0-9_.]+))""")
_MOST = 50


def mended(source: str) -> str:
    """The script with lone hyphens quoted, words whole, and here-documents ended by words that begin no other line."""
    source = _SPLIT_WORD.sub("", source)
    if "<<" not in source:
        return source
    source = _LONE_DASH.sub("'-'", source)
    for found in list(_HEREDOC.finditer(source))[:_MOST]:
        word = found[1] or found[2] or found[3]
        if _is_mistaken(word, source):
            source = _renamed(word, source)
    return source


def _is_mistaken(word: str, source: str) -> bool:
    """The grammar ends the text at the first line that begins with the word: `E` at `Explain`."""
    lines = (line.lstrip("\t") for line in source.split("\n"))
    return any(line.startswith(word) and line != word for line in lines)


def _renamed(word: str, source: str) -> str:
    other = word
    while other in source:
        other += "_"
    begun = re.compile(r"(<<-?[ \t]*)(['\"\\]?)" + re.escape(word) + r"(['\"]?)(?![A-Za-z0-9_.])")
    source = begun.sub(lambda found: f"{found[1]}{found[2]}{other}{found[3]}", source)
    return re.sub(rf"(?m)^(\t*){re.escape(word)}$", lambda found: found[1] + other, source)
