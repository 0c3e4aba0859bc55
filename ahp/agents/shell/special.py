"""Programs whose command lines are no list of options and operands: shells, dd, xargs, parallel and others."""

from ahp.agents.shell import archivers, containers, find, marks, patches, programs, roles, usage
from ahp.agents.shell.marks import ANYTHING, Marks, Unknown
from ahp.agents.shell.usage import Run, Usage
from ahp.shell import options
from ahp.shell.names import SHELLS
from ahp.shell.options import Options
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
            known.mark(Unknown("", part.origin, not part.pattern.startswith(ANYTHING), part.pattern, "", part.search))
            for part in parts
        ]
    pattern = parts[0].pattern if len(parts) == 1 else ANYTHING
    named = not pattern.startswith(ANYTHING)  # the names of files behind a folder are no options
    origin = parts[0].origin if len(parts) == 1 else "output"
    return [known.mark(Unknown("", origin, named, pattern, "", parts[0].search if len(parts) == 1 else None))]


# Where values begin, and where one is put in.
_SOURCES = regex(r":::\+?|::::\+?")
_PLACE = regex(r"\{[.#%/]*\d*[./]*\}")


def parallel(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`parallel COMMAND ::: VALUES`; without a command its input lines, or values, are commands."""
    read, found = _own_options(program, args, known)
    sources = next((index for index, word in enumerate(read.operands) if _SOURCES.fullmatch(word)), None)
    command = read.operands[:sources]
    if sources is None:
        words = _from_input(stdin, known, "\n")
    elif read.operands[sources].startswith("::::"):
        words = _from_input(None, known, "\n")
    else:
        words = [word for word in read.operands[sources + 1 :] if not word.startswith(":::")]
    text = " ".join(command)
    for word in words:
        filled = _PLACE.sub(lambda _: word, text)  # noqa: B023
        script = filled if filled != text else f"{text} {word}".strip()
        found.runs.append(Run(script=script, stdin="", opens=not marks.is_known(word)))
    return found


def trap(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`trap TEXT SIGNALS`."""
    found = Usage(options.parse(args, options.ANY).flags, operands=list(args))
    given = [word for word in args if not word.startswith("-")]
    if len(given) > 1 and given[0]:
        found.runs.append(Run(script=given[0], stdin=""))
    return found


def at(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`at TIME`: the standard input is a text for a shell, `-f` a file with one."""
    found = roles.read(program, args, stdin, known)
    if not {"-f", "-l", "-r", "-d", "-c", "-V"} & set(found.flags):
        _piped(found, stdin)
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


def awk(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`gawk -i inplace TEXT FILES`: the files that it reads are written; `-v NAME=FILE`, or what comes in, may be."""
    found = roles.read(program, args, stdin, known)
    if ("--include", "inplace") in found.values or ("--include", "/inplace") in found.values:
        found.writes += found.reads
    if ">" in found.code:
        given = [value for name, value in found.values if name == "--assign"] + found.operands
        files = [value.partition("=")[2] for value in given]
        files += (stdin or "").split() if marks.is_known(stdin or "") else []
        found.unsure += [file for file in files if usage.looks_like_a_path(file)]
    return found


def vi(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`vim +TEXT FILE`: the text is a command, as behind `-c`."""
    words = [word for arg in args for word in (["-c", arg[1:]] if _PLUS.match(arg) else [arg])]
    return roles.read(program, words, stdin, known)


_PLUS = regex(r"\+[^0-9/+]")


def download(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`wget URL`, `curl -O URL`: without a name for it, the file is called as the end of the address."""
    found = roles.read(program, args, stdin, known)
    named = {"--output", "--output-document", "--output-file"} & {name for name, _ in found.values}
    if not named and (program == "wget" or {"-O", "-J", "--remote-name", "--remote-name-all"} & set(found.flags)):
        addresses = [known.shown(word) for word in found.operands]
        names = [word.partition("?")[0].rpartition("/")[2] for word in addresses if "/" in word]
        folders = [value for name, value in found.values if name in ("--directory-prefix", "--output-dir")]
        found.fetched += [usage.joined(folder, name) for folder in folders or [""] for name in names if name]
        found.writes += found.fetched
    return found


def screen(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`screen COMMAND`; with one of these options it only speaks to one that runs."""
    found = roles.read(program, args, stdin, known)
    if {"-r", "-x", "-l", "-d", "-D", "-R", "-X", "-w"} & set(found.flags):
        found.places.discard("program")
    return found


def debugger(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`gdb -ex 'run ARGS' PROGRAM`, `gdb --args PROGRAM ARGS`, `lldb -- PROGRAM ARGS`."""
    at = next((index for index, word in enumerate(args) if word in ("--args", "-args", "--")), len(args))
    found = roles.read(program, args[:at], stdin, known)
    command = args[at + 1 :] or found.operands[:1]
    for text in found.code.split("\n") if command else []:
        if started := _STARTS.match(text):
            given = usage.split(text[started.end() :])
            found.runs.append(Run((command[0], *given) if given else tuple(command)))
    if at < len(args) and command and not any(run.words for run in found.runs):
        found.runs.append(Run(tuple(command)))
    return found


_STARTS = regex(r"\s*(?:r|ru|run|start|starti|process launch(?: --)?)(?:\s|$)")


def gh(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`gh alias set NAME TEXT`: the text is read as if it ran; one that begins with `!` is a shell's."""
    found = roles.read(program, args, stdin, known)
    if found.verb.startswith("alias"):
        for run in found.runs:
            if run.script:
                is_shell = run.script.startswith("!") or "--shell" in found.flags
                run.script = run.script.removeprefix("!") if is_shell else f"{program} {run.script}"
    return found


def powershell(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`pwsh -EncodedCommand BASE64`, in any abbreviation: nobody reads that."""
    found = roles.read(program, args, stdin, known)
    if any(len(arg) > 1 and "-encodedcommand".startswith(arg.lower()) for arg in args):
        found.unknown("program")
    return found


def invoke_expression(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`iex TEXT`; without one, what comes in is the text: `iwr URL | iex`."""
    found = roles.read(program, args, stdin, known)
    return found if found.runs else _piped(found, stdin)


def cmd(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`cmd /c TEXT`: a backslash stands between folders, and `/q` is a switch."""
    found = Usage(operands=list(args))
    at = next((index for index, word in enumerate(args) if word.lower() in ("/c", "/k", "//c", "//k")), len(args))
    text = _SWITCH.sub("", " ".join(args[at + 1 :]).replace("\\", "/"))
    if at == len(args):
        return _piped(found, stdin)
    found.runs.append(Run(script=text))
    return found


_SWITCH = regex(r"\s/[A-Za-z?](?=\s|$)")


READERS: "dict[str, Callable[[str, list[str], str | None, Marks], Usage]]" = {
    "find": find.find,
    "fd": find.fd,
    "fdfind": find.fd,
    **dict.fromkeys(("docker", "podman", "nerdctl", "finch"), containers.read),
    "env": env,
    **dict.fromkeys(("awk", "gawk"), awk),
    **dict.fromkeys(("vi", "vim", "nvim", "view", "vimdiff", "gvim", "ex"), vi),
    "cpio": archivers.cpio,
    **dict.fromkeys(("wget", "curl"), download),
    "dd": dd,
    **dict.fromkeys(("tar", "bsdtar", "gtar"), archivers.tar),
    **dict.fromkeys(("unzip", "unar", "7z", "7za", "7zr", "jar"), archivers.unpacker),
    **dict.fromkeys(("tarfile", "zipfile"), archivers.module),
    "xargs": xargs,
    "parallel": parallel,
    "trap": trap,
    "at": at,
    "batch": at,
    "patch": patches.patch,
    **dict.fromkeys(("gdb", "lldb"), debugger),
    **dict.fromkeys(("gh", "glab"), gh),
    **dict.fromkeys(("pwsh", "powershell", "powershell.exe"), powershell),
    **dict.fromkeys(("iex", "Invoke-Expression"), invoke_expression),
    **dict.fromkeys(("cmd", "cmd.exe"), cmd),
    "chmod": chmod,
    "screen": screen,
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
