"""The files that shell commands name: those they read or write, and those they write, as far as reading tells."""

from collections.abc import Iterable
from itertools import takewhile

from ahp.shell.command import Command
from ahp.shell.wrappers import SHELLS

_NO_FILES = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")
_SILENT = frozenset(("echo", "printf", "true", "false", ":", "export", "alias", "kill", "sleep", "exit", "cd", "pushd"))
_WRITERS = frozenset(("rm", "rmdir", "unlink", "shred", "truncate", "touch", "mkdir", "tee", "mknod", "mkfifo"))
_READER_NAMES = (
    "cat tac head tail less more wc sort uniq diff cmp comm file stat nl od xxd hexdump strings base64 source . ls tree"
    " du readlink realpath md5sum sha1sum sha256sum cut paste join bat column rev zcat gunzip open code vi vim nano"
    " emacs sh bash dash zsh ksh python python3 node ruby perl php"
)
_READERS = frozenset(_READER_NAMES.split())
_AFTER_FIRST = {"chmod": True, "chown": True, "chgrp": True, "grep": False, "egrep": False, "rg": False, "awk": False}
_TO_LAST = {"cp": False, "install": False, "ln": False, "mv": True}  # whether the sources are written, too
# Their first operand is a file or a text, no subcommand.
_FILE_TOOLS = {*_SILENT, *_WRITERS, *_READERS, *_AFTER_FIRST, *_TO_LAST, "sed", "dd"}
_VALUED = {"truncate": "sr", "touch": "dtr", "head": "nc", "tail": "nc", "mkdir": "m", "install": "mog", "shred": "ns"}
_GIT_WRITES = frozenset(("rm", "mv", "restore", "clean"))
_OUTPUT = {"curl": ("-o", "--output"), "wget": ("-O", "--output-document"), "sort": ("-o", "--output")}


def accesses(commands: Iterable[Command]) -> tuple[list[str], list[str]]:
    """(every path, those written) that the commands name, each once, as written behind the folder of a `cd`.

    A word that may be a file counts as one. Files that are known only at run time are missing: then the command is
    `unresolved`, or runs a program whose work its command line does not show.
    """
    paths: dict[str, None] = {}
    writes: dict[str, None] = {}
    for command in commands:
        read, written = _of(command)
        for path in (*read, *written):
            paths[_joined(command.folder, path)] = None
        for path in written:
            writes[_joined(command.folder, path)] = None
    return list(paths), list(writes)


def verb(command: Command) -> str:
    """Program and subcommand (`git push`, `npm install`): the target that an escalation follows in a shell call."""
    if command.git is not None:
        return f"git {command.git.command}".strip()
    first = command.args[0] if command.args else ""
    has_verbs = command.program not in _FILE_TOOLS and first.isidentifier()
    return f"{command.program} {first}".strip() if has_verbs else command.program


def _of(command: Command) -> tuple[list[str], list[str]]:
    """(read, written) of one command, without its folder."""
    read, written = _arguments(command)
    written = [*written, *command.redirects]
    return [p for p in read if _is_file(p)], [p for p in written if _is_file(p)]


def _arguments(command: Command) -> tuple[list[str], list[str]]:
    program = command.program
    if command.git is not None:
        return _git(command)
    if program in _SILENT:
        return [], []
    if program == "dd":
        pairs = [arg.partition("=") for arg in command.args]
        return [v for k, _, v in pairs if k == "if"], [v for k, _, v in pairs if k == "of"]
    operands = _operands(command)
    if program in _WRITERS:
        return [], operands
    if program in _TO_LAST:
        return _copied(command, operands)
    if program in ("sed", "perl") and any(flag.startswith(("-i", "--in-place")) for flag in command.flags):
        return [], operands if {"-e", "--expression", "-f"} & set(command.flags) else operands[1:]
    if program == "sed":
        return operands, []
    if program in _AFTER_FIRST:
        return ([], operands[1:]) if _AFTER_FIRST[program] else (operands[1:], [])
    written = _values(command, _OUTPUT.get(program, ()))
    if program == "find":
        return list(takewhile(lambda word: not word.startswith(("-", "(", "!")), command.args)), []
    if program in SHELLS and "-c" in command.flags:  # the text is read as commands of its own
        return [], []
    if program in _READERS:
        return [word for word in operands if word not in written], written
    return [word for word in map(_value, command.args) if _looks_like_a_path(word) and word not in written], written


def _git(command: Command) -> tuple[list[str], list[str]]:
    call = command.git
    assert call is not None
    folder = call.folder
    operands = [_joined(folder, word) for word in call.operands]
    if call.command in _GIT_WRITES:
        return [], operands
    if call.command == "checkout" and "--" in command.args:
        return [], [_joined(folder, word) for word in command.args[command.args.index("--") + 1 :]]
    return [word for word in operands if _looks_like_a_path(word)], []


def _copied(command: Command, operands: list[str]) -> tuple[list[str], list[str]]:
    """Sources and target; into a folder each source gets a name of its own there."""
    folders = _values(command, ("-t", "--target-directory"))
    sources = [word for word in operands if word not in folders] if folders else operands[:-1]
    places = folders or operands[-1:]
    # The name does not tell whether the target is a folder: both readings count.
    inside = [_joined(place, source.rstrip("/").rpartition("/")[2]) for place in places for source in sources]
    written = [*places, *inside]
    return ([], [*sources, *written]) if _TO_LAST[command.program] else (sources, written)


def _operands(command: Command) -> list[str]:
    """The arguments that are no options, nor the value of one that is known to take one; `--` ends options."""
    valued = _VALUED.get(command.program, "")
    found: list[str] = []
    rest = iter(command.args)
    for arg in rest:
        if arg == "--":
            return [*found, *rest]
        if not arg.startswith("-") or arg == "-":
            found.append(arg)
        elif len(arg) == 2 and arg[1] in valued:
            next(rest, None)
    return found


def _values(command: Command, options: tuple[str, ...]) -> list[str]:
    """The values that these options have on this line, glued or as the next word."""
    found = []
    for index, arg in enumerate(command.args):
        name, glue, value = arg.partition("=")
        if arg in options:
            found += command.args[index + 1 : index + 2]
        elif glue and name in options:
            found.append(value)
        elif arg[:2] in options and not arg.startswith("--") and len(arg) > 2:
            found.append(arg[2:])
    return found


def _value(word: str) -> str:
    """`--file=x` may name a file as well as `x`."""
    return word.partition("=")[2] if word.startswith("-") else word


def _looks_like_a_path(word: str) -> bool:
    return ("/" in word or "." in word.rstrip(".")) and "://" not in word and not any(map(str.isspace, word))


def _is_file(path: str) -> bool:
    return path not in ("", "-", "{}") and path not in _NO_FILES and not path.startswith("/dev/fd/")


def _joined(folder: str, path: str) -> str:
    return path if not folder or path.startswith("/") else f"{folder.rstrip('/')}/{path}"
