"""Reads a command line by the synopsis of its program: which role each word has. What it means there: `meanings`."""

from ahp.agents.shell import marks, programs
from ahp.agents.shell.marks import Marks
from ahp.agents.shell.meanings import OPENS_A_SHELL, Meanings
from ahp.agents.shell.usage import A_SHELL, MOST_COMMANDS, Run, Usage, looks_like_a_path
from ahp.shell import options
from ahp.shell.names import SHELLS
from ahp.shell.synopsis import Synopsis
from ahp.system.regex import regex

_OUTPUTS = ("-o", "--output", "--out", "--outfile", "--output-file", "--out-file")
_TEXTS = ("-c", "-e", "-x", "--eval", "--command", "--exec", "eval")
"""Behind these, such a program may be given a text in its own language, or a shell's."""
_CALL = regex(r"\s*[\w.$]+\(")
_PLAIN_VERB = Synopsis(options.ANY, {}, frozenset(), ("NAME...",))


def read(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """Reads a command line by its synopsis; one of an unknown program by what its words look like."""
    found = programs.of(program)
    if found is None:
        usage = unlisted(program, args, known)
    else:
        meanings = Meanings(program, found, stdin, known)
        _Reading(program, meanings, known).options(args, found)
        usage = meanings.usage
    told = [run.words for run in usage.runs]
    passed_on = _passed_on(program, args)
    usage.runs += [Run(one) for one in passed_on if not any(words[-len(one) :] == one for words in told)]
    return usage


def unlisted(program: str, args: list[str], known: Marks) -> Usage:
    """A program that nobody here knows: a word that looks like a path it may write, a text it may run."""
    parsed = options.parse(args, options.ANY)
    found = Usage(parsed.flags, parsed.values, operands=list(parsed.operands))
    found.opens_option(args, known)
    if found.operands and found.operands[0].isidentifier():
        found.verb = found.operands.pop(0)
    for index, word in enumerate(args):
        value = word.partition("=")[2] if word.startswith("-") else word
        option = args[index - 1] if index and args[index - 1].startswith("-") else word.partition("=")[0]
        if looks_like_a_path(value):
            (found.writes if option in _OUTPUTS else found.unsure).append(value)
        elif not marks.is_known(value):
            found.unknown("value")
        if A_SHELL.search(word):
            found.unknown("program")
        if ("(" in word or any(map(str.isspace, word))) and args[index - 1 : index] and args[index - 1] in _TEXTS:
            found.runs.append(Run(code=word, language=program))
            if not _CALL.match(word):  # `db.users.count()` is no shell's
                found.runs.append(Run(script=word, stdin=""))
    return found


def _passed_on(program: str, args: list[str]) -> "list[tuple[str, ...]]":
    """The commands that begin among the arguments of a program that may run them: `runner git commit`, `x sh -c TEXT`.

    Its synopsis need not tell of them.
    """
    found = programs.of(program)
    runs = programs.is_foreign(program) or (found and programs.RUNNING & {*found.operands, *found.roles.values()})
    begins = [at for at in range(len(args) - 1) if runs and _begin_a_command(args[at], args[at + 1])]
    return [tuple(args[at:]) for at in begins[:MOST_COMMANDS]]


def _begin_a_command(word: str, following: str) -> bool:
    name = word.rpartition("/")[2]
    is_git = name == "git" and programs.of(f"git.{following}") is not None
    return is_git or (name in SHELLS and following.startswith("-") and "c" in following)


class _Reading:
    """One command line, word by word."""

    def __init__(self, program: str, meanings: Meanings, known: Marks) -> None:
        self._program = program
        self._meanings = meanings
        self._usage = meanings.usage
        self._marks = known
        self._target = ""

    def options(self, args: list[str], found: Synopsis) -> None:
        """The options, then the operands; a verb goes on with the line of its own."""
        usage, meanings = self._usage, self._meanings
        modules = [name for name, role in found.roles.items() if role == "MODULE"]  # what follows is the module's
        read = options.parse(args, found.spec, found.permutes, modules)
        meanings.synopsis = found
        usage.flags += [flag for flag in read.flags if flag not in usage.flags]
        usage.values += read.values
        usage.opens_option(args if found.permutes else args[: len(args) - len(read.operands)], self._marks)
        meanings.in_place |= any(found.roles.get(flag) == "INPLACE" for flag in read.flags)
        for name, value in read.values:
            role = found.roles.get(name, "VALUE")
            meanings.replaced |= {role} if name in found.replaces else set()
            if name in found.replaces and role == "INTO":
                self._target = value
            else:
                meanings.take(role, value)
        self._operands(list(read.operands), self._roles_left(found.operands))
        if "CODE" in found.roles.values() and "RUN" not in found.operands and not usage.code:
            meanings.code_from_stdin()

    def _roles_left(self, roles: tuple[str, ...]) -> list[str]:
        """The operands, without the one that an option stands in for: a single one, or the command."""
        if "SCRIPT" in self._meanings.replaced:
            return [role for role in roles if role not in ("COMMAND", "RUN", *OPENS_A_SHELL)]
        single = [role for role in roles if not role.endswith("...") and role not in Meanings.RESTS]
        return (
            [role for role in roles if not (self._meanings.replaced and role == single[0])] if single else list(roles)
        )

    def _operands(self, words: list[str], roles: list[str]) -> None:
        while roles:
            role = roles.pop(0)
            if role == "VERB" and words:
                self._verb(words[0], words[1:], tuple(roles))
                return
            if role in Meanings.RESTS:
                self._meanings.take_rest(role, words)
                return
            if role == "ASSIGN...":
                while words and ("=" in words[0] or words[0] == "-"):
                    self._meanings.assignments += [word for word in [words.pop(0)] if word != "-"]
            elif role.endswith("..."):
                taken = max(len(words) - len(roles), 0)
                self._several(role.removesuffix("..."), words[:taken], [*words[taken:], self._target][0])
                words = words[taken:]
            elif words:
                self._usage.operands.append(words[0])
                if role == "IMAGE":
                    self._meanings.image(words[0], words[1:])
                self._meanings.take(role, words.pop(0))
            elif role == "CODE":
                self._meanings.code_from_stdin()
        self._usage.operands += words
        if self._target:
            self._meanings.take("TO", self._target)

    def _verb(self, verb: str, rest: list[str], roles: tuple[str, ...]) -> None:
        usage = self._usage
        if not marks.is_known(verb):
            usage.unknown("program")
        usage.verb = f"{usage.verb} {verb}".strip()
        listed = programs.of(".".join((self._program, *usage.verb.split())))
        # Most programs take their own options behind a verb, too.
        general = _PLAIN_VERB if self._program == "git" else self._meanings.synopsis
        roles = tuple(role for role in roles if role not in OPENS_A_SHELL)  # a shell starts where there is no verb
        self.options(rest, listed or general.then(roles or _PLAIN_VERB.operands))

    def _several(self, role: str, words: list[str], target: str) -> None:
        self._usage.operands += words
        for word in words:
            self._meanings.take(role, word)
            if target:
                self._usage.copies.append((word, target))
                if A_SHELL.fullmatch(word):  # a shell by another name
                    self._usage.unknown("program")
