"""What a word of a command line means in its role, and what the rest of a line means behind a command or a script."""

from ahp.agents.shell import marks
from ahp.agents.shell.marks import ANYTHING, Marks
from ahp.agents.shell.usage import ASKS, Run, Usage, is_folder, joined, looks_like_a_path, text_files
from ahp.shell import options
from ahp.shell.names import SOURCING
from ahp.shell.synopsis import Synopsis
from ahp.system.regex import IGNORECASE, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar

_RUN_SETTINGS = regex(
    r"(?:^alias\..*|command|exec|action|invoke|editor|pager|askpass|shell|rsh|ssh)[:\]]*$", IGNORECASE
)
_KEYS = ("Enter", "C-m", "KPEnter")
_URL = regex(r"[a-z+.-]+://|git@|\S+@\S+:")
_GLUE = regex("[= ]")
_TAG = regex("[:@]")
_PARTS = regex("[:=,]")
_HOST = regex(r"[\w.@-]+:")
_COPIERS = ("rsync", "scp")
_CONTENTS = ("/", "/.")  # behind a source: what is in it is copied, not the folder itself
OPENS_A_SHELL = ("LOGIN", "SHELL")
"""Roles of a command without which a shell is started."""
_SHELL_FLAGS = {"--login", "--shell"}


class Meanings:
    """One command line, word by word, into what it means: `usage`.

    `synopsis` is the line of the tables that is read now, the program's or its verb's; `in_place` makes files that are
    read files that are written; `replaced` are the roles of options that stand in for an operand, `assignments` the
    `NAME=value` before a command.
    """

    def __init__(self, program: str, found: Synopsis, stdin: str | None, known: Marks) -> None:
        self.usage = Usage()
        self.synopsis = found
        self.in_place = False
        self.replaced: set[str] = set()
        self.assignments: list[str] = []
        self._program = program
        self._stdin = stdin
        self._marks = known
        self._entry: list[str] = []

    # Single words

    def take(self, role: str, word: str) -> None:
        """One word in its role."""
        meaning = self.VALUES.get(role)
        if meaning is not None:
            meaning(self, word)
        elif not marks.is_known(word):
            self.usage.unknown("value")

    def _read_file(self, word: str) -> None:
        self._file(self.usage.writes if self.in_place else self.usage.reads, word)

    def _read_tree(self, word: str) -> None:
        self._read_file(_in_it(word))

    def _write_tree(self, word: str) -> None:
        self._write_file(_in_it(word))

    def _write_file(self, word: str) -> None:
        self._file(self.usage.writes, word)

    def _file(self, files: list[str], word: str) -> None:
        if _URL.match(word) or (self._program in _COPIERS and _HOST.match(word)):
            return
        files.append(word)
        if not marks.is_known(word):
            is_written = files is self.usage.writes
            self.usage.unknown("path" if is_written and self._marks.is_astray(word) else "value")

    def _link(self, word: str) -> None:
        """What is written through the link later; a link to a whole tree leaves that as it is."""
        if self._marks.pattern(word).rstrip("/") not in ("", ".", "..", "~"):
            self._write_file(word)

    def _fetch(self, word: str) -> None:
        self._write_file(word)
        self.usage.fetched.append(word)

    def _write_into(self, word: str) -> None:
        self._write_file(f"{word.rstrip('/')}/{ANYTHING}")

    def _copy_to(self, word: str) -> None:
        sources = [self._marks.pattern(source) for source, _ in self.usage.copies]
        is_target = "--no-target-directory" in self.usage.flags
        if is_target or not is_folder(word) or any(source.endswith(_CONTENTS) for source in sources):
            self._write_file(word)
        if not is_target and not (self._program in _COPIERS and _HOST.match(word)):
            # Where the name does not tell whether the target is a folder, both readings count.
            whole = self._program == "cp" and "--parents" in self.usage.flags
            names = [source if whole else source.rstrip("/").rpartition("/")[2] for source in sources]
            self.usage.writes += [f"{word.rstrip('/')}/{name}" for name in names if name]
            if is_folder(word) and any(self._marks.is_astray(source) for source, _ in self.usage.copies):
                self.usage.unknown("path")

    def _make(self, word: str) -> None:
        """A folder or an empty file, which takes nothing from what is there."""
        self.usage.writes.append(word)
        if not marks.is_known(word):
            self.usage.unknown("value")

    def _work_in(self, word: str) -> None:
        self.usage.folder = joined(self.usage.folder, word)

    def _script(self, word: str) -> None:
        self.usage.runs.append(Run(script=word, stdin=""))

    def _begin_command(self, word: str) -> None:
        self._entry = word.split()

    def _list(self, word: str) -> None:
        self.usage.runs.append(Run(tuple(word.split(","))))

    def _setting(self, word: str) -> None:
        name, *text = _GLUE.split(word, 1)
        if _RUN_SETTINGS.search(name):
            self._script("".join(text).lstrip(";|&! "))

    def _config(self, word: str) -> None:
        name, glue, value = word.partition("=")
        self.usage.config.append((name.strip().lower(), value if glue else "true"))

    def _name(self, word: str) -> None:
        if looks_like_a_path(self._marks.pattern(word)):
            self.usage.reads.append(word)
        if not marks.is_known(word):
            self.usage.unknown("value")

    def _mount(self, word: str) -> None:
        """`-v HOST:INSIDE`, `--mount source=HOST,…`: what runs inside may write there."""
        self.usage.unsure += [part for part in _PARTS.split(word)[:-1] if looks_like_a_path(self._marks.pattern(part))]

    def _code(self, text: str) -> None:
        usage = self.usage
        outside = all(part.origin == "outside" for part in self._marks.of(text))
        if marks.is_unknown(text.strip()) and ("RUN" in self.synopsis.operands or not outside):
            usage.unknown("program")
        usage.code = f"{usage.code}\n{text}" if usage.code else text
        usage.runs.append(Run(code=text, language=self._program))

    def code_from_stdin(self) -> None:
        if self._stdin and marks.is_known(self._stdin):
            self._code(self._stdin)
        else:
            self._opened()

    def _opened(self) -> bool:
        """Runs the files whose text comes in; False where none does."""
        opened = text_files(self._stdin, self._marks)
        self.usage.runs += [Run(file=one, language=self._program) for one in opened]
        return bool(opened)

    def _script_file(self, word: str, arguments: tuple[str, ...] = ()) -> None:
        if word in ("-", "/dev/stdin"):
            self._run_stdin()
            return
        self.usage.reads.append(word)
        if marks.is_unknown(word) and self._marks.pattern(word).startswith(ANYTHING):
            self.usage.unknown("program")
        else:
            self.usage.runs.append(Run(file=word, language=self._program, arguments=arguments))

    def _run_stdin(self) -> None:
        """The program's text comes in; it is unknown, but for an existing file's, judged when it was written."""
        parts = self._marks.of(self._stdin or "")
        if self._program in SOURCING and self._stdin:
            self.usage.runs.append(Run(script=self._stdin))
        elif self._stdin and not parts:
            self._code(self._stdin)
        elif not self._opened() and not any(part.origin == "file" for part in parts):
            self.usage.unknown("program")

    def image(self, image: str, words: list[str]) -> None:
        """A container's arguments are its entry point's: `alpine/git commit`."""
        self.usage.contained = True
        program = _TAG.split(image.rpartition("/")[2])[0]
        if words and not self._entry and (program == "git" or words[0].startswith("-")):
            self.usage.runs.append(Run((program, *words)))

    VALUES: "ClassVar[dict[str, Callable[[Meanings, str], None]]]" = {  # noqa: RUF012
        "READ": _read_file,
        "WRITE": _write_file,
        "TREE": _read_tree,
        "FORMAT": _write_tree,
        "MAKE": _make,
        "LINK": _link,
        "BUILD": _write_file,
        "FETCH": _fetch,
        "INTO": _write_into,
        "TO": _copy_to,
        "CD": _work_in,
        "SCRIPT": _script,
        "BEGIN": _begin_command,
        "LIST": _list,
        "SETTING": _setting,
        "CONFIG": _config,
        "NAME": _name,
        "MOUNT": _mount,
        "PATCH": _read_file,
        "CODE": _code,
        "RUN": _script_file,
    }

    # The rest of the line

    def take_rest(self, role: str, words: list[str]) -> None:
        """The words from a command, a script or the like to the end of the line: they are another program's."""
        if role == "RUN":
            self._run_file(words)
            return
        usage = self.usage
        words = self._late_options([*self._entry, *words])
        if words:
            self.RESTS[role](self, words)
        elif not any(run.script for run in usage.runs) and (role in OPENS_A_SHELL or _SHELL_FLAGS & set(usage.flags)):
            usage.unknown("program")

    def _late_options(self, words: list[str]) -> list[str]:
        """The words without options before the command: `flock FILE -c TEXT`, `kubectl exec POD -- COMMAND`."""
        if len(words) < 2 or not words[0].startswith("-"):
            return words
        late = options.parse(words, self.synopsis.spec, False)
        for name, value in late.values:
            self.take(self.synopsis.roles.get(name, "VALUE"), value)
        return late.operands

    def _run_file(self, words: list[str]) -> None:
        """`python FILE ARGS`, `python -c CODE ARGS`, `python -m MODULE ARGS`, `python -`."""
        usage = self.usage
        usage.operands += words
        if module := self._module():
            usage.runs.append(Run((*module, *words)))
            place = module[0].replace(".", "/")  # where the project has it
            usage.runs += [Run(file=f"{place}{end}", language=self._program) for end in (".py", "/__main__.py")]
        elif self.replaced & {"CODE", "RUN"}:
            if self.in_place or self._program in ("perl", "ruby"):
                for word in words:
                    self._read_file(word)
        elif words:
            self._script_file(words[0], tuple(words))
        elif not ({*ASKS, "--test"} & set(usage.flags) or (self._program in ("crontab", "php") and usage.flags)):
            self._run_stdin()

    def _command(self, words: list[str]) -> None:
        if not (self._program == "command" and {"-v", "-V"} & set(self.usage.flags)):  # these only tell where it is
            self.usage.runs.append(Run((*self._module(), *words), assignments=tuple(self.assignments)))

    def _module(self) -> list[str]:
        """The module that an option runs in place of a program: `python -m MODULE`, `uv run -m MODULE`."""
        return [value for name, value in self.usage.values if self.synopsis.roles.get(name) == "MODULE"][:1]

    def _line(self, words: list[str]) -> None:
        self.usage.runs.append(Run(script=" ".join(words)))

    def _keys(self, words: list[str]) -> None:
        self._script(" ".join(word for word in words if word not in _KEYS))

    def _bisect(self, words: list[str]) -> None:
        self.usage.operands += words
        if words[0] == "run":
            self.usage.runs.append(Run(tuple(words[1:])))

    def _foreach(self, words: list[str]) -> None:
        self.usage.operands += words
        if words[0] == "foreach":
            self._line([word for word in words[1:] if word not in ("--recursive", "-q", "--quiet")])

    def _nothing(self, words: list[str]) -> None:
        self.usage.operands += words

    RESTS: "ClassVar[dict[str, Callable[[Meanings, list[str]], None]]]" = {  # noqa: RUF012
        "COMMAND": _command,
        "LOGIN": _command,
        "LINE": _line,
        "KEYS": _keys,
        "BISECT": _bisect,
        "FOREACH": _foreach,
        "RUN": _run_file,
        "SHELL": _nothing,
    }


def _in_it(word: str) -> str:
    """The files in a folder; a word that need not be one as it is."""
    return f"{word.rstrip('/')}/{ANYTHING}" if is_folder(word) else word
