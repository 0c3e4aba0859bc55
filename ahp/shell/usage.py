"""What one command line does: its options and operands, the files it reads and writes, the commands it runs."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ahp.shell.marks import Marks

_SHELL_NAMES = "sh bash dash zsh ksh mksh ash fish yash posh rbash csh tcsh sash elvish rc es"
SHELLS = frozenset(_SHELL_NAMES.split())
SOURCING = (".", "source")
"""Programs that run a script in the shell itself."""
ASKS = frozenset(("--version", "--help", "-h", "-V", "-v", "-version"))
"""Options with which a program runs nothing."""
A_SHELL = re.compile(r"(?:^|[^\w-])(?:/usr)?/bin/(?:ba|da|z|k|c|tc)?sh\b")
"""A shell named in another program's argument or file."""
_NO_FILES = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")


class Run(NamedTuple):
    """Something else that a command runs. One of `words`, `script`, `code` and `file` is given."""

    words: tuple[str, ...] = ()
    script: str | None = None
    """A text for a shell."""
    code: str | None = None
    """A text in the language of the program `language`."""
    file: str | None = None
    """A script file, run by `language`."""
    language: str = ""
    arguments: tuple[str, ...] = ()
    """The `$0`, `$1`, `$2` … of a script."""
    assignments: tuple[str, ...] = ()
    opens: bool = False
    """Further arguments come from somewhere else (xargs)."""
    stdin: str | None = None
    """Its standard input where that is not the command's own."""


@dataclass(slots=True)
class Usage:
    """One command line, read. All texts may hold marks."""

    flags: list[str] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    verb: str = ""
    operands: list[str] = field(default_factory=list)
    config: list[tuple[str, str]] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    """Files that it may read or write: nobody here knows the program."""
    fetched: list[str] = field(default_factory=list)
    """Those written that hold what nobody has seen yet."""
    copies: list[tuple[str, str]] = field(default_factory=list)
    """(source, copy)."""
    runs: list[Run] = field(default_factory=list)
    code: str = ""
    folder: str = ""
    """Where it works, when it is told another folder (`git -C`)."""
    places: set[str] = field(default_factory=set)
    """Where a word is unresolved: "program", "option", "path" (one that is written) or "value"."""

    def unknown(self, place: str) -> None:
        """Notes an unresolved word."""
        self.places.add(place)

    def opens_option(self, words: list[str], known: Marks) -> None:
        """Notes whether one of the words may turn out to be an option."""
        before = words[: words.index("--")] if "--" in words else words
        if any(map(known.may_be_option, before)):
            self.unknown("option")


def looks_like_a_path(word: str) -> bool:
    """Whether a word of no known meaning may name a file."""
    plain = "/" in word or "." in word.rstrip(".")
    return plain and "://" not in word and not any(map(str.isspace, word)) and is_file(word)


def is_file(path: str) -> bool:
    """Whether a path names a file that can be kept."""
    return path not in ("", "-", "{}") and path not in _NO_FILES and not path.startswith("/dev/fd/")


def is_folder(path: str) -> bool:
    """Whether a path can only be a folder, by how it is written."""
    return path == "~" or path.endswith("/") or path.rpartition("/")[2] in (".", "..")


def joined(folder: str, path: str) -> str:
    """A path behind the folder that it starts from."""
    if not folder or not path or path.startswith(("/", "~")):
        return path or folder
    return f"{folder.rstrip('/')}/{path}"
