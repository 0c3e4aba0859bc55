"""Programs whose command lines are no list of options and operands: shells, dd, xargs, parallel and others."""

from ahp.agents.shell import find, marks, programs, roles, usage
from ahp.agents.shell.marks import ANYTHING, Marks, Unknown
from ahp.agents.shell.usage import Run, Usage
from ahp.shell import options
from ahp.shell.names import SHELLS
from ahp.shell.options import Options
from ahp.system.patch import named_files
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLUSTER = 8


def shell(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`sh -c TEXT NAME ARGS`, `sh FILE ARGS`, `sh -s ARGS` and what is piped in."""
    found = Usage(options.parse(args, options.ANY, False).flags)
    rest = list(args)
    reads_text = False
    while rest and rest[0].startswith(("-", "+")) and rest[0] not in ("-", "--"):
        option = rest.pop(0)
        single = option.startswith("-") and not option.startswith("--")
        reads_text = reads_text or (single and "c" in option[:_CLUSTER]) or option == "--command"
        if option in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file") and rest:
            rest.pop(0)
        if single and "s" in option[:_CLUSTER] and not reads_text:
            found.operands = rest
            return _piped(found, stdin, (program, *rest), known)
    if reads_text:
        rest = [word for index, word in enumerate(rest) if index or not word.startswith("-")]
    elif rest[:1] in (["-"], ["--"]):
        rest = rest[1:]
    found.operands = rest
    found.opens_option(args[: len(args) - len(rest)], known)
    if reads_text:
        if rest:
            found.runs.append(Run(script=rest[0], arguments=tuple(rest[1:])))
    elif not rest or rest[0] == "/dev/stdin":
        return found if usage.ASKS & set(found.flags) else _piped(found, stdin, known=known)
    else:
        found.reads.append(rest[0])
        if known.pattern(rest[0]).startswith(ANYTHING) and marks.is_unknown(rest[0]):
            found.unknown("program")
        found.runs.append(Run(file=rest[0], language="sh", arguments=tuple(rest)))
    return found


def _piped(found: Usage, stdin: str | None, arguments: tuple[str, ...] = (), known: Marks | None = None) -> Usage:
    if stdin is None:  # a terminal, or what only the caller knows
        found.unknown("program")
    elif known is not None and (opened := usage.text_files(stdin, known)):
        found.runs += [Run(file=one, language="sh", arguments=arguments) for one in opened]
    else:
        found.runs.append(Run(script=stdin, arguments=arguments, stdin=""))
    return found


def tar(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`tar -xf ARCHIVE -C FOLDER`, `tar xf`: which files it unpacks stands in the archive."""
    old = [f"-{args[0]}"] if args and not args[0].startswith("-") and marks.is_known(args[0]) else []
    if old and "f" in old[0]:  # the value of `tar fx a` comes next
        old = [old[0].replace("f", "") + "f"]
    found = roles.read(program, [*old, *args[len(old) :]], stdin, known)
    if {"--extract", "--get"} & set(found.flags):
        folders = [value for name, value in found.values if name == "--directory"] or ["."]
        found.writes += [usage.joined(folder, one) for folder in folders for one in found.operands or [ANYTHING]]
    elif "--list" not in found.flags:
        found.writes += [value for name, value in found.values if name == "--file"]
        found.writes += found.operands if "--remove-files" in found.flags else []
    return found


def patch(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`patch < PATCH`, `apply_patch`: the text may come in, or be an argument; a file with it is not read."""
    found = roles.read(program, args, stdin, known)
    found.writes += [path for text in (stdin or "", *args) if marks.is_known(text) for path in named_files(text)]
    return found


def dd(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`dd if=SOURCE of=TARGET`."""
    pairs = [(name, value) for name, _, value in (arg.partition("=") for arg in args)]
    found = Usage(operands=list(args))
    found.reads = [value for name, value in pairs if name == "if"]
    found.writes = [value for name, value in pairs if name == "of"]
    found.copies = [(source, target) for source in found.reads for target in found.writes]
    if any(map(known.is_astray, found.writes)):
        found.unknown("path")
    return found


def _own_options(program: str, args: list[str], known: Marks) -> tuple[Options, Usage]:
    """The options of a program before those of the command that it runs."""
    listed = programs.of(program)
    read = options.parse(args, listed.spec if listed else options.ANY, False)
    found = Usage(read.flags, read.values, operands=read.operands)
    found.opens_option(args[: len(args) - len(read.operands)], known)
    return read, found


def xargs(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`xargs [-I {}] COMMAND`: the words of the standard input become its arguments."""
    read, found = _own_options(program, args, known)
    command = read.operands or ["echo"]
    values = dict(read.values)
    place = values.get("-I") or values.get("-J") or values.get("--replace") or "{}" * ("--replace" in read.flags)
    end = "\0" if "-0" in read.flags or "--null" in read.flags else "\n" if place or "--delimiter" in values else ""
    words = _from_input(None if "--arg-file" in values else stdin, known, end)
    if place:
        found.runs += [
            Run(tuple(part.replace(place, word) for part in command), stdin="", opens=not marks.is_known(word))
            for word in words
        ]
    else:
        opens = not all(map(marks.is_known, words))
        found.runs.append(Run((*command, *words), stdin="", opens=opens))
    if command[0] in SHELLS and len(command) == 1:
        found.unknown("program")
    return found


def _from_input(stdin: str | None, known: Marks, end: str) -> list[str]:
    """The arguments that an input becomes, each up to `end`, or to a blank; one mark where only running tells."""
    if stdin is not None and marks.is_known(stdin):
        return [part for part in stdin.split(end or None) if part]
    parts = known.of(stdin or "")
    if len(parts) > 1 and marks.is_unknown((stdin or "").replace("\n", "")):
        return [
            known.mark(Unknown("", part.origin, not part.pattern.startswith(ANYTHING), part.pattern, ""))
            for part in parts
        ]
    pattern = parts[0].pattern if len(parts) == 1 else ANYTHING
    named = not pattern.startswith(ANYTHING)  # the names of files behind a folder are no options
    origin = parts[0].origin if len(parts) == 1 else "output"
    return [known.mark(Unknown("", origin, named, pattern, ""))]


def trap(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`trap TEXT SIGNALS`."""
    found = Usage(options.parse(args, options.ANY).flags, operands=list(args))
    given = [word for word in args if not word.startswith("-")]
    if len(given) > 1 and given[0]:
        found.runs.append(Run(script=given[0], stdin=""))
    return found


def chmod(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`chmod -x FILE`: a mode may look like an option."""
    found = roles.read(program, [f"a{arg}" if _MODE.match(arg) else arg for arg in args], stdin, known)
    found.flags += [arg for arg in args if _MODE.match(arg)]
    return found


_MODE = regex(r"-[rwxXstugo][rwxXstugo,+=-]*$")


def env(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`env -S TEXT MORE`: the words of the text stand in its place, and end env's own options (env(1))."""
    for index, arg in enumerate(args):
        if not arg.startswith("-") and "=" not in arg:
            break
        name, glue, value = arg.partition("=")
        if name.startswith("--s") and "--split-string".startswith(name):
            behind = index + (1 if glue else 2)
            text = value if glue else " ".join(args[index + 1 : behind])
        elif _SPLITS.match(arg):
            text = arg[arg.index("S") + 1 :]
            behind = index + (1 if text else 2)
            text = text or " ".join(args[index + 1 : behind])
        else:
            continue
        args = [*args[:index], *usage.split(text), *args[behind:]]
        break
    return roles.read(program, args, stdin, known)


_SPLITS = regex(r"-[iv0]*S")


READERS: "dict[str, Callable[[str, list[str], str | None, Marks], Usage]]" = {
    "find": find.find,
    **dict.fromkeys(("fd", "fdfind"), find.fd),
    "env": env,
    "dd": dd,
    **dict.fromkeys(("tar", "bsdtar", "gtar"), tar),
    **dict.fromkeys(("patch", "apply_patch", "applypatch"), patch),
    "xargs": xargs,
    "trap": trap,
    "chmod": chmod,
    **dict.fromkeys(SHELLS, shell),
}

PROJECT_FILES = {
    **dict.fromkeys(("make", "gmake", "bmake"), ("GNUmakefile", "makefile", "Makefile")),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun", "npx"), ("package.json",)),
    "just": ("justfile", "Justfile"),
    "composer": ("composer.json",),
    "bundle": ("Gemfile",),
}
"""Files of a project whose commands these programs run without being told their names."""
