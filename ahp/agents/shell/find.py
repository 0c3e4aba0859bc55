"""`find`: the files that it finds, writes and hands to commands."""

from ahp.agents.shell import searches
from ahp.agents.shell.find_tests import expression
from ahp.agents.shell.marks import ANYTHING, Marks, Unknown
from ahp.agents.shell.usage import Run, Usage, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.agents.shell.find_tests import Tests

_LEADING = ("-H", "-L", "-P", "-D")
MOST = 16
"""Patterns of what one line prints."""
_ALL = "/*"
"""Behind `**`: not what a search picks out, but all that is there."""


def find(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`find ROOTS TESTS ACTIONS`."""
    roots = _roots(args)
    found = Usage([arg for arg in dict.fromkeys(args) if arg.startswith("-") and arg not in ("-", "--")])
    found.operands = roots
    found.reads += roots
    if any(map(known.may_be_option, roots)):
        found.unknown("option")
    for one in expression(args[_behind(args) :], known).reached:
        names = [known.mark(Unknown("{}", quoted=True, pattern=path)) for path in _found(args, one.tests, known, _ALL)]
        if one.action == "-delete":
            found.writes += names
        elif one.runs:
            found.runs += _handed(one.words, names)
        elif one.writes:
            found.writes += one.words[:1]
    return found


def fd(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`fd OPTIONS PATTERN FOLDERS -x COMMAND`."""
    at = next((index for index, word in enumerate(args) if word in searches.FD_RUNS), len(args))
    found = Usage([arg for arg in dict.fromkeys(args[:at]) if arg.startswith("-")])
    words = [word for index, word in enumerate(args[:at]) if index == 0 or args[index - 1] not in searches.FD_VALUES]
    name, *roots = [word for word in words if not word.startswith("-")] or [""]
    found.operands = [name, *roots]
    found.reads += roots
    command = args[at + 1 :]
    search = searches.of_fd(args, known)
    below = f"{ANYTHING}/{name}".rstrip("/")
    if search is not None:  # the word is an expression for a part of the name
        below = f"{ANYTHING}/*{name}*" if name.replace("-", "_").isidentifier() else ANYTHING
    for root in roots or ["."] if command else []:
        path = known.mark(Unknown("{}", quoted=True, pattern=joined(known.pattern(root), below), search=search))
        given = [word.replace("{}", path) for word in command]
        found.runs.append(Run(tuple(given if given != command else [*command, path])))
    return found


def found_by(args: list[str], known: Marks) -> list[str]:
    """The paths that a find line prints, one pattern or more for each root."""
    read = expression(args[_behind(args) :], known)
    printed = [one.tests for one in read.reached if one.prints] or [read.tests]
    found = list(dict.fromkeys(path for tests in printed for path in _found(args, tests, known, "")))
    return found if len(found) <= MOST else [joined(known.pattern(root), ANYTHING) for root in _roots(args)]


def _handed(command: list[str], names: list[str]) -> list[Run]:
    """The command that is run with what is found; where that stands in a word, once for each of the names."""
    if not any("{}" in word for word in command):
        return [Run(tuple(command))]
    if command[0] != "{}" and all(word == "{}" or "{}" not in word for word in command):
        return [Run(tuple(one for word in command for one in (names if word == "{}" else [word])))]
    return [Run(tuple(word.replace("{}", name) for word in command)) for name in names]


def _found(args: list[str], tests: "Tests", known: Marks, rest: str) -> list[str]:
    """Patterns of what is found below each root; `rest` is added where nothing narrows it down."""
    roots = [known.pattern(root) for root in _roots(args)]
    return list(dict.fromkeys(path for root in roots for one in tests for path in _of_all(root, *one, rest)))


def _of_all(root: str, names: tuple[str, ...], paths: tuple[str, ...], is_narrowed: bool, rest: str) -> list[str]:
    """Patterns for what has all the names, and is on all the paths: of each the one that tells most, both together."""
    if len(names) + len(paths) < 2:
        name = "".join((*names, *paths))
        is_all = not name.strip("*") and not is_narrowed and _may_be_the_top(root)
        return [joined(root, ANYTHING) + rest if is_all else _pattern(root, name, bool(paths))]
    name = max([one for one in names if one.strip("*")], key=len, default="")
    path = max(paths, key=len, default="")
    if not name or not path:
        return [_pattern(root, name or path, not name)]
    if "/" in path:
        folder = path.rpartition("/")[0].replace("*", ANYTHING)
        is_below = path.startswith(root.rstrip("/") + "/")
        return [f"{folder}/{ANYTHING}{name}" if is_below else joined(root, ANYTHING)]
    part = path.strip("*")
    inside = name if part in name else name.replace("*", f"*{part}*", 1) if "*" in name else ""
    return [joined(root, f"{ANYTHING}{part}{ANYTHING}{name}"), *([_pattern(root, inside, False)] if inside else [])]


def _may_be_the_top(root: str) -> bool:
    """Whether all that is below may be the whole work tree."""
    return root.startswith(("/", "~")) or not root.replace(".", "").replace("/", "")


def _behind(args: list[str]) -> int:
    """Where the expression begins."""
    first = _first_root(args)
    return next((at for at in range(first, len(args)) if args[at].startswith(("-", "(", ")", "!"))), len(args))


def _roots(args: list[str]) -> list[str]:
    return args[_first_root(args) : _behind(args)] or ["."]


def _first_root(args: list[str]) -> int:
    """Where the roots begin: behind `-L`, `-O3`, `-D tree`."""
    at = 0
    while at < len(args) and (args[at] in _LEADING or args[at].startswith("-O")):
        at += 2 if args[at] == "-D" else 1
    return min(at, len(args))


def _pattern(root: str, name: str, is_path: bool) -> str:
    """What is found below `root`: everything, or what has this name, or is on this path as a whole."""
    if not is_path or ("/" not in name and not name.strip("*")):
        return joined(root, f"{ANYTHING}/{name}".rstrip("/"))
    path = name.replace("*", ANYTHING)
    if "/" not in name:
        return joined(root, path)
    return path if root == "." or path.startswith(root) else joined(root, ANYTHING)
