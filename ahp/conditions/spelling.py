"""What the author probably meant: the nearest name, and what the language has for words and signs of others."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# What other languages call it.
_KNOWN_AS = {
    "length": "len", "size": "len", "includes": "contains", "include": "contains", "index": "contains", "find":
    "contains", "match": "matches", "test": "matches", "regex": "matches", "search": "matches", "fullmatch":
    "matches", "re": "matches", "fnmatch": "glob", "exists": "has", "defined": "has", "isset": "has", "some": "any",
    "every": "all", "startsWith": "startswith", "starts_with": "startswith", "hasPrefix":
    "startswith", "endsWith": "endswith", "ends_with": "endswith", "hasSuffix": "endswith", "toLowerCase": "lower",
    "toLower": "lower", "lowerAscii": "lower", "casefold": "lower", "toUpperCase": "upper", "toUpper": "upper",
    "trim": "strip", "get": "default", "coalesce": "default", "lstrip": "strip", "rstrip": "strip", "Bash": "shell",
    "bash": "shell", "sh": "shell", "one": "exists_one", "existsOne": "exists_one", "capture": "groups", "group":
    "groups", "extract": "groups",
}  # fmt: skip

# What people write by habit of another language, and what stands for it here.
MENDED = {
    "&&": "write 'and'",
    "||": "write 'or'",
    "===": "write '=='",
    "!==": "write '!='",
    "<>": "write '!='",
    "=<": "write '<='",
    "=>": "write '>='",
    "=~": "write matches(text, 'regex')",
    "!~": "write not matches(text, 'regex')",
    ":=": "a condition cannot assign; to compare write '=='",
    "**": "there are no powers; write the number",
    "->": "a condition cannot define functions",
    "...": "",
    "=": "to compare write '=='",
    "!": "write 'not'",
    "&": "write 'and'",
    "|": "write 'or'",
    "?": "write A if CONDITION else B",
    "{": "for several values write a list: ['a', 'b']",
    "}": "",
    "$": "write the fact's path: files.changed_count",
    "`": "quote strings with ' or \"",
    ";": "a condition is one expression",
    ":": "a condition has no slices, mappings or lambdas",
}
# What to write for words that stand between two parts, or in front of one.
OPERATORS = {
    "AND": "write 'and'",
    "OR": "write 'or'",
    "NOT": "write 'not'",
    "LIKE": "write matches(text, 'regex'), or for paths glob(path, 'pattern')",
    "like": "write matches(text, 'regex'), or for paths glob(path, 'pattern')",
}
# The same for all words that other languages have.
WORDS = {
    **OPERATORS,
    "TRUE": "write 'true'",
    "FALSE": "write 'false'",
    "NULL": "write 'null'",
    "nil": "write 'null'",
    "yes": "write 'true'",
    "no": "write 'false'",
    "re": "write matches(text, 'regex')",
    "os": "a variable of the environment is env.NAME, listed under env_allow:",
    "process": "a variable of the environment is env.NAME, listed under env_allow:",
    "user": "who acts is actor.name",
    "git": "what git knows is in branch, commit, files and diff",
    "undefined": "ask has(fact)",
    "lambda": "",
    "limits": "name the constant under limits:",
    "prompt": "what a user types is no fact",
    "moved": "write content.after_text[c.path], with c in files.changes if c.status == 'renamed'",
}


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was probably meant to be, or None: the same letters first, then the closest
    spelling.
    """
    known = sorted(set(candidates))
    plain = {_plain(one): one for one in known}
    if _plain(name) in plain:
        return plain[_plain(name)]
    if _KNOWN_AS.get(name) in known:
        return _KNOWN_AS[name]
    close = difflib.get_close_matches(_plain(name)[:64], plain, n=1, cutoff=0.6)
    return plain[close[0]] if close else None


def ending(word: str, paths: Iterable[str]) -> list[str]:
    """The paths that `word` is without their dots, or without what stands before the last one."""
    return sorted({path for path in paths if _plain(word) in (_plain(path), _plain(path.rpartition(".")[2]))})


def _plain(name: str) -> str:
    return name.replace("_", "").replace(".", "").lower()
