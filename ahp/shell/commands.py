"""The simple commands inside a shell command, nested ones too: what a policy sees of an agent's shell call."""

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from ahp.shell import git, redirect, wrappers
from ahp.shell.command import Command, output
from ahp.shell.expansion import Substitution, Word, text, word_of, words_of
from ahp.shell.grammar import mended
from ahp.shell.options import flags_of
from ahp.shell.output import UNKNOWN

_LANGUAGE = Language(tree_sitter_bash.language())
_LIMIT = 64 << 10
_MOST = 500
_DEPTH = 60
_NESTED = 6
_BUDGET = 512 << 10  # bytes of script read in all, so that `eval $F` a thousand times ends, too
_VALUE = 1 << 10


def read(script: str) -> list[Command]:
    """The commands that a shell would run, in order of the text; both sides of every choice, as far as reading tells.

    Never raises: what cannot be read is a command without a program that is `unresolved`.
    """
    reader = _Reader()
    try:
        reader.script(script, 0)
    except RecursionError:  # thousands of nested expansions
        reader.unknown()
    return reader.commands


class _Reader:
    """Walks one script; variables and the folder are followed as the text goes."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.variables: dict[str, str | None] = {}
        self.folder = ""
        self.nested = 0
        self.budget = _BUDGET

    def script(self, source: str, nested: int) -> None:
        """Reads a text as a script of its own, `nested` deep in others."""
        before, self.nested = self.nested, nested
        self.budget -= len(source)
        if len(source) > _LIMIT or nested > _NESTED or self.budget < 0 or "\0" in source:
            self.unknown()
        else:
            root = Parser(_LANGUAGE).parse(mended(source).encode("ascii")).root_node
            self._walk(root, 0)
            if root.has_error:
                self.unknown()
        self.nested = before

    def unknown(self) -> None:
        """Adds one unresolved command without a program, unless the last one is that already."""
        if not (self.commands and self.commands[-1] == Command(unresolved=True)):
            self._add(Command(unresolved=True))

    def _add(self, command: Command) -> None:
        if len(self.commands) < _MOST:
            self.commands.append(command)
        else:
            self.commands[-1] = Command(unresolved=True)

    def _walk(self, node: Node, depth: int) -> None:
        if depth > _DEPTH:
            self.unknown()
            return
        if node.type == "command":
            self._command(node, [], None, depth)
        elif node.type == "redirected_statement":
            self._redirected(node, None, depth)
        elif node.type == "pipeline":
            self._pipeline(node.named_children, None, depth)
        elif node.type == "variable_assignment":
            self._add(Command(assignments=[self._assign(node, depth)], folder=self.folder))
        elif node.type in ("declaration_command", "unset_command"):
            self._declaration(node, depth)
        elif node.type == "for_statement":
            self._loop(node, depth)
        elif node.type == "subshell":
            self._substitution(depth)(node)
        elif node.type in ("string", "concatenation", "expansion", "word", "raw_string", "test_command"):
            word_of(node, self.variables, self._substitution(depth))
        else:
            for child in node.named_children:
                self._walk(child, depth + 1)

    def _substitution(self, depth: int) -> Substitution:
        def run(node: Node) -> Word:
            folder, before, stdin = self.folder, len(self.commands), None
            for child in node.named_children:
                if child.type == "redirected_statement":
                    stdin = self._redirected(child, None, depth + 1)
                else:
                    self._walk(child, depth + 1)
            self.folder = folder
            inside = self.commands[before:]
            return output(inside, stdin) if len(inside) == 1 and node.type == "command_substitution" else UNKNOWN

        return run

    def _words(self, node: Node, depth: int) -> list[Word]:
        return words_of(node, self.variables, self._substitution(depth))

    def _assign(self, node: Node, depth: int) -> str:
        """Remembers `NAME=value`; a name given two different values is unknown from then on."""
        name_node, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = text(name_node) if name_node else ""
        value = word_of(value_node, self.variables, self._substitution(depth)) if value_node else Word("")
        appends = text(node).startswith(name + "+=")
        known = value.known and not value.glob and not appends and len(value.text) <= _VALUE
        new = value.text if known else None
        self.variables[name] = new if self.variables.get(name, new) == new else None
        return f"{name}={value.text}"

    def _declaration(self, node: Node, depth: int) -> None:
        command = Command(text(node.children[0]), folder=self.folder)
        for child in node.named_children:
            if child.type == "variable_assignment":
                command.assignments.append(self._assign(child, depth))
            else:
                command.args += [word.text for word in self._words(child, depth)]
        command.args += command.assignments
        command.flags = flags_of(command.program, command.args)
        self._add(command)

    def _loop(self, node: Node, depth: int) -> None:
        variable = node.child_by_field_name("variable")
        values = [word for child in node.children_by_field_name("value") for word in self._words(child, depth)]
        if variable is not None:
            single = values[0].text if len(values) == 1 and values[0].known and not values[0].glob else None
            self.variables[text(variable)] = single
        body = node.child_by_field_name("body")
        if body is not None:
            self._walk(body, depth + 1)

    def _pipeline(self, stages: list[Node], source: Word | None, depth: int) -> None:
        """Each stage reads what the one before prints, as far as that is literal."""
        for stage in stages:
            before = len(self.commands)
            piped = source
            if stage.type == "command":
                self._command(stage, [], piped, depth)
            elif stage.type == "redirected_statement":
                piped = self._redirected(stage, piped, depth) or piped
            else:
                self._walk(stage, depth + 1)
            source = output(self.commands[before:], piped)

    def _redirected(self, node: Node, stdin: Word | None, depth: int) -> Word | None:
        """Reads a statement with redirects; returns its standard input, where a here-document or string gives it."""
        body = node.child_by_field_name("body")
        redirects: list[Word] = []
        after: list[Node] = []
        for child in node.children_by_field_name("redirect"):
            if child.type == "file_redirect":
                redirects += self._target(child, depth)
            elif child.type == "herestring_redirect":
                stdin = redirect.herestring(child, self.variables, self._substitution(depth))
            else:
                stdin, following = redirect.heredoc(child, self.variables, self._substitution(depth))
                after += following
        before = len(self.commands)
        if body is not None and body.type == "command":
            self._command(body, redirects, stdin, depth)
        else:
            if redirects:
                self._add(self._plain_redirect(redirects))
            if body is not None:
                self._walk(body, depth + 1)
        for following_node in after:
            if following_node.type == "pipeline":  # `cat <<E | sh`: the grammar puts the pipe inside the redirect
                self._pipeline(following_node.named_children, output(self.commands[before:], stdin), depth)
            else:
                self._walk(following_node, depth + 1)
        return stdin

    def _plain_redirect(self, redirects: list[Word]) -> Command:
        unresolved = not all(word.known and not word.glob for word in redirects)
        return Command(redirects=[word.text for word in redirects], unresolved=unresolved, folder=self.folder)

    def _target(self, node: Node, depth: int) -> list[Word]:
        return redirect.target(node, lambda child: self._words(child, depth))

    def _command(self, node: Node, redirects: list[Word], stdin: Word | None, depth: int) -> None:
        words: list[Word] = []
        assignments: list[str] = []
        for child in node.children:
            if child.type == "variable_assignment":
                assignments.append(self._prefix(child, depth))
            elif child.type == "command_name":
                words += self._words(child.children[0], depth) if child.children else [Word(text(child))]
            elif child.type == "file_redirect":
                redirects = redirects + self._target(child, depth)
            elif child.type == "herestring_redirect":
                stdin = redirect.herestring(child, self.variables, self._substitution(depth))
            elif child.type == "heredoc_redirect":
                stdin, _ = redirect.heredoc(child, self.variables, self._substitution(depth))
            elif child.is_named or child.type not in ("<", ">", "(", ")"):
                words += self._words(child, depth)
        self._emit(words, assignments, redirects, stdin, False, self.nested)

    def _prefix(self, node: Node, depth: int) -> str:
        """`NAME=value` before a command: it holds for that command alone."""
        kept = dict(self.variables)
        shown = self._assign(node, depth)
        self.variables = kept
        return shown

    def _emit(
        self,
        words: list[Word],
        assignments: list[str],
        redirects: list[Word],
        stdin: Word | None,
        unresolved: bool,
        nested: int,
    ) -> None:
        command = self._plain_redirect(redirects)
        command.assignments = assignments
        if words:
            told = words[0].known and not words[0].glob
            command.program = words[0].text.rpartition("/")[2].strip("\r") if told else ""
            command.args = [word.text.rstrip("\r") for word in words[1:]]
            command.unresolved |= unresolved or not told or not all(word.known for word in words)
            self._read_options(command)
        self._add(command)
        if not words or nested > _NESTED:
            return
        if command.program in ("cd", "pushd"):
            self._change_folder(command)
        if command.git is not None:
            self._git_alias(command.git, nested)
        for found in wrappers.inner(command.program, words[1:], stdin):
            if found.script is not None:
                folder = self.folder
                self._run_text(found.script, nested)
                self.folder = self.folder if command.program == "eval" else folder
            elif found.words:
                self._emit(found.words, assignments, [], stdin, unresolved or found.unresolved, nested + 1)

    def _read_options(self, command: Command) -> None:
        if command.program == "git":
            command.git = git.read(command.args)
            command.flags = command.git.flags
        else:
            wraps = (
                command.program in wrappers.PROGRAMS
            )  # options after the first operand belong to the program it runs
            command.flags = flags_of(command.program, command.args, permute=not wraps)
        if command.program == "alias":
            for arg in command.args:  # read as if it ran where it is defined
                self.script(arg.partition("=")[2], self.nested + 1)

    def _run_text(self, script: Word, nested: int) -> None:
        if script.known:
            self.script(script.text, nested + 1)
        else:
            self.unknown()

    def _git_alias(self, call: git.GitCall, nested: int) -> None:
        for key, value in call.config:
            if key.startswith("alias."):
                self.script(value[1:] if value.startswith("!") else f"git {value}", nested + 1)

    def _change_folder(self, command: Command) -> None:
        target = next((arg for arg in command.args if not arg.startswith("-")), "")
        known = target and not command.unresolved
        joined = target if target.startswith("/") or not self.folder else f"{self.folder}/{target}"
        self.folder = joined if known else self.folder
