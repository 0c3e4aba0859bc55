"""Reads the command line of a program that nobody here knows, by what its words look like."""

from ahp.agents.shell import marks
from ahp.agents.shell.marks import Marks
from ahp.agents.shell.usage import A_SHELL, Run, Usage, looks_like_a_path
from ahp.shell import options
from ahp.system.regex import regex

_OUTPUTS = ("-o", "--output", "--out", "--outfile", "--output-file", "--out-file")
_TEXTS = ("-c", "-e", "-x", "--eval", "--command", "--exec", "eval")
"""Behind these, such a program may be given a text in its own language, or a shell's."""
_CALL = regex(r"\s*[\w.$]+\(")


def read(program: str, args: list[str], known: Marks) -> Usage:
    """Words that look like paths are files that it may read or write; a text that it is given, it may run."""
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
