"""From the words of a command to what it does: its record, and the commands that it runs in turn."""

from ahp.agents.shell import git, marks, output, programs, roles, special, usage
from ahp.agents.shell.command import UNKNOWN, Command
from ahp.agents.shell.marks import ANYTHING, Unknown
from ahp.agents.shell.redirects import Redirects
from ahp.agents.shell.state import State
from ahp.agents.shell.usage import Run, Usage
from ahp.shell.names import SHELLS, SOURCING
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

NESTED = 6
# Variables whose value is a command; and those that name a file which is run.
_COMMANDS = ("COMMAND", "EDITOR", "PAGER", "ASKPASS", "RSH", "LESSOPEN", "LESSCLOSE", "VISUAL", "GIT_SSH", "PERL5DB")
_COMMAND_NAMES = (*_COMMANDS, "EXTERNAL_DIFF", "BROWSER")
# By these another program may be what git's name stands for, or git reads another user's settings.
_LEADING_ELSEWHERE = (
    *("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"),
    *("HOME", "XDG_CONFIG_HOME"),
)
_DOTGLOB = ("dotglob", "globdots")  # of bash and zsh; zsh takes them with underlines, and in any case
_PROMPTS = ("PS0", "PS1", "PS2", "PS3", "PS4")
_SUBSTITUTES = regex(r"\$\(|`")
# They take an index apart: `a[…]`.
_INDEXING = ("test", "[", "[[", "let", "read", "mapfile", "readarray", "getopts", "wait")
_STARTUP_FILES = ("BASH_ENV", "ENV", "PYTHONSTARTUP")


class Execution:
    """The commands of a script so far. `read` reads a nested script, `walk` the body of a function."""

    def __init__(self, state: State, read: "Callable[[str, int], None]", walk: "Callable[[Node], str | None]") -> None:
        self.commands: list[Command] = []
        self._state = state
        self._marks = state.marks
        self._read = read
        self._walk = walk

    def unknown(self) -> None:
        """Adds an unresolved command without a program, unless the last one is that already."""
        last = self.commands[-1] if self.commands else None
        if last is None or last.program or last.args or last.assignments or last.unresolved_at != ["program"]:
            self._add(UNKNOWN)

    def bare(self, command: Command, writes: "Sequence[str]") -> None:
        """Adds a command that only assigns or redirects."""
        self._add(self._described(command, Usage(), writes, None))
        for word in writes:
            self._state.write(word, self._marks.mark(Unknown("", "output")))

    def run(self, words: list[str], assignments: list[str], redirects: Redirects, opens: bool = False) -> str | None:
        """Adds a command and what it runs; returns what it prints, None when that goes elsewhere.

        `opens` says that further arguments come from somewhere else.
        """
        if len(self.commands) >= usage.MOST_COMMANDS:
            self.commands[-1] = UNKNOWN
            return None
        state = self._state
        named = self._program(words[0])
        told, program = named != "", _name(named)
        if program not in state.functions:
            program = programs.named(words[0], program)
        if program.startswith("git-") and programs.of(f"git.{program[4:]}") is not None:
            program, words = "git", ["git", program[4:], *words[1:]]  # `/usr/lib/git-core/git-commit`
        elif program == "hub" and any(programs.of(f"git.{word}") is not None for word in words[1:2]):
            program = "git"  # what hub does not know it hands to git
        command = Command(program, assignments=assignments)
        command.bare = "/" not in words[0] and not any(marks.is_wild(word[:1]) for word in words)
        command.args = [self._marks.shown(word) for word in words[1:] if not self._is_hidden(word)]
        command.unresolved = opens or any(part.source != "{}" for word in words for part in self._marks.of(word))
        stdin = redirects.stdin
        if program == "git":
            command.assignments = [*self._found_by(), *assignments]
        found = self._usage(command, words[1:], stdin) if told else Usage(operands=words[1:], places={"program"})
        command.unknown = self._only_known_later([*words, *redirects.writes])
        if told and (programs.is_listed(program) or "/" not in words[0]):  # a script of the project may read no option
            command.does_nothing = usage.does_nothing(program, words[1:], found)
        self._add(self._described(command, found, redirects.writes, stdin))
        printed = output.printed(program, words[1:], stdin, state.files, self._marks)
        if program in state.functions:
            printed = self._marks.mark(Unknown("", "output"))
        elif command.assignments or state.variables.exported:
            printed = self._marks.nameless(printed)  # a program does as it is set up
        passed_on = self._follow(command, words, found, stdin)
        printed = printed if passed_on is None else passed_on
        for word in redirects.writes:
            errors = self._marks.mark(Unknown("", "output"))
            state.write(word, printed if word in redirects.takes else errors, word in redirects.appends)
        state.remember(program, found, stdin)
        return None if redirects.takes else printed

    def _program(self, word: str) -> str:
        """The program that the first word of a command names; "" where only running tells."""
        if marks.is_known(word):
            return "" if marks.is_wild(word) else word
        name = self._marks.program(word)
        # What the script writes under that name is found by the word as it is written.
        is_written = self._state.writes(name) or any(
            path.rpartition("/")[2] == name for one in self.commands for path in one.writes
        )
        return "" if is_written else name

    def prompts(self, assignments: list[str]) -> None:
        """Runs what the shell expands when it shows these variables, exported or not: `PS4`."""
        self.environment([item for item in assignments if item.startswith(_PROMPTS)])

    def subscripts(self, words: list[str]) -> None:
        """Runs what stands in an index, which these commands expand once more: `[ -v 'a[$(x)]' ]`."""
        for word in words:
            if "[" in word and _SUBSTITUTES.search(word):
                self._run_script(Run(script=f': "{word}"'), None)

    def environment(self, assignments: list[str]) -> None:
        """Runs what variables name: `GIT_EDITOR`, `PAGER`, `PROMPT_COMMAND`, `BASH_ENV`."""
        for item in assignments:
            name, _, value = item.partition("=")
            if name.endswith(_COMMAND_NAMES) and value:
                self._run_script(Run(script=value.lstrip("|- ")), None)
            elif name in _PROMPTS and _SUBSTITUTES.search(value):
                self._run_script(Run(script=f': "{value}"'), None)
            elif name in _STARTUP_FILES and (content := self._state.stored(value)) is not None:
                self._run_script(Run(script=content), None)

    def _found_by(self) -> list[str]:
        """The variables, set before, that lead git elsewhere."""
        variables = self._state.variables
        names = [name for name in _LEADING_ELSEWHERE if variables.has(name)]
        expanded = {name: variables.expand(f"${name}", True) for name in names if name not in variables.exported}
        texts = {name: self._marks.shown(value) for name, value in expanded.items() if isinstance(value, str)}
        hashed = [f"PATH={self._state.hashed['git']}"] if "git" in self._state.hashed else []
        return [*hashed, *[f"{name}={variables.exported.get(name) or texts.get(name, '')}" for name in names]]

    def _add(self, command: Command) -> None:
        if len(self.commands) < usage.MOST_COMMANDS:
            self.commands.append(command)
        else:
            self.commands[-1] = UNKNOWN

    def _is_hidden(self, word: str) -> bool:
        """The place of arguments that come from somewhere else."""
        return marks.is_unknown(word) and not self._marks.shown(word)

    def _only_known_later(self, words: "Sequence[str]") -> list[str]:
        """The words that are known only when the command runs, as the script has them."""
        shown = [self._marks.shown(word) for word in words if not marks.is_known(word)]
        return [word for word in dict.fromkeys(shown) if word not in ("", "{}")]

    # What the command line says

    def _usage(self, command: Command, args: list[str], stdin: str | None) -> Usage:
        program = command.program
        reader = git.read if program == "git" else special.READERS.get(program, roles.read)
        found = reader(program, args, stdin, self._marks)
        project = () if any(run.file or run.code for run in found.runs) else special.PROJECT_FILES.get(program, ())
        found.runs += [Run(file=name, language=name) for name in project if self._state.stored(name) is not None]
        for run in list(found.runs):
            self._read_code(run, found)
        if self._hands_over_a_shell(command, args):
            found.unknown("program")
        if program == "git":
            exported = [f"{name}={value}" for name, value in self._state.variables.exported.items()]
            found.config += git.settings([*exported, *command.assignments])
            found.runs += git.run_by(found.config)
        return found

    def _read_code(self, run: Run, found: Usage) -> None:
        """A text in another language than a shell's is not read: what it names, or is given, it may write."""
        source = run.code
        if run.file is not None and run.language not in SHELLS and run.language not in SOURCING:
            source = self._state.stored(run.file)
        if source is None:
            return
        if marks.is_unknown(source):
            found.unknown("program")
        found.unsure += usage.named_in(marks.without_marks(self._marks.shown(source)))
        if run.file is None:
            found.unsure += [word for word in found.operands if word != source and usage.looks_like_a_path(word)]

    def _hands_over_a_shell(self, command: Command, args: list[str]) -> bool:
        """Whether a file into which the script wrote a shell is handed to a program that may run it."""
        words = [item.partition("=")[2] for item in command.assignments]
        words += args if programs.is_foreign(command.program) else []
        texts = [self._state.stored(part) for word in words for part in (word, word.partition("=")[2])]
        if not programs.is_listed(command.program):
            texts += self._state.files.values()
        return any(usage.A_SHELL.search(text.removeprefix("#!")) for text in texts if text)

    def _described(self, command: Command, found: Usage, writes: "Sequence[str]", stdin: str | None) -> Command:
        """The command with everything that is known of it."""
        shown, here = self._marks.shown, self._state.folder
        folder = usage.joined(here, self._marks.pattern(found.folder))
        command.flags = command.flags or [shown(flag) for flag in found.flags]
        command.redirects = [shown(word) for word in writes]
        command.verb, command.operands = shown(found.verb), [shown(word) for word in found.operands]
        command.config = [(shown(key), shown(value)) for key, value in found.config]
        command.folder = folder
        command.stdin = stdin if stdin and marks.is_known(stdin) else ""
        command.code = shown(found.code)
        command.writes = list(dict.fromkeys([*self._paths(folder, found.writes), *self._paths(here, writes)]))
        command.may_write = list(dict.fromkeys(self._paths(folder, found.unsure)))
        read = self._paths(folder, found.reads)
        command.paths = list(dict.fromkeys([*read, *command.may_write, *command.writes]))
        strays = here.startswith(ANYTHING) and any(path.startswith(ANYTHING) for path in command.writes)
        if strays or any(map(self._marks.is_astray, writes)):
            found.unknown("path")
        command.unresolved |= not all(marks.is_known(word) and not marks.is_wild(word) for word in writes)
        command.unresolved |= bool({"program", "path"} & found.places)
        command.unresolved_at = sorted(found.places)
        return command

    def _paths(self, folder: str, words: "Sequence[str]") -> list[str]:
        """Words as paths behind the folder."""
        patterns = [self._marks.pattern(word) for word in words]
        if self._state.contained:  # a whole path is one of the container's
            patterns = [path for path in patterns if not path.startswith(("/", "~"))]
        return [usage.joined(folder, path) for path in patterns if usage.is_file(path)]

    # What it changes and runs

    def _follow(self, command: Command, words: list[str], found: Usage, stdin: str | None) -> str | None:
        """What the command changes for those behind it, and what it runs; returns what a single one of these prints."""
        state, program = self._state, command.program
        if state.nested > NESTED:
            if found.runs:
                self.unknown()
            return None
        if program in ("cd", "pushd", "popd"):
            searches = state.variables.has("CDPATH") or any(one.startswith("CDPATH=") for one in command.assignments)
            state.change_folder(program, found.operands, "-" in words, searches)
        elif program in ("read", "mapfile", "readarray", "printf", "getopts"):
            state.read_into(program, words, stdin)
        elif program == "alias":
            for arg in found.operands:  # read as if it ran where it is defined
                name, _, text = arg.partition("=")
                self._read(text, state.nested + 1)
                state.aliases[name] = text
        elif program in state.functions and words[0] == program:
            self._call(command, words, stdin)
        elif "/" in words[0] and (content := state.stored(words[0])) is not None:
            self._run_script(Run(script=content, arguments=tuple(words)), stdin, False, command.assignments)
        if program in ("setopt", *SHELLS) or (program == "shopt" and "-u" not in words):
            state.variables.globs_hidden |= any(word.replace("_", "").lower() in _DOTGLOB for word in words)
        if program in _INDEXING or (program == "printf" and words[1:2] == ["-v"]):
            self.subscripts(words[1:3] if program == "printf" else words[1:])
        for other in state.other_names(words[0]):  # it may be that, too: not every shell reads aliases
            found.runs.append(Run((*other, *words[1:])))
        self.environment(command.assignments)
        printed, contained = None, state.contained
        state.contained |= found.contained
        if any(run.assignments for run in found.runs):
            state.variables.forget_environment()
        for run in found.runs:
            # The words of a command within a command are read once more for each level.
            if len(self.commands) >= usage.MOST_COMMANDS or not state.affords(sum(map(len, run.words))):
                self._add(UNKNOWN)
                break
            here = state.folder
            state.folder = usage.joined(here, self._marks.pattern(found.folder))
            given = None if run.stdin == "" else run.stdin or stdin
            printed = self._start(run, command.assignments, given, program == "eval" or program in SOURCING)
            state.folder = state.folder if program == "eval" or program in SOURCING else here
        state.contained = contained
        return printed if len(found.runs) == 1 else None

    def _start(self, run: Run, assignments: list[str], stdin: str | None, here: bool) -> str | None:
        state = self._state
        if run.words:
            state.nested += 1
            printed = self.run(list(run.words), [*assignments, *run.assignments], Redirects(stdin), run.opens)
            state.nested -= 1
            return printed
        if run.script is not None:
            self._run_script(run, stdin, here, assignments)
        elif run.file is not None and (run.language in SHELLS or run.language in SOURCING):
            content = state.stored(run.file)
            if content is not None:
                self._run_script(run.of(content), None, here, assignments)
        return None

    def _run_script(self, run: Run, stdin: str | None, here: bool = False, assignments: "Sequence[str]" = ()) -> None:
        """Reads a text as a script; `here` says that it runs in this very shell, `assignments` stand before it."""
        state, script = self._state, run.script or ""
        parts = self._marks.of(script)
        if any(part.origin == "file" for part in parts):
            return  # an existing file, judged when it was written
        folder, ambient, state.stdin = state.folder, state.stdin, stdin
        kept, exported = state.variables.copy(), dict(state.variables.exported)
        given = state.variables.give(assignments)
        if not here:
            state.bind(run.arguments)
        if not script.startswith("#!") or "sh" in script.split("\n", 1)[0]:
            self._read(script, state.nested + 1)
        else:
            self.unknown()
        if any(part.origin in ("output", "script") for part in parts):
            self.unknown()
        if not here:
            state.variables.restore(kept)
            state.variables.exported = exported
            state.folder = folder
        elif given:
            state.variables.restore(kept, given)
            state.variables.take_back(given, exported)
        state.stdin = ambient

    def _call(self, command: Command, words: list[str], stdin: str | None) -> None:
        """Reads the body of a function with its arguments."""
        state, body = self._state, self._state.functions[command.program]
        state.called.add(command.program)
        if state.nested >= NESTED or not state.affords(len(body.text or b"")):
            self.unknown()
            return
        kept, exported = state.variables.copy(), dict(state.variables.exported)
        ambient, state.stdin = state.stdin, stdin
        state.nested += 1
        given = state.variables.give(command.assignments)
        state.bind(tuple(words))
        self._walk(body)
        state.nested -= 1
        state.variables.restore(kept, (*given, "@", "*", *"0123456789"))
        state.variables.take_back(given, exported)
        state.stdin = ambient


def _name(word: str) -> str:
    """The base name of a program, as tables have it: `/usr/bin/git`, `git.exe` and `GIT` are git."""
    name = word.rpartition("/")[2]
    plain = name.lower().removesuffix(".exe")
    return plain if plain in ("git", "cmd", "powershell", *SHELLS) else name
