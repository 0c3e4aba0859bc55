"""Programs that run other programs: what they run, as words or as text for a shell."""

from typing import NamedTuple

from ahp.shell.expansion import Word

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"))


class Inner(NamedTuple):
    """What a wrapper runs: the words of a command, or the text of a script."""

    words: list[Word]
    script: Word | None = None
    unresolved: bool = False
    """Further arguments come from somewhere else (xargs)."""


class _Wrapper(NamedTuple):
    valued: str = ""
    """Short options that take the next word, when nothing is glued to them."""
    longs: tuple[str, ...] = ()
    skip: int = 0
    """Operands before the command."""
    first: str = ""
    """The word that must come first (`uv run`)."""
    joins: bool = False
    """The rest is one text for a shell (ssh, watch)."""
    script: str = ""
    """A short option whose value is a text for a shell (`su -c`)."""


_WRAPPERS = {
    "env": _Wrapper("uC", ("--unset", "--chdir", "--argv0")),
    "nice": _Wrapper("n", ("--adjustment",)),
    "ionice": _Wrapper("cnpPu"),
    "nohup": _Wrapper(),
    "setsid": _Wrapper(),
    "exec": _Wrapper("a"),
    "command": _Wrapper(),
    "builtin": _Wrapper(),
    "coproc": _Wrapper(),
    "busybox": _Wrapper(),
    "time": _Wrapper("fo", ("--format", "--output")),
    "timeout": _Wrapper("ks", ("--kill-after", "--signal"), 1),
    "stdbuf": _Wrapper("ioe", ("--input", "--output", "--error")),
    "sudo": _Wrapper("ugpCDRTUrth", ("--user", "--group", "--prompt", "--chdir", "--host", "--role", "--type")),
    "doas": _Wrapper("uC"),
    "chrt": _Wrapper("TPD", (), 1),
    "taskset": _Wrapper("", (), 1),
    "chroot": _Wrapper("", (), 1),
    "unshare": _Wrapper("SGRw"),
    "strace": _Wrapper("abeEIoOpPsSuUX"),
    "flock": _Wrapper("wE", ("--timeout", "--wait", "--conflict-exit-code"), 1, script="c"),
    "su": _Wrapper("gGsTw", ("--shell", "--group"), 1, script="c"),
    "script": _Wrapper("EBIOTmo", (), 1, script="c"),
    "watch": _Wrapper("nq", ("--interval",), joins=True),
    "ssh": _Wrapper("BbcDEeFIiJLlmOopQRSWw", (), 1, joins=True),
    "xargs": _Wrapper(
        "adEILnPs", ("--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines", "--replace")
    ),
    "parallel": _Wrapper("jnNIaS", ("--jobs",)),
    "uv": _Wrapper(
        "", ("--with", "--project", "--directory", "--python", "--extra", "--group", "--package"), first="run"
    ),
    "poetry": _Wrapper("CP", ("--directory", "--project"), first="run"),
    "pipenv": _Wrapper(first="run"),
    "pdm": _Wrapper("p", ("--project",), first="run"),
    "hatch": _Wrapper("e", ("--env",), first="run"),
    "rye": _Wrapper(first="run"),
    "uvx": _Wrapper("", ("--from", "--with", "--python")),
    "npx": _Wrapper("p", ("--package",)),
}
PROGRAMS = SHELLS | _WRAPPERS.keys()
_FEEDS = frozenset(("xargs", "parallel"))
_ASSIGNS = frozenset(("env", "sudo", "doas"))
_FIND = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_CLUSTER = 8


def inner(program: str, args: list[Word], stdin: Word | None) -> list[Inner]:
    """What the command runs beside itself; [] for a program that is no wrapper. `stdin` is what is piped in, if any."""
    if program in SHELLS:
        return _shell(args, stdin)
    if program == "eval":
        return [Inner([], _join(args))] if args else []
    if program == "trap":
        given = [word for word in args if not word.text.startswith("-")]
        return [Inner([], given[0])] if len(given) > 1 and given[0].text else []
    if program == "find":
        return _find(args)
    if program.startswith("python"):
        return [Inner(args[1:])] if len(args) > 1 and args[0].text == "-m" else []
    wrapper = _WRAPPERS.get(program)
    return _wrapped(program, wrapper, args) if wrapper else []


def _wrapped(program: str, wrapper: _Wrapper, args: list[Word]) -> list[Inner]:
    rest = list(args)
    if program == "command" and any(word.text in ("-v", "-V") for word in rest[:1]):
        return []  # prints where the program is, runs nothing
    if program == "env":
        rest = _split_string(rest)
    if wrapper.first:
        before = next((index for index, word in enumerate(rest) if word.text == wrapper.first), None)
        if before is None:
            return []
        rest = rest[before + 1 :]
    skip = wrapper.skip
    scripts: list[Inner] = []
    while rest:
        word = rest[0]
        if word.text == "--":
            rest = rest[1:]
            break
        if wrapper.script and word.text in (f"-{wrapper.script}", "--command") and len(rest) > 1:
            scripts.append(Inner([], rest[1]))
            rest = rest[2:]
        elif word.text.startswith("-") and len(word.text) > 1:
            rest = rest[2 if _takes_next(word.text, wrapper) else 1 :]
        elif program in _ASSIGNS and "=" in word.text:
            rest = rest[1:]
        elif skip:
            skip -= 1
            rest = rest[1:]
        else:
            break
    if scripts:
        return scripts
    rest = rest[skip:]
    if not rest:
        return []
    return [Inner([], _join(rest))] if wrapper.joins else [Inner(rest, None, program in _FEEDS)]


def _takes_next(option: str, wrapper: _Wrapper) -> bool:
    if option.startswith("--"):
        return option in wrapper.longs
    letters = option[1:]
    place = next((index for index, letter in enumerate(letters) if letter in wrapper.valued), None)
    return place == len(letters) - 1


def _split_string(args: list[Word]) -> list[Word]:
    """`env -S 'git commit'` is `env git commit`."""
    for index, word in enumerate(args):
        for mark in ("-S", "--split-string="):
            if word.text.startswith(mark):
                glued = word.text[len(mark) :]
                given = [Word(glued, word.known)] if glued else args[index + 1 : index + 2]
                after = args[index + 1 :] if glued else args[index + 2 :]
                return [*args[:index], *(Word(part, w.known) for w in given for part in w.text.split()), *after]
    return args


def _shell(args: list[Word], stdin: Word | None) -> list[Inner]:
    rest = list(args)
    while rest:
        option = rest[0].text
        if not option.startswith(("-", "+")) or option in ("-", "--"):
            break
        rest = rest[1:]
        if option.startswith("-") and not option.startswith("--") and "c" in option[:_CLUSTER]:
            operands = [word for word in rest if not word.text.startswith("-")]
            return [Inner([], operands[0])] if operands else []
        if option in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            rest = rest[1:]
        if option == "-s":
            rest = []
    operands = [word for word in rest if word.text not in ("-", "--")]
    if operands and operands[0].text != "/dev/stdin":
        return []  # a script file, whose content was judged when it was written
    return [] if stdin is None else [Inner([], stdin)]


def _find(args: list[Word]) -> list[Inner]:
    found: list[Inner] = []
    for index, word in enumerate(args):
        if word.text in _FIND:
            end = next((i for i in range(index + 1, len(args)) if args[i].text in (";", "+")), len(args))
            found.append(Inner(args[index + 1 : end]))
    return found


def _join(words: list[Word]) -> Word:
    return Word(" ".join(word.text for word in words), all(word.known for word in words))
