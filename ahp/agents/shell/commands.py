"""The simple commands inside a shell command: what a policy sees of an agent's shell call.

Words are read as they stand; nobody guesses what a program does with them. What a policy cannot know is told as unknown
(`tool.plain`), and a box holds the rest (docs/box.md).
"""

from ahp.agents.shell import git
from ahp.agents.shell.command import Command, is_listed, reads, unknown
from ahp.agents.shell.git import joined
from ahp.agents.shell.grammar import operators, parsed
from ahp.agents.shell.words import ANYTHING, Word, Words, text
from ahp.shell import options
from ahp.shell.names import SHELLS
from ahp.system.plain import Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

_LIMIT = 64 << 10
_OPERATORS = 2000
_DEPTH = 60
_NESTED = 6
_MOST = 500
_VERBS = 3  # words, `--help` among them, at most: `gh pr merge --help`
_HANDED = ("git", "monoco", *SHELLS)
"""What is looked for behind the name of another program: `env git commit`."""
_RUNS = ("command", "doas", "env", "exec", "nice", "nohup", "sudo", "time", "timeout", "xargs")
"""What POSIX has to run another program, and two that run it as somebody else."""
_BEHIND = 8  # commands that are looked for behind such names
_WRITES = (">", ">>", ">|", "&>", "&>>", ">&")
_NO_FILES = ("", "-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")
_ENDS_OF_HEREDOC = ("heredoc_start", "heredoc_end", "heredoc_body", "file_descriptor", "file_redirect")
# By these another program may be what git's name stands for, or git reads another user's settings.
LEADING_ELSEWHERE = ("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "HOME", "XDG_CONFIG_HOME")


class Redirects(Plain):
    """The redirects of a command: `stdin`, a text that it reads, None where that is not told; `piped`, whether anything
    else comes in; `writes`, the files.
    """

    __slots__ = ("piped", "stdin", "writes")

    def __init__(self, piped: bool = False) -> None:
        self.stdin: Word | None = None
        self.piped = piped
        self.writes: list[Word] = []


def read(script: str) -> list[Command]:
    """The commands that a shell would run, in order of the text; both sides of every choice.

    Never raises: what cannot be read is a command without a program that is `unresolved`.
    """
    reader = _Reader()
    try:
        reader.script(script)
    except RecursionError:  # thousands of nested expansions
        reader.lost()
    return reader.found


class _Reader:
    """Walks the syntax tree of a script, and of the scripts in it."""

    def __init__(self) -> None:
        self.found: list[Command] = []
        self._exported: list[str] = []
        self._words = Words(self._inside)
        self._folder, self._depth, self._nested = "", 0, 0
        self._handing = False
        self._budget = _LIMIT * 4  # bytes of script read in all

    def script(self, source: str) -> None:
        """Reads a text as a script of its own."""
        self._nested += 1
        self._handing, handing = False, self._handing
        self._budget -= len(source) + 64
        is_long = len(source) > _LIMIT or self._budget < 0 or "\0" in source
        if is_long or self._nested > _NESTED or (len(source) > _OPERATORS and operators(source) > _OPERATORS):
            self.lost()
        else:
            root = parsed(source)
            self._walk(root)
            if root.has_error:
                self.lost()
        self._nested -= 1
        self._handing = handing

    def lost(self) -> None:
        """Adds an unresolved command without a program, unless the last one is that already."""
        if self.found[-1:] != [unknown()]:
            self._add(unknown())

    def _unread(self, word: str) -> None:
        """Adds what a shell runs that is known only then."""
        command = unknown()
        command.unknown = [word] if word else []
        self._add(command)

    def _add(self, command: Command) -> None:
        if len(self.found) < _MOST:
            self.found.append(command)
        else:
            self.found[-1] = unknown()

    def _inside(self, node: "Node") -> None:
        """The commands of a substitution or a subshell."""
        folder = self._folder
        for child in node.named_children:
            self._walk(child)
        self._folder = folder

    def _walk(self, node: "Node", piped: bool = False) -> None:
        self._depth += 1
        if self._depth > _DEPTH:
            self.lost()
        else:
            self._statement(node, piped)
        self._depth -= 1

    def _statement(self, node: "Node", piped: bool) -> None:
        kind = node.type
        if kind == "command":
            self._command(node, Redirects(piped))
        elif kind == "redirected_statement":
            self._redirected(node, piped)
        elif kind == "pipeline":
            for number, stage in enumerate(node.named_children):
                self._walk(stage, piped or number > 0)
        elif kind in ("variable_assignment", "variable_assignments"):
            command = Command(folder=self._folder)
            command.assignments = [
                self._assign(one) for one in ([node] if kind == "variable_assignment" else node.named_children)
            ]
            self._exported += command.assignments
            self._add(command)
        elif kind in ("declaration_command", "unset_command", "test_command"):
            self._declared(node)
        elif kind in ("subshell", "command_substitution", "process_substitution"):
            self._inside(node)
        elif kind in ("string", "concatenation", "expansion", "simple_expansion", "word") or kind == "file_redirect":
            self._words.read(node)
        else:
            for child in node.named_children:
                self._walk(child, piped)

    def _assign(self, node: "Node") -> str:
        """`NAME=value`, as it is shown."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        for part in (name, value):
            if part is not None and part.type in ("subscript", "array"):
                for child in part.named_children:
                    self._words.read(child)
        told = text(name) if name is not None else ""
        if value is None or value.type == "array":
            return f"{told}={text(value) if value is not None else ''}"
        return f"{told}={self._words.read(value).text}"

    def _declared(self, node: "Node") -> None:
        """`export NAME=value`, `unset NAME`, `[[ … ]]`."""
        command = Command(text(node.children[0]), folder=self._folder)
        words = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                command.assignments.append(self._assign(child))
            elif node.type == "test_command":
                command.args += [text(one) for one in _leaves(child)]
                self._walk(child)
            else:
                words.append(self._words.read(child))
        command.args += [*[word.text for word in words], *command.assignments]
        command.unknown = [word.text for word in words if not word.known]
        command.flags = options.parse(command.args, options.ANY).flags
        self._exported += command.assignments
        self._add(command)

    # Simple commands and their redirects

    def _command(self, node: "Node | None", redirects: Redirects, behind: "Sequence[Node]" = ()) -> None:
        """Reads a simple command; `behind` are words behind its redirects: `git commit -F- <<E -n`."""
        words: list[Word] = []
        assignments: list[str] = []
        for child in [] if node is None else [node] if node.type == "variable_assignment" else node.children:
            if child.type == "variable_assignment":
                assignments.append(self._assign(child))
            elif node is not None and _is_descriptor(child, node):
                continue
            elif child.type == "command_name":
                words.append(self._words.read(child.children[0]) if child.children else Word(text(child)))
            elif child.type == "subshell" and [word.text for word in words] in (["time"], ["coproc"]):
                self._inside(child)  # words of the shell, for which the grammar has no rule
            elif child.type.endswith("_redirect"):
                self._redirect(child, redirects)
                words += [self._words.read(one) for one in _arguments_behind(child)]
            elif child.is_named or child.type not in ("<", ">", "(", ")"):
                words.append(self._words.read(child))
        words += [self._words.read(child) for child in behind]
        for word in words:
            word.text = word.text.rstrip("\r")
        self._run(words, assignments, redirects)

    def _run(self, words: list[Word], assignments: list[str], redirects: Redirects) -> None:
        """Adds a command, and the commands of git and of shells that its words are."""
        command = Command(folder=self._folder)
        command.assignments = list(assignments)
        name, args = (words[0], words[1:]) if words else (Word(""), [])
        is_told = name.known and not name.wild
        command.program = _name(name.text) if is_told else ""
        begins_wild = any(word.wild and word.path[:1] in "*?[" for word in words)  # a file may have an option's name
        command.bare = "/" not in name.text and not begins_wild
        command.args = [word.text for word in args]
        all_words = [*words, *redirects.writes]
        command.unknown = list(dict.fromkeys(word.text for word in all_words if not word.known))
        places = {"option"} if begins_wild or any(not word.known for word in args) else set()
        places |= {"program"} if words and not is_told else set()
        places |= {"path"} if any(word.path.startswith(ANYTHING) or word.wild for word in redirects.writes) else set()
        stdin = redirects.stdin
        command.stdin = stdin.text if stdin is not None and stdin.known else ""
        command.piped = redirects.piped or (stdin is not None and not stdin.known)
        named: list[str] = []
        if command.program == "git":
            git.describe(command, self._exported)
            command.assignments = [
                *[one for one in self._exported if one.partition("=")[0] in LEADING_ELSEWHERE],
                *assignments,
            ]
        else:
            read = options.parse(command.args, options.ANY)
            command.flags, command.operands = read.flags, read.operands
            named = [one for word in args for one in _paths(word)]
            is_reader = reads(command.program, command.args)
            # A reader that is told to do more may do it to all of a folder.
            here = () if is_listed(command.program) else (".", "./")
            command.may_write = [] if is_reader else [one for one in named if one not in here]
            command.does_nothing = command.args[-1:] in (["--help"], ["--version"]) and len(command.args) <= _VERBS
        self._place(command, redirects, named)
        command.unresolved_at = sorted(places)
        self._add(command)
        if command.program == "cd" or not (command.program == "git" or reads(command.program, command.args)):
            self._follow(command, words, redirects)

    def _place(self, command: Command, redirects: Redirects, named: "Sequence[str]" = ()) -> None:
        """Files by the folder in which the command runs; those of redirects by the shell's."""
        command.redirects = [word.text for word in redirects.writes]
        command.writes = [joined(self._folder, word.path) for word in redirects.writes]
        command.may_write = list(dict.fromkeys(joined(command.folder, path) for path in command.may_write))
        read = [joined(command.folder, path) for path in named]
        command.paths = list(dict.fromkeys([*read, *command.may_write, *command.writes]))

    def _follow(self, command: Command, words: list[Word], redirects: Redirects) -> None:
        """What the words run: git behind another program's name, texts for a shell, another folder."""
        program = command.program
        if program in ("cd", "pushd", "popd"):
            target = next((word for word in words[1:] if not word.text.startswith("-")), None)
            path = ANYTHING if program == "popd" or "-" in command.args else target.path if target else "~"
            self._folder = joined(self._folder, path) if not path.startswith(ANYTHING) else ANYTHING
            return
        if program in SHELLS or program == "eval":
            texts = _texts(program, words[1:])
            if not texts and redirects.stdin is not None:
                texts = [redirects.stdin]
            folder = self._folder
            for one in texts:
                self.script(one.text) if one.known else self._unread(one.text)
            if program in SHELLS and command.piped and not texts and set(command.operands) <= {"-"}:
                self._unread("")
            self._folder = folder if program in SHELLS else self._folder
            return
        for at, word in enumerate(words[1:-1], 1):
            if _name(word.text) in _HANDED and word.known and self._nested <= _NESTED:
                self._nested += 1
                after = Redirects(redirects.piped)
                after.stdin = redirects.stdin
                given = [
                    one.text for one in words[1:at] if one.text.partition("=")[0].isidentifier() and "=" in one.text
                ]
                self._run(words[at:], [*command.assignments, *given], after)
                self._nested -= 1
                found = self.found[-1]
                if redirects.piped and found.program == "git" and found.verb != "add":  # xargs
                    found.unresolved_at = sorted({*found.unresolved_at, "option"})
                return
        if not self._handing and program in _RUNS and not (program == "command" and command.flags):  # -v: where it is
            self._handing = True
            for at in _beginnings(words):
                self._run(words[at:], [], Redirects(redirects.piped)) if at else self.lost()
            self._handing = False

    def _redirected(self, node: "Node", piped: bool) -> None:
        """A statement with redirects: those of the last command of a list, `a && b > f`, as the grammar hangs them."""
        body = node.child_by_field_name("body")
        while body is not None and body.type in ("list", "pipeline", "negated_command") and body.named_children:
            *before, last = body.named_children
            for number, child in enumerate(before):
                self._walk(child, piped or (body.type == "pipeline" and number > 0))
            piped = piped or (body.type == "pipeline" and bool(before))
            body = last
        redirects, after, behind = Redirects(piped), list["Node"](), list["Node"]()
        for child in node.children_by_field_name("redirect"):
            self._redirect(child, redirects)
            after += _commands_behind(child)
            behind += _arguments_behind(child)
        is_simple = bool(behind) and (body is None or body.type.startswith("variable_assignment"))
        if is_simple or body is None or body.type == "command":
            self._command(body, redirects, behind)
        else:
            if redirects.writes or redirects.stdin is not None:
                command = Command(folder=self._folder)
                self._place(command, redirects)
                command.unknown = [word.text for word in redirects.writes if not word.known]
                strays = any(word.path.startswith(ANYTHING) for word in redirects.writes)
                command.unresolved_at = ["path"] if strays else []
                self._add(command)
            self._walk(body, piped or redirects.stdin is not None)
        for following in after:
            self._walk(following, True)

    def _redirect(self, node: "Node", redirects: Redirects) -> None:
        """Adds one redirect."""
        if node.type == "herestring_redirect":
            words = [self._words.read(child) for child in node.named_children if child.type != "file_descriptor"]
            redirects.stdin = words[-1] + Word("\n") if words else None
            return
        if node.type == "heredoc_redirect":
            for child in node.named_children:
                if child.type == "heredoc_body":
                    redirects.stdin = self._words.heredoc(child)
                elif child.type == "file_redirect":  # `cat <<E > f`
                    self._redirect(child, redirects)
            return
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = [self._words.read(child) for child in node.children_by_field_name("destination")[:1]]
        if operator not in _WRITES:
            return
        files = [word for word in targets if not (operator == ">&" and (word.text.isdigit() or word.text == "-"))]
        redirects.writes += [
            word for word in files if word.text not in _NO_FILES and not word.text.startswith("/dev/fd/")
        ]


def _beginnings(words: list[Word]) -> list[int]:
    """Where commands may begin that a program runs which its words name, and 0 where there may be more.

    A word behind an option may be its value, so the next one is a beginning, too.
    """
    found = [0]
    for start in found:
        for at in range(start + 1, len(words) if start == 0 or _name(words[start].text) in _RUNS else 0):
            text = words[at].text
            if not words[at].known or text.startswith("-") or "=" in text or text[:1].isdigit():
                continue
            if at not in found:
                found.append(at)
            if len(found) > _BEHIND:
                return [*sorted(found[1:]), 0]
            if not words[at - 1].text.startswith("-"):
                break
    return sorted(found[1:])


def _texts(program: str, args: list[Word]) -> list[Word]:
    """The text that a shell, or `eval`, is given to run: `sh -c TEXT`."""
    if program == "eval":
        found = Word("")
        for number, word in enumerate(args):
            found += Word(" " * (number > 0)) + word
        return [found] if args else []
    behind = [number for number, word in enumerate(args) if _takes_text(word.text)]
    return [word for word in args[behind[0] + 1 :] if not word.text.startswith("-")][:1] if behind else []


def _takes_text(option: str) -> bool:
    return option == "--command" or (option[:1] == "-" and option[:2] != "--" and "c" in option[:8])


def _paths(word: Word) -> list[str]:
    """The word as files: as it is, behind `=`, and behind the letter of an option: `-f/etc/x`."""
    whole, value = word.path, word.path.partition("=")[2]
    glued = whole[2:] if "/" in whole or "." in whole else ""
    found = [value] if whole.startswith("--") else [glued, value] if whole.startswith("-") else [whole, value]
    return [one for one in found if one not in _NO_FILES and "://" not in one and not any(map(str.isspace, one))]


def _name(word: str) -> str:
    """The base name of a program: `/usr/bin/git`, `git.exe`, `git@2` and `GIT` are git."""
    name = word.rpartition("/")[2]
    name = name.partition("@")[0] or name
    plain = name.lower().removesuffix(".exe")
    return plain if plain in ("git", "cmd", "powershell", *SHELLS) else name


def _leaves(node: "Node") -> "list[Node]":
    return [one for child in node.named_children for one in _leaves(child)] if node.named_children else [node]


def _arguments_behind(redirect: "Node") -> "list[Node]":
    """Arguments behind a redirect, which the grammar takes for more files of it: `git push >l --force`."""
    if redirect.type == "file_redirect":
        closes = any(child.type in ("<&-", ">&-") for child in redirect.children)  # and takes no file at all
        return redirect.children_by_field_name("destination")[0 if closes else 1 :]
    inner = [
        one for child in redirect.named_children if child.type == "file_redirect" for one in _arguments_behind(child)
    ]
    return redirect.children_by_field_name("argument") + inner


def _commands_behind(redirect: "Node") -> "list[Node]":
    """Commands behind a here-document's word, which the grammar puts inside the redirect: `cat <<E | sh`."""
    return [
        child
        for child in redirect.named_children
        if redirect.type == "heredoc_redirect" and child.type not in _ENDS_OF_HEREDOC
    ]


def _is_descriptor(child: "Node", command: "Node") -> bool:
    """Whether a word is none: the grammar takes the 0 of `git push 0<&2` and of `0<f git push` for one."""
    behind = child.next_sibling or command.next_sibling
    redirects = behind is not None and behind.type.endswith("_redirect") and behind.start_byte == child.end_byte
    word = child.children[0] if child.type == "command_name" and child.children else child
    return redirects and word.type == "number"
