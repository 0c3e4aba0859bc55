"""`find` and `fd`: the commands that they run on what they find; of the tests only names tell which files those are."""

from ahp.agents.shell.marks import ANYTHING, Marks, Unknown
from ahp.agents.shell.usage import Run, Usage, joined

_LEADING = ("-H", "-L", "-P", "-D")
_NAMES = frozenset(("-name", "-iname"))
_PATHS = frozenset(("-path", "-ipath", "-wholename", "-iwholename"))
_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_WRITES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
# With these alone, all that is there is found.
_ALL = frozenset(("-depth", "-mindepth", "-maxdepth", "-xdev", "-mount", "-print", "-print0", "-delete"))
_NOT = ("!", "-not")
_FD_RUNS = frozenset(("-x", "-X", "--exec", "--exec-batch"))


def find(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`find ROOTS TESTS ACTIONS`."""
    first = _first_root(args)
    found = Usage([arg for arg in dict.fromkeys(args) if arg.startswith("-") and arg not in ("-", "--")])
    found.operands = args[first : _behind(args)] or ["."]
    found.reads += found.operands
    if any(map(known.may_be_option, found.operands)):
        found.unknown("option")
    names = [known.mark(Unknown("{}", quoted=True, pattern=path)) for path in found_by(args, known)]
    at = _behind(args)
    while at < len(args):
        word, at = args[at], at + 1
        if word in _RUNS:
            end = next((place for place in range(at, len(args)) if args[place] in (";", "+")), len(args))
            found.runs += _handed(args[at:end], names)
            at = end + 1
        elif word == "-delete":
            found.writes += names
        elif word in _WRITES:
            found.writes += args[at : at + 1]
    return found


def fd(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`fd OPTIONS PATTERN FOLDERS -x COMMAND`."""
    at = next((index for index, word in enumerate(args) if word in _FD_RUNS), len(args))
    found = Usage([arg for arg in dict.fromkeys(args[:at]) if arg.startswith("-")])
    found.operands = [word for word in args[:at] if not word.startswith("-")]
    found.reads += found.operands[1:]
    if args[at + 1 :]:
        path = known.mark(Unknown("{}", quoted=True, pattern=f"./{ANYTHING}"))
        words = args[at + 1 :]
        found.runs += _handed(words if any("{}" in word for word in words) else [*words, "{}"], [path])
    return found


def found_by(args: list[str], known: Marks) -> list[str]:
    """Patterns of the paths that a find line finds, one for each root and name; `**/*` below a root for all of it."""
    tests = _own(args[_behind(args) :])
    roots = [known.pattern(root) for root in args[_first_root(args) : _behind(args)] or ["."]]
    names, paths, is_whole = list[str](), list[str](), True
    for before, test, value in zip(["", *tests], tests, [*tests[1:], ""], strict=False):
        if test == "-prune":  # what is named before is left out
            names, paths = [], []
        elif test in _NAMES | _PATHS and before in _NOT:
            is_whole &= not any(part.startswith(".") for part in value.split("/"))
        elif test in _NAMES:
            names.append(known.pattern(value))
        elif test in _PATHS:
            paths.append(known.pattern(value).replace("*", ANYTHING))
        elif (
            test.startswith("-")
            and test not in _NOT
            and test not in _ALL
            and not (test == "-type" and value in ("f", "d"))
        ):
            is_whole = False
    is_whole &= "-prune" not in tests and not ("-maxdepth" in tests and "f" in tests)  # files at the top
    found = paths if not names or any("/" in path for path in paths) else []
    if found:
        return [
            path if root == "." or path.startswith(root) else joined(root, ANYTHING) for root in roots for path in found
        ]
    below = [f"{ANYTHING}/{name}" for name in names] or [f"{ANYTHING}/*" if is_whole else ANYTHING]
    return list(dict.fromkeys(joined(root, one) for root in roots for one in below))


def _own(tests: list[str]) -> list[str]:
    """The words of the expression itself, without the commands in it."""
    words: list[str] = []
    inside = False
    for word in tests:
        words += [] if inside else [word]
        inside = word not in (";", "+") if inside else word in _RUNS
    return [word for word in words if word not in _RUNS]


def _handed(command: list[str], names: list[str]) -> list[Run]:
    """The command that is run with what is found; where that stands in a word, once for each of the names."""
    if not any("{}" in word for word in command):
        return [Run(tuple(command))]
    if command[0] != "{}" and all(word == "{}" or "{}" not in word for word in command):
        return [Run(tuple(one for word in command for one in (names if word == "{}" else [word])))]
    return [Run(tuple(word.replace("{}", name) for word in command)) for name in names]


def _behind(args: list[str]) -> int:
    """Where the expression begins."""
    first = _first_root(args)
    return next((at for at in range(first, len(args)) if args[at].startswith(("-", "(", ")", "!"))), len(args))


def _first_root(args: list[str]) -> int:
    """Where the roots begin: behind `-L`, `-O3`, `-D tree`."""
    at = 0
    while at < len(args) and (args[at] in _LEADING or args[at].startswith("-O")):
        at += 2 if args[at] == "-D" else 1
    return min(at, len(args))
