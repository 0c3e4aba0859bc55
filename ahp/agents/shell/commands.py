"""The simple commands inside a shell command, nested ones too: what a policy sees of an agent's shell call."""

from ahp.agents.shell import marks, roles
from ahp.agents.shell.command import Command
from ahp.agents.shell.execution import NESTED, Execution
from ahp.agents.shell.expansion import Expander, text
from ahp.agents.shell.grammar import never_runs, operators, parsed
from ahp.agents.shell.marks import Unknown
from ahp.agents.shell.redirects import RedirectReader, Redirects, arguments_behind, commands_behind, is_descriptor
from ahp.agents.shell.state import State
from ahp.agents.shell.variables import only_read
from ahp.system.plain import Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from ahp.agents.shell.variables import Value

_LIMIT = 64 << 10
_OPERATORS = 2000
_DEPTH = 60
_UNROLLED = 8
_EXPORTS = ("export", "declare", "typeset")
_WORDS = ("string", "concatenation", "expansion", "simple_expansion", "word", "raw_string", "test_command")


def _raw_strings(node: "Node") -> "list[Node]":
    """The strings between single quotes below a node."""
    found, rest = [], [node]
    while rest:
        one = rest.pop()
        found += [one] if one.type == "raw_string" else []
        rest += one.named_children
    return found


class Reading(Plain):
    """What a script does, as far as reading tells.

    `files` are those that it writes with a text that stands in it, by path from where the script starts, and their
    texts; `drafts` the same, and texts of which a part is not known, as the script has them; `appended` those that keep
    what they hold: their text comes behind it.
    """

    __slots__ = ("appended", "commands", "drafts", "files")

    def __init__(
        self, commands: list[Command], files: dict[str, str], drafts: dict[str, str], appended: frozenset[str]
    ) -> None:
        self.commands, self.files, self.drafts, self.appended = commands, files, drafts, appended


def read(script: str, environment: "Mapping[str, str] | None" = None, arguments: "Sequence[str]" = ()) -> list[Command]:
    """The commands that a shell would run, in order of the text; both sides of every choice.

    Of `environment`, the variables that the agent has, those count that the text only reads; `arguments` are its `$1`,
    `$2` … Never raises: what cannot be read is a command without a program that is `unresolved`.
    """
    return read_all(script, environment, arguments).commands


def read_all(script: str, environment: "Mapping[str, str] | None" = None, arguments: "Sequence[str]" = ()) -> Reading:
    """The commands as `read` gives them, and the files that the script writes. Never raises."""
    reader = _Reader(only_read(script, environment))
    if arguments:
        reader.state.bind(("", *map(marks.without_marks, arguments)))
    try:
        reader.script(marks.without_marks(script), 0)
        reader.uncalled()
    except RecursionError:  # thousands of nested expansions
        reader.execution.unknown()
    state = reader.state
    known = {path: text for path, text in state.files.items() if marks.is_known(text)}
    drafts = {path: state.marks.shown(text) for path, text in state.files.items() if not marks.is_unknown(text)}
    return Reading(reader.execution.commands, known, drafts, frozenset(state.appended))


class _Reader:
    """Walks the syntax tree of a script, and of the scripts in it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.state = State(environment)
        self.execution = Execution(self.state, self.script, self._walk)
        self._expander = Expander(self.state.marks, self.state.variables, self._substitution)
        self._redirects = RedirectReader(self.state, self._expander)
        self._depth = 0

    def script(self, source: str, nested: int) -> None:
        """Reads a text as a script of its own, `nested` deep in others."""
        state = self.state
        before, state.nested = state.nested, nested
        source = source.lstrip() if nested else source
        if (
            len(source) > _LIMIT
            or nested > NESTED
            or not state.affords(len(source))
            or "\0" in source
            or (len(source) > _OPERATORS and operators(source) > _OPERATORS)
        ):
            self.execution.unknown()
        else:
            root = parsed(source)
            self._walk(root)
            if root.has_error and not never_runs(source):
                self.execution.unknown()
        state.nested = before

    def uncalled(self) -> None:
        """Reads the functions that nothing calls: something may call them by a computed name."""
        for name, body in list(self.state.functions.items()):
            if name not in self.state.called:
                self._walk(body)

    def _walk(self, node: "Node") -> str | None:
        printed: str | None = None
        self._depth += 1
        if self._depth > _DEPTH:
            self.execution.unknown()
        else:
            printed = self._statement(node, self.state.stdin)
        self._depth -= 1
        return printed

    def _statement(self, node: "Node", stdin: str | None) -> str | None:
        """Reads a statement; returns what it prints, None where only running tells."""
        kind = node.type
        if kind == "command":
            return self._command(node, Redirects(stdin))
        if kind == "redirected_statement":
            return self._redirected(node, stdin)
        if kind == "pipeline":
            return self._pipeline(node.named_children, stdin)
        if kind in ("variable_assignment", "variable_assignments"):
            items = [node] if kind == "variable_assignment" else node.named_children
            command = Command(assignments=[self._assign(item) for item in items])
            self.execution.bare(command, [])
            self.execution.prompts(command.assignments)
        elif kind in ("declaration_command", "unset_command"):
            self._declaration(node)
        elif kind == "for_statement":
            self._for(node)
        elif kind == "c_style_for_statement":
            self._count(node)
        elif kind == "function_definition":
            self._function(node)
        elif kind == "subshell":
            before, self.state.stdin = self.state.stdin, stdin
            self._substitution(node)
            self.state.stdin = before
        elif kind in _WORDS:
            self._expander.word(node)
            if kind == "test_command":
                self.execution.subscripts([text(child) for child in _raw_strings(node)])
        else:
            before, self.state.stdin = self.state.stdin, stdin
            for child in node.named_children:
                self._walk(child)
            self.state.stdin = before
        return None

    # Substitutions and pipes

    def _substitution(self, node: "Node") -> str:
        """`$(…)` and `(…)`: what is printed inside; `<(…)`: the name of a file with that."""
        state, folder = self.state, self.state.folder
        printed: str | None = None
        self._depth += 1
        if self._depth > _DEPTH:
            self.execution.unknown()
        else:
            for child in node.named_children:
                printed = self._printed(child)
        self._depth -= 1
        state.folder = folder
        single = printed is not None and len(node.named_children) == 1
        told = (
            state.marks.named(printed or "", text(node)) if single else state.marks.mark(Unknown(text(node), "output"))
        )
        if node.type != "process_substitution":
            return told
        state.pipes[text(node)] = told
        return state.marks.mark(Unknown(text(node), "output", True, "/dev/fd/63"))

    def _printed(self, node: "Node") -> str | None:
        if node.type == "file_redirect":  # `$(< file)`
            return self.state.stored("".join(self._redirects.destinations(node)))
        return self._statement(node, self.state.stdin)

    def _pipeline(self, stages: "list[Node]", source: str | None) -> str | None:
        """Each stage reads what the one before prints."""
        for stage in stages:
            source = self._statement(stage, source)
            if source is None and stage is not stages[-1]:
                source = self.state.marks.mark(Unknown("", "output"))
        return source

    # Variables, loops, functions

    def _assign(self, node: "Node") -> str:
        """Remembers `NAME=value`; returns it as it is shown."""
        name_node, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = text(name_node) if name_node else ""
        if name_node is not None and name_node.type == "subscript":
            self._expander.word(name_node)  # a substitution in it runs
        value: Value = ""
        if value_node is not None and value_node.type == "array":
            value = [word for child in value_node.named_children for word in self._expander.words(child)]
        elif value_node is not None:
            value = marks.literal(self._expander.word(value_node))
        self.state.variables.set(name, value, text(node).startswith(name + "+="))
        return f"{name}={self.state.marks.shown(value if isinstance(value, str) else ' '.join(value))}"

    def _declaration(self, node: "Node") -> None:
        command = Command(text(node.children[0]))
        for child in node.named_children:
            if child.type == "variable_assignment":
                command.assignments.append(self._assign(child))
            else:
                expanded = self._expander.words(child)
                for word in expanded:
                    self.state.variables.forget_environment(word.partition("=")[0] if marks.is_known(word) else "")
                words = [self.state.marks.shown(word) for word in expanded]
                command.args += words
                self.execution.subscripts(words)
                if command.program in _EXPORTS:
                    command.assignments += [item for word in words for item in self._set_before(word)]
        command.args += [item for item in command.assignments if item.partition("=")[0] not in command.args]
        command.flags = roles.read(command.program, command.args, None, self.state.marks).flags
        self.execution.bare(command, [])
        if command.program == "export" or "-x" in command.flags:
            for item in command.assignments:
                self.state.variables.export(*item.partition("=")[::2])
            self.execution.environment(command.assignments)

    def _set_before(self, name: str) -> list[str]:
        """`NAME=value` for `export NAME` of a variable that the script has set."""
        if not name.isidentifier() or not self.state.variables.has(name):
            return []
        value = self.state.variables.expand(f"${name}", True)
        return [f"{name}={self.state.marks.shown(value if isinstance(value, str) else ' '.join(value))}"]

    def _function(self, node: "Node") -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.state.functions[text(name)] = body
        redirects = Redirects()
        for child in node.children_by_field_name("redirect"):  # `f() { …; } > file`
            redirects = self._redirects.added(child, redirects)
        if redirects.writes:
            self.execution.bare(Command(), redirects.writes)

    def _for(self, node: "Node") -> None:
        """`for NAME in WORDS`: once for each of a few known words, else once for any of them."""
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        name = text(variable) if variable is not None else ""
        values = [word for child in node.children_by_field_name("value") for word in self._expander.words(child)]
        if body is None:
            return
        if len(values) > _UNROLLED or not all(map(marks.is_known, values)) or not values:
            origin = "script" if any(value.startswith("-") for value in values) else "outside"
            any_of_them = self.state.marks.mark(Unknown(f"${name}", origin))
            values = values if len(values) == 1 else [any_of_them]
        for value in values:
            if self.state.affords(len(body.text or b"")):
                self.state.variables.bind(name, value)
                self._walk(body)
            else:
                self.execution.unknown()

    def _count(self, node: "Node") -> None:
        """`for ((i = 0; …))`: numbers."""
        for child in node.named_children:
            name = child.child_by_field_name("name") if child.type == "variable_assignment" else None
            if name is not None:
                number = Unknown(text(name), quoted=True, pattern="*")
                self.state.variables.bind(text(name), self.state.marks.mark(number))
            elif child.type in ("do_group", "compound_statement"):
                self._walk(child)
            else:
                self._expander.word(child)

    # Simple commands and their redirects

    def _command(self, node: "Node | None", redirects: Redirects, behind: "Sequence[Node]" = ()) -> str | None:
        """Reads a simple command; `behind` are words behind its redirects: `git commit -F- <<E -n`, for None all."""
        words: list[str] = []
        assignments: list[str] = []
        parts = [] if node is None else [node] if node.type == "variable_assignment" else node.children
        for child in parts:
            if child.type == "variable_assignment":
                kept = self.state.variables.copy()  # it holds for this command alone
                assignments.append(self._assign(child))
                self.state.variables.restore(kept)
            elif node is not None and is_descriptor(child, node):
                continue
            elif child.type == "command_name":
                words += self._expander.words(child.children[0]) if child.children else [text(child)]
            elif child.type == "subshell" and words[:1] in (["time"], ["coproc"]) and not assignments:
                self._statement(child, redirects.stdin)  # words of the shell, for which the grammar has no rule
            elif child.type.endswith("_redirect"):
                redirects = self._redirects.added(child, redirects)
                words += [word for one in arguments_behind(child) for word in self._expander.words(one)]
            elif child.is_named or child.type not in ("<", ">", "(", ")"):
                words += self._expander.words(child)
        words += [word for child in behind for word in self._expander.words(child)]
        words = [word.rstrip("\r") for word in words]
        if words:
            return self.execution.run(words, assignments, redirects)
        self.execution.bare(Command(assignments=assignments), redirects.writes)
        return None

    def _redirected(self, node: "Node", stdin: str | None) -> str | None:
        """A statement with redirects."""
        body, stdin = self._last(node.child_by_field_name("body"), stdin)
        redirects = Redirects(stdin)
        after: list[Node] = []
        for child in node.children_by_field_name("redirect"):
            redirects = self._redirects.added(child, redirects)
            after += commands_behind(child)
        behind = [one for child in node.children_by_field_name("redirect") for one in arguments_behind(child)]
        # `A=b >log git push`, `>log 2>&1 'git' push`
        is_simple = bool(behind) and (body is None or body.type.startswith("variable_assignment"))
        if is_simple or (body is not None and body.type == "command"):
            printed = self._command(body, redirects, behind)
        else:
            if redirects.writes:
                self.execution.bare(Command(), redirects.writes)
            printed = self._statement(body, redirects.stdin) if body is not None else None
        for following in after:
            if following.type == "pipeline":
                piped = self.state.marks.mark(Unknown("", "output")) if printed is None else printed
                printed = self._pipeline(following.named_children, piped)
            else:
                printed = self._statement(following, self.state.stdin)
        return printed

    def _last(self, body: "Node | None", stdin: str | None) -> "tuple[Node | None, str | None]":
        """The command that a redirect belongs to, the last of `a && b > f` or `a | b > f`, and what it reads.

        Those before it are read here: the grammar hangs the redirect on all of them.
        """
        while body is not None and body.type in ("list", "pipeline", "negated_command") and body.named_children:
            *before, last = body.named_children
            if body.type == "pipeline":
                stdin = self._pipeline(before, stdin) if before else stdin
                stdin = self.state.marks.mark(Unknown("", "output")) if stdin is None and before else stdin
            else:
                ambient, self.state.stdin = self.state.stdin, stdin
                for child in before:
                    self._walk(child)
                self.state.stdin = ambient
            body = last
        return body, stdin
