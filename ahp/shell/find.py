"""`find`: the files that it finds, writes and hands to commands."""

from itertools import takewhile

from ahp.shell.marks import ANYTHING, Marks, Unknown
from ahp.shell.usage import Run, Usage, joined

_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"))
_OR = frozenset(("-o", "-or", ","))
_LEFT_OUT = (["-prune", "-o"], ["-prune", "-or"])
_FD_RUNS = frozenset(("-x", "-X", "--exec", "--exec-batch"))
_FD_VALUES = frozenset(("-e", "-t", "-E", "-d", "-S", "-j", "--extension", "--type", "--exclude", "--max-depth"))
_WRITES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))


def find(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`find ROOTS TESTS ACTIONS`."""
    roots = _roots(args)
    found = Usage([arg for arg in dict.fromkeys(args) if arg.startswith("-") and arg not in ("-", "--")])
    found.operands = roots
    found.reads += roots
    names = [known.mark(Unknown("{}", quoted=True, pattern=path)) for path in found_by(args, known)]
    for index, word in enumerate(args):
        if word in _RUNS:
            end = next((place for place in range(index + 1, len(args)) if args[place] in (";", "+")), len(args))
            command = args[index + 1 : end]
            given = names if any("{}" in one for one in command) else names[:1]
            found.runs += [Run(tuple(one.replace("{}", name) for one in command)) for name in given]
        elif word == "-delete":
            found.writes += names
        elif word in _WRITES:
            found.writes += args[index + 1 : index + 2]
        elif index < len(roots) and known.may_be_option(word):
            found.unknown("option")
    return found


def fd(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`fd OPTIONS PATTERN FOLDERS -x COMMAND`."""
    at = next((index for index, word in enumerate(args) if word in _FD_RUNS), len(args))
    found = Usage([arg for arg in dict.fromkeys(args[:at]) if arg.startswith("-")])
    words = [word for index, word in enumerate(args[:at]) if index == 0 or args[index - 1] not in _FD_VALUES]
    name, *roots = [word for word in words if not word.startswith("-")] or [""]
    found.operands = [name, *roots]
    found.reads += roots
    command = args[at + 1 :]
    for root in roots or ["."] if command else []:
        path = known.mark(
            Unknown("{}", quoted=True, pattern=joined(known.pattern(root), f"{ANYTHING}/{name}".rstrip("/")))
        )
        given = [word.replace("{}", path) for word in command]
        found.runs.append(Run(tuple(given if given != command else [*command, path])))
    return found


def found_by(args: list[str], known: Marks) -> list[str]:
    """The paths that a find line finds, one pattern or more for each root."""
    tests = [
        (word.endswith("name") and "whole" not in word, known.pattern(args[index + 1]))
        for index, word in enumerate(args[:-1])
        if word in _NAMES and args[index - 1] not in ("!", "-not") and args[index + 2 : index + 4] not in _LEFT_OUT
    ]
    if len(tests) > 1 and _OR.isdisjoint(args):
        names, paths = [one for is_name, one in tests if is_name], [one for is_name, one in tests if not is_name]
        return [path for root in _roots(args) for path in _of_all(known.pattern(root), names, paths)]
    name = tests[0][1] if len(tests) == 1 else ""
    return [_pattern(known.pattern(root), name) for root in _roots(args)]


def _of_all(root: str, names: list[str], paths: list[str]) -> list[str]:
    """Patterns for what has all the names, and is on all the paths: of each the one that tells most, both together."""
    name = max([one for one in names if one.strip("*")], key=len, default="")
    path = max(paths, key=len, default="")
    if not name or not path:
        return [_pattern(root, name or path)]
    if "/" in path:
        folder = path.rpartition("/")[0].replace("*", ANYTHING)
        is_below = path.startswith(root.rstrip("/") + "/")
        return [f"{folder}/{ANYTHING}{name}" if is_below else joined(root, ANYTHING)]
    part = path.strip("*")
    inside = name if part in name else name.replace("*", f"*{part}*", 1) if "*" in name else ""
    return [joined(root, f"{ANYTHING}{part}{ANYTHING}{name}"), *([_pattern(root, inside)] if inside else [])]


def _roots(args: list[str]) -> list[str]:
    return list(takewhile(lambda word: not word.startswith(("-", "(", "!")), args)) or ["."]


def _pattern(root: str, name: str) -> str:
    """What is found below `root`: everything, or what has this name; one with a slash is a whole path."""
    if "/" not in name:
        return joined(root, f"{ANYTHING}/{name}".rstrip("/"))
    path = name.replace("*", ANYTHING)
    return path if root == "." or path.startswith(root) else joined(root, ANYTHING)
