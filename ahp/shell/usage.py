"""What one command line does, by the synopsis of its program: the files it reads and writes, the commands it runs."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ahp.shell import marks, options, synopsis
from ahp.shell.marks import Marks
from ahp.shell.synopsis import Synopsis

SHELLS = frozenset(
    [
        "sh",
        "bash",
        "dash",
        "zsh",
        "ksh",
        "mksh",
        "ash",
        "fish",
        "yash",
        "posh",
        "rbash",
        "csh",
        "tcsh",
        "sash",
        "elvish",
        "rc",
        "es",
    ]
)
SOURCING = (".", "source")
ASKS = frozenset(("--version", "--help", "-h", "-V", "-v", "-version"))
_RUNS = re.compile(r"(?:^alias\..*|command|exec|action|invoke|editor|pager|askpass|shell|rsh|ssh)[:\]]*$", re.I)
"""Names of settings whose value is run."""
A_SHELL = re.compile(r"(?:^|[^\w-])(?:/usr)?/bin/(?:ba|da|z|k|c|tc)?sh\b")
"""A shell named in another program's argument."""
_SHELL_FILE = re.compile(r"(?:/usr)?/bin/(?:ba|da|z|k|c|tc)?sh$")
_NO_FILES = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")
_URL = re.compile(r"^[a-z+.-]+://|^git@|^\S+@\S+:")
_REMOTE_HOST = re.compile(r"^[\w.@-]+:(?!$)|^[\w.@-]+:$")


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


Reader = Callable[[str, list[str], "str | None", Marks], Usage]


def read(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """Reads a command line by its synopsis; one of an unknown program by what its words look like."""
    found = synopsis.of(program)
    if found is None:
        return _unlisted(program, args, known)
    reading = _Reading(program, stdin, known)
    reading.options(args, found)
    return reading.usage


def opens_option(usage: Usage, words: list[str], known: Marks) -> None:
    """Notes whether one of the words may turn out to be an option."""
    for word in words:
        if word == "--":
            break
        if known.may_be_option(word):
            usage.unknown("option")


class _Reading:
    """Gives each word of one command line its role."""

    def __init__(self, program: str, stdin: str | None, known: Marks) -> None:
        self.program = program
        self.stdin = stdin
        self.marks = known
        self.usage = Usage()
        self.assignments: list[str] = []
        self.entry: list[str] = []
        self.in_place = False
        self.spec = _PLAIN_VERB
        self.target = ""

    def options(self, args: list[str], found: Synopsis) -> None:
        """The options, then the operands; a verb goes on with the line of its own."""
        read = options.parse(args, found.spec, found.permutes)
        self.usage.flags += [flag for flag in read.flags if flag not in self.usage.flags]
        self.usage.values += read.values
        opens_option(self.usage, args if found.permutes else args[: len(args) - len(read.operands)], self.marks)
        replaced = set()
        for name, value in read.values:
            role = found.roles.get(name, "VALUE")
            if name in found.replaces:
                replaced.add(role)
            if name in found.replaces and role == "INTO":
                self.target = value
            else:
                self._value(role, value)
        self.in_place = self.in_place or any(found.roles.get(flag) == "INPLACE" for flag in read.flags)
        self.spec = found
        self._operands(list(read.operands), _left(found.operands, replaced), replaced)
        if "CODE" in found.roles.values() and "RUN" not in found.operands and not self.usage.code:
            self._from_stdin()

    def _operands(self, words: list[str], roles: list[str], replaced: set[str]) -> None:
        while roles:
            role = roles.pop(0)
            if role == "VERB":
                if words:
                    self._verb(words[0], words[1:], tuple(roles))
                    return
            elif role == "ASSIGN...":
                while words and ("=" in words[0] or words[0] == "-"):
                    self.assignments += [word for word in [words.pop(0)] if word != "-"]
            elif role in _REST:
                self._rest(role, words, replaced)
                return
            elif role.endswith("..."):
                taken = len(words) - len(roles)
                self._several(role.removesuffix("..."), words[: max(taken, 0)], [*words[taken:], self.target][0])
                words = words[max(taken, 0) :]
            elif words:
                self.usage.operands.append(words[0])
                if role == "IMAGE":
                    self._image(words[0], words[1:])
                self._value(role, words.pop(0))
            elif role == "CODE":
                self._from_stdin()
        self.usage.operands += words
        if self.target:
            self._written("TO", self.target)

    def _verb(self, verb: str, rest: list[str], roles: tuple[str, ...]) -> None:
        if not marks.is_known(verb):
            self.usage.unknown("program")
        self.usage.verb = f"{self.usage.verb} {verb}".strip()
        name = ".".join((self.program, *self.usage.verb.split()))
        following = synopsis.of(name)
        own = (
            synopsis.of(self.program) if self.program != "git" else None
        )  # most programs take theirs behind a verb, too
        self.options(rest, following or (own or _PLAIN_VERB)._replace(operands=roles or ("NAME...",)))

    def _several(self, role: str, words: list[str], last: str) -> None:
        self.usage.operands += words
        for word in words:
            if last and _SHELL_FILE.match(word):  # a shell by another name
                self.usage.unknown("program")
            self._value(role, word)
            if last:
                self.usage.copies.append((word, last))

    def _value(self, role: str, word: str) -> None:
        """One word in its role."""
        usage = self.usage
        if role == "READ":
            self._file(usage.writes if self.in_place else usage.reads, word)
        elif role in ("WRITE", "BUILD", "FETCH", "TO", "INTO", "LINK"):
            self._written(role, word)
        elif role == "CD":
            usage.folder = joined(usage.folder, word)
        elif role == "SCRIPT":
            usage.runs.append(Run(script=word, stdin=""))
        elif role in ("COMMANDWORD", "SPLIT"):
            self.entry = word.split()
        elif role == "LIST":
            usage.runs.append(Run(tuple(word.split(","))))
        elif role == "SETTING":
            name, _, text = re.sub("[= ]", "\0", word, count=1).partition("\0")
            if _RUNS.search(name):
                usage.runs.append(Run(script=text.lstrip(";|&! "), stdin=""))
        elif role == "CONFIG":
            name, glue, value = word.partition("=")
            usage.config.append((name.strip().lower(), value if glue else "true"))
        elif role == "NAME":
            if looks_like_a_path(self.marks.pattern(word)):
                usage.reads.append(word)
            if not marks.is_known(word):
                usage.unknown("value")
        elif role == "PATCH":
            usage.reads.append(word)
        elif role == "CODE":
            self._code(word)
        elif role == "RUN":
            self._script_file(word)
        elif not marks.is_known(word):
            usage.unknown("value")

    def _written(self, role: str, word: str) -> None:
        if role == "INTO":
            word = f"{word.rstrip('/')}/{marks.ANYTHING}"
        self._file(self.usage.writes, word)
        if role == "FETCH":
            self.usage.fetched.append(word)
        if role == "TO" and not _REMOTE_HOST.match(word):
            # The name does not tell whether the target is a folder: both readings count.
            names = [source.rstrip("/").rpartition("/")[2] for source, _ in self.usage.copies]
            self.usage.writes += [f"{word.rstrip('/')}/{name}" for name in names if name]

    def _file(self, files: list[str], word: str) -> None:
        if _URL.match(word) or (self.program in ("rsync", "scp") and _REMOTE_HOST.match(word)):
            return
        files.append(word)
        if not marks.is_known(word):
            self.usage.unknown("path" if files is self.usage.writes and self.marks.is_astray(word) else "value")

    def _rest(self, role: str, words: list[str], replaced: set[str]) -> None:
        """Operands behind which the line is another program's."""
        usage = self.usage
        if role == "RUN":
            self._run_file(words, replaced)
            return
        words = [*self.entry, *words]
        if words and words[0].startswith("-") and len(words) > 1:  # `flock FILE -c TEXT`, `kubectl exec POD -- COMMAND`
            late = options.parse(words, self.spec.spec, False)
            for name, value in late.values:
                self._value(self.spec.roles.get(name, "VALUE"), value)
            words = late.operands
            if not words and any(run.script for run in usage.runs):
                return
        if self.program == "command" and {"-v", "-V"} & set(usage.flags):
            return  # prints where the program is, runs nothing
        if not words:
            if role in ("LOGIN", "SHELL") or {"--login", "--shell"} & set(usage.flags):
                usage.unknown("program")
        elif role in ("COMMAND", "LOGIN"):
            usage.runs.append(Run(tuple(words), assignments=tuple(self.assignments)))
        elif role == "KEYS":
            keys = [word for word in words if word not in ("Enter", "C-m", "KPEnter")]
            usage.runs.append(Run(script=" ".join(keys), stdin=""))
        elif role == "BISECT":
            usage.operands += words
            if words[0] == "run":
                usage.runs.append(Run(tuple(words[1:])))
        elif role == "FOREACH":
            usage.operands += words
            if words[0] == "foreach":
                rest = [word for index, word in enumerate(words) if index and word not in ("--recursive", "-q")]
                usage.runs.append(Run(script=" ".join(rest)))
        else:
            usage.runs.append(Run(script=" ".join(words)))

    def _image(self, image: str, words: list[str]) -> None:
        """A container's arguments are its entry point's: `alpine/git commit`."""
        program = re.split("[:@]", image.rpartition("/")[2])[0]
        if words and not self.entry and (program == "git" or words[0].startswith("-")):
            self.usage.runs.append(Run((program, *words)))
            words.clear()

    def _run_file(self, words: list[str], replaced: set[str]) -> None:
        """`python FILE ARGS`, `python -c CODE ARGS`, `python -m MODULE ARGS`, `python -`."""
        usage = self.usage
        usage.operands += words
        module = next((value for name, value in usage.values if self._role(name) == "MODULE"), None)
        if module is not None:
            usage.runs.append(Run((module, *words)))
        elif replaced & {"CODE", "RUN"}:
            if self.in_place or self.program in ("perl", "ruby"):
                for word in words:
                    self._value("READ", word)
        elif words:
            self._script_file(words[0], tuple(words))
        elif not (ASKS & set(usage.flags) or (self.program in ("crontab", "php") and usage.flags)):
            self._run_stdin()

    def _run_stdin(self) -> None:
        """The program's text comes in; it is unknown, but for an existing file's, judged when it was written."""
        parts = self.marks.of(self.stdin or "")
        if self.program in SOURCING and self.stdin:
            self.usage.runs.append(Run(script=self.stdin))
        elif self.stdin and not parts:
            self._code(self.stdin)
        elif not any(part.origin == "file" for part in parts):
            self.usage.unknown("program")

    def _role(self, name: str) -> str:
        found = synopsis.of(self.program)
        return found.roles.get(name, "") if found else ""

    def _script_file(self, word: str, arguments: tuple[str, ...] = ()) -> None:
        if word in ("-", "/dev/stdin"):
            self._run_stdin()
            return
        self.usage.reads.append(word)
        if marks.is_unknown(word) and self.marks.pattern(word).startswith(marks.ANYTHING):
            self.usage.unknown("program")
        else:
            self.usage.runs.append(Run(file=word, language=self.program, arguments=arguments))

    def _from_stdin(self) -> None:
        if self.stdin and marks.is_known(self.stdin):
            self._code(self.stdin)

    def _code(self, text: str) -> None:
        usage = self.usage
        if marks.is_unknown(text.strip()):
            usage.unknown("program")
        usage.code = f"{usage.code}\n{text}" if usage.code else text
        usage.runs.append(Run(code=text, language=self.program))


_REST = frozenset(("COMMAND", "LOGIN", "REMOTE", "LINE", "KEYS", "BISECT", "FOREACH", "RUN", "SHELL"))
_PLAIN_VERB = Synopsis(options.ANY, {}, frozenset(), ("NAME...",))


def _left(roles: tuple[str, ...], replaced: set[str]) -> list[str]:
    """The operands that are left when an option stands in for one: the first that does not repeat, else the last."""
    if not replaced:
        return list(roles)
    single = [role for role in roles if not role.endswith("...") and role not in _REST]
    if "SCRIPT" in replaced:
        return [role for role in roles if role not in ("COMMAND", "LOGIN", "SHELL")]
    return [role for role in roles if role != single[0]] if single else list(roles)


def _unlisted(program: str, args: list[str], known: Marks) -> Usage:
    """A program that nobody here knows: words that look like paths are files it may read or write."""
    read_options = options.parse(args, options.ANY)
    usage = Usage(read_options.flags, read_options.values, operands=list(read_options.operands))
    opens_option(usage, args, known)
    if usage.operands and usage.operands[0].isidentifier():
        usage.verb = usage.operands.pop(0)
    for index, word in enumerate(args):
        value = word.partition("=")[2] if word.startswith("-") else word
        output = args[index - 1] if index and args[index - 1].startswith("-") else word.partition("=")[0]
        if not looks_like_a_path(value):
            if not marks.is_known(value):
                usage.unknown("value")
        elif output in ("-o", "--output", "--out", "--outfile", "--output-file", "--out-file"):
            usage.writes.append(value)
        else:
            usage.unsure.append(value)
        if A_SHELL.search(word):
            usage.unknown("program")
    return usage


def is_listed(program: str) -> bool:
    """Whether it is known how the program is called."""
    return program in ("", "git") or program in SHELLS or synopsis.of(program) is not None


def is_foreign(program: str) -> bool:
    """Whether a program may do with a file what its synopsis does not say."""
    found = synopsis.of(program)
    return found is None or (found.operands[:1] == ("VERB",) and program not in ("git", "gh"))


def looks_like_a_path(word: str) -> bool:
    """Whether a word of no known meaning may name a file."""
    plain = "/" in word or "." in word.rstrip(".")
    return plain and "://" not in word and not any(map(str.isspace, word)) and is_file(word)


def is_file(path: str) -> bool:
    """Whether a path names a file that can be kept."""
    return path not in ("", "-", "{}") and path not in _NO_FILES and not path.startswith("/dev/fd/")


def joined(folder: str, path: str) -> str:
    """A path behind the folder that it starts from."""
    if not folder or not path or path.startswith(("/", "~")):
        return path or folder
    return f"{folder.rstrip('/')}/{path}"
