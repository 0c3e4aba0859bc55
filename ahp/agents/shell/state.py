"""What a shell remembers while a script runs: its folder, variables, functions, and the files that it wrote."""

from ahp.agents.shell import marks, output, usage
from ahp.agents.shell.marks import ANYTHING, Marks, Unknown
from ahp.agents.shell.usage import Usage
from ahp.agents.shell.variables import Variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

_BUDGET = 512 << 10  # bytes of script read in all, so that `eval $F` a thousand times ends, too
_STEP = 64  # the least that one more script, or one more round of a loop, counts


class State:
    """Followed as the text goes, through nested scripts too."""

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        self.marks = Marks()
        self.variables = Variables(self.marks, environment)
        self.folder = ""
        self._former: list[str] = []
        self.functions: dict[str, Node] = {}
        self.called: set[str] = set()
        self.stdin: str | None = None
        """What the compound command or script around reads; None when nothing was given to it."""
        self.nested = 0
        self.contained = False
        """Whether what is read now runs in a container."""
        self.files: dict[str, str] = {}
        """What the script wrote, by path; a mark where only running tells."""
        self.appended: set[str] = set()
        """Those of them of which only what is added at their end is known."""
        self.programs: dict[str, str] = {}
        """The names of programs that the script copied or linked, by the path of the copy."""
        self.copied: dict[str, str] = {}
        """The files that the script copied, moved or linked, by the path of the copy."""
        self.aliases: dict[str, str] = {}
        self.hashed: dict[str, str] = {}
        """The files that the shell was told to run, by the names of programs: `hash -p`."""
        self.pipes: dict[str, str] = {}
        """What `<(…)` prints, by its source."""
        self._budget = _BUDGET

    def affords(self, size: int) -> bool:
        """Whether so many more bytes of script may be read."""
        self._budget -= max(size, _STEP)
        return self._budget >= 0

    def change_folder(self, program: str, targets: list[str], back: bool, searches: bool = False) -> None:
        """`cd`, `pushd`, `popd`; `back` for `cd -`; `searches` where CDPATH names other folders to look in."""
        former = self.folder
        if program == "popd":
            self.folder = self._former.pop() if self._former else ANYTHING
            return
        if back:
            self.folder = self._former[-1] if self._former else ANYTHING
        else:
            target = self.marks.pattern(targets[0]) if targets else "~"
            target = ANYTHING if searches and not target.startswith(("/", ".", "~")) else target
            self.folder = target if target.startswith(ANYTHING) else usage.joined(former, target)
        self._former.append(former)

    def bind(self, arguments: tuple[str, ...]) -> None:
        """The `$0`, `$1`, `$2` … of a script or function."""
        if arguments:
            self.variables.bind("@", list(arguments[1:]))
            self.variables.bind("*", list(arguments[1:]))
        for index, argument in enumerate(arguments[:10]):
            self.variables.bind(str(index), argument)

    def read_into(self, program: str, words: list[str], stdin: str | None) -> None:
        """`read NAME`, `mapfile NAME` and `printf -v NAME` set variables."""
        if program == "printf":
            if words[1:2] == ["-v"] and len(words) > 3:
                self.variables.bind(words[2], output.printed(program, words[3:], None, {}, self.marks))
            return
        is_list = program != "read" or any(word.startswith("-") and "a" in word for word in words)
        line = (stdin or "").rstrip("\n")
        parts = self.marks.of(line)
        names = [word for word in words[1:] if word.isidentifier()]
        whole = not is_list and len(names) == 1 and "\n" not in line
        for name in names:
            if whole and stdin is not None and (marks.is_known(line) or (marks.is_unknown(line) and len(parts) == 1)):
                self.variables.bind(name, line)
            elif stdin is None or (parts and all(part.origin in ("file", "outside") for part in parts)):
                one = self.marks.mark(Unknown(f"${name}"))
                self.variables.bind(name, [one] if is_list else one)  # each item of a list may be an option
            else:
                self.variables.bind(name, None)

    def path(self, word: str) -> str:
        """The name under which a file is remembered."""
        return usage.joined(self.folder, self.marks.shown(word).removeprefix("./"))

    def stored(self, word: str) -> str | None:
        """What the script wrote to the file, or what `<(…)` prints; None for a file that it did not write."""
        shown = self.marks.shown(word)
        return self.pipes[shown] if shown in self.pipes else self.files.get(self.path(word))

    def write(self, word: str, text: str, appends: bool = False) -> None:
        """Remembers what a redirect writes."""
        path = self.path(word)
        before = self.files.get(path, "") if appends else ""
        if not appends:
            self.appended.discard(path)
        elif path not in self.files:
            self.appended.add(path)
        self.files[path] = before + text

    def remember(self, program: str, found: Usage, stdin: str | None) -> None:
        """Remembers what a command writes of itself: what it is given, brings or copies."""
        if program in ("tee", "sponge"):
            for word in found.operands:
                self.write(word, stdin if stdin is not None else self._unseen(word), "--append" in found.flags)
        for word in found.fetched:
            self.write(word, self._unseen(word))
        if program == "hash" and "-p" in found.flags and len(found.operands) > 1:
            self.hashed[found.operands[1]] = self.marks.pattern(found.operands[0])
            self.programs[found.operands[1]] = _base_name(self.hashed[found.operands[1]])
        for source, copy in found.copies:
            if "/" in self.marks.pattern(source):
                self.programs[self.path(copy)] = _base_name(self.marks.pattern(source))
            for path in (copy, f"{copy.rstrip('/')}/{_base_name(source)}"):
                self.copied[self.path(path)] = self.copied.get(self.path(source), self.path(source))
            content = self._unseen(source) if ":" in source else self.stored(source)
            if content is not None:
                self.write(copy, content)
                self.write(f"{copy.rstrip('/')}/{_base_name(source)}", content)

    def other_names(self, word: str) -> list[list[str]]:
        """The commands that a program's name may stand for: those of an alias, or of a copy of another program."""
        alias, copied = self.aliases.get(word), self.programs.get(self.path(word))
        found = [*([usage.split(alias)] if alias else []), *([[copied]] if copied else [])]
        return [words for words in found if words and words[0] != word]

    def writes(self, name: str) -> bool:
        """Whether the script writes, or copies, a file of this name."""
        return any(_base_name(path) == name for path in (*self.files, *self.programs))

    def _unseen(self, source: str) -> str:
        return self.marks.mark(Unknown(self.marks.shown(source), "output"))


def _base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
