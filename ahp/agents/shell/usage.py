"""What one command line does: its options and operands, the files it reads and writes, the commands it runs."""

from ahp.agents.shell.marks import is_known, is_plain
from ahp.system.plain import Plain
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.agents.shell.marks import Marks

ASKS = frozenset(("--version", "--help", "-h", "-V", "-v", "-version"))
"""Options with which a program runs nothing."""
_DRY = {"git": {"--dry-run"}, "rsync": {"--dry-run", "-n"}}
_VERBS = 2  # words before `--help`, at most: `gh pr merge --help`
_TOOL_NAMES = """
    ahp ahp-engine az claude codex copilot gemini gh glab hub husky jj lefthook opencode pip pip3 pipx pre-commit
    prek tea
"""
_TOOLS = frozenset(_TOOL_NAMES.split())  # their `--help` is their own; `yarn release --help` is that of a script
A_SHELL = regex(r"(?:^|[^\w-])(?:/usr)?/bin/(?:ba|da|z|k|c|tc)?sh\b")
"""A shell named in another program's argument or file."""
MOST_COMMANDS = 500
"""How many commands are read of one script; what has more is not known in full."""
_NO_FILES = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")
_DEVICES = frozenset(("dev", "proc"))  # the folders that may lead to the input of the command itself


class Run(Plain):
    """Something else that a command runs. One of `words`, `script`, `code` and `file` is given.

    `script` is a text for a shell, `code` one in the language of the program `language`, `file` a script file that
    `language` runs, `arguments` the `$0`, `$1`, `$2` … of a script. `opens`: further arguments come from somewhere else
    (xargs). `stdin` is its standard input where that is not the command's own.
    """

    __slots__ = ("arguments", "assignments", "code", "file", "language", "opens", "script", "stdin", "words")

    def __init__(
        self,
        words: tuple[str, ...] = (),
        script: str | None = None,
        code: str | None = None,
        file: str | None = None,
        language: str = "",
        arguments: tuple[str, ...] = (),
        assignments: tuple[str, ...] = (),
        opens: bool = False,
        stdin: str | None = None,
    ) -> None:
        self.words, self.script, self.code, self.file, self.language = words, script, code, file, language
        self.arguments, self.assignments, self.opens, self.stdin = arguments, assignments, opens, stdin

    def of(self, script: str) -> "Run":
        """The same with the text of its file."""
        return Run(
            self.words, script, self.code, self.file, self.language, self.arguments, self.assignments, self.opens,
            self.stdin,
        )  # fmt: skip


class Usage(Plain):
    """One command line, read. All texts may hold marks.

    `unsure` are files that it may read or write, where nobody here knows the program; `fetched` those written that hold
    what nobody has seen yet; `copies` are (source, copy); `folder` is where it works, when it is told another one (`git
    -C`); `places` where a word is unresolved: "program", "option", "path" (one that is written) or "value".
    """

    __slots__ = (
        *(
            "code",
            "config",
            "contained",
            "copies",
            "fetched",
            "flags",
            "folder",
            "operands",
            "places",
            "reads",
            "runs",
            "unsure",
        ),
        *("values", "verb", "writes"),
    )

    def __init__(
        self,
        flags: list[str] | None = None,
        values: list[tuple[str, str]] | None = None,
        operands: list[str] | None = None,
        *,
        fetched: list[str] | None = None,
        copies: list[tuple[str, str]] | None = None,
        places: set[str] | None = None,
    ) -> None:
        self.flags, self.values, self.operands = flags or [], values or [], operands or []
        self.fetched, self.copies = fetched or [], copies or []
        self.verb = self.code = self.folder = ""
        self.contained = False
        self.config: list[tuple[str, str]] = []
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.unsure: list[str] = []
        self.runs: list[Run] = []
        self.places = places or set()

    def unknown(self, place: str) -> None:
        """Notes an unresolved word."""
        self.places.add(place)

    def opens_option(self, words: list[str], known: "Marks") -> None:
        """Notes whether one of the words may turn out to be an option."""
        before = words[: words.index("--")] if "--" in words else words
        if any(map(known.may_be_option, before)):
            self.unknown("option")


def does_nothing(program: str, args: list[str], found: Usage) -> bool:
    """Whether a command only shows help or its version, or what it would do (a dry run of git or rsync).

    Only where no other word can take the `--help` for its value, nor be done before it is read.
    """
    if _DRY.get(program, set()) & set(found.flags) and "--no-dry-run" not in found.flags:
        return True
    if program == "git" and found.verb in args and is_known(found.verb):
        behind = args[args.index(found.verb) + 1 :]
        return behind[:1] == ["--help"] or behind == ["-h"]  # git(1): `git VERB --help` is `git help VERB`
    *words, last = args or [""]
    plain = all(word.replace("-", "").isalnum() and not word.startswith("-") for word in words)
    return last in ("--help", "-h", "--version") and (
        not words or (program in _TOOLS and plain and len(words) <= _VERBS)
    )


def looks_like_a_path(word: str) -> bool:
    """Whether a word of no known meaning may name a file."""
    plain = "/" in word or "." in word.rstrip(".")
    return plain and "://" not in word and not any(map(str.isspace, word)) and is_file(word)


def named_in(text: str) -> list[str]:
    """What a text in any language names that looks like a path; what it does with it only running tells.

    A string counts as a whole; of other words one that begins like a path, or whose last part has an ending.
    """
    quoted = [one for one in _QUOTED.findall(text) if looks_like_a_path(one) or one[:1] == "." != one]
    words = [one.lstrip("+%:") for one in _APART.split(text)]
    plain = [one for one in words if one[:1] in (".", "/", "~") or "." in one.rpartition("/")[2][1:-1]]
    return [one for one in dict.fromkeys([*quoted, *plain]) if one.isprintable() and one.strip("./~") and is_file(one)]


_QUOTED = regex(r"[\"'`]([^\"'`\n]{1,400})[\"'`]")
_APART = regex(r"[\s'\"`()\[\]{},;=<>|&]+")


def is_file(path: str) -> bool:
    """Whether a path names a file that can be kept."""
    return path not in ("", "-", "{}") and path not in _NO_FILES and not path.startswith("/dev/fd/")


def text_files(text: str | None, known: "Marks") -> tuple[str, ...]:
    """The files whose text it is, all of it; none where a name is not known, or is that of no file on a disk."""
    opened = known.opened.get(text or "", ())
    return opened if all(map(_is_on_a_disk, opened)) else ()


def _is_on_a_disk(path: str) -> bool:
    return is_plain(path) and is_file(path) and _DEVICES.isdisjoint(path.split("/"))


def is_folder(path: str) -> bool:
    """Whether a path can only be a folder, by how it is written."""
    return path == "~" or path.endswith("/") or path.rpartition("/")[2] in (".", "..")


def split(text: str) -> list[str]:
    """The words of a text, quotes taken off; one with an open quote is taken apart at its blanks."""
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def joined(folder: str, path: str) -> str:
    """A path behind the folder that it starts from."""
    if not folder or not path or path.startswith(("/", "~")):
        return path or folder
    return f"{folder.rstrip('/')}/{path}"
