"""What a command prints, as far as reading tells: the text may become a script, a file name, an argument."""

from ahp.agents.shell import find
from ahp.agents.shell.marks import ANYTHING, Marks, Unknown
from ahp.system.regex import DOTALL, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_MOST = 1 << 14
_PATTERNS = 16  # of names that one command prints
_ESCAPE = regex(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0[0-7]{0,3}|[1-7][0-7]{0,2}|.|$)", DOTALL)
_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_FORMAT = regex(r"%(%|[sbdi])|(%)")
# What these print comes from the machine, not from the script, and is one word.
_PLAIN = frozenset(("date", "uname", "whoami", "hostname", "id", "nproc", "wc", "seq", "arch", "tput", "stat"))
_PLAIN |= {"pgrep", "pidof", "dirname", "basename", "readlink", "realpath", "sw_vers", "lsb_release"}
# Programs that print names of files below a folder, or some of the names that come in.
_LISTS = frozenset(("rg", "grep", "egrep", "fgrep", "ag", "ls", "fd", "fdfind", "gofmt", "prettier"))
_GIT_LISTS = ("ls-files", "grep", "diff", "status")
_PASSES = frozenset(("grep", "egrep", "fgrep", "sort", "uniq", "head", "tail", "shuf", "tac", "cat", "tr"))
# What these print is one folder, in which programs are.
_FOLDERS = regex(
    r"go env GO(?:PATH|BIN|ROOT)|(?:npm|pnpm|yarn) (?:bin|root|prefix)(?: (?:-g|--global))?|brew --prefix(?: [\w@.-]+)?"
    r"|(?:pyenv|rbenv|nodenv|goenv) (?:root|prefix)|(?:mise|asdf) where [\w@.-]+|poetry env info (?:-p|--path)"
    r"|pipenv --venv|rustc --print[ =]sysroot|conda info --base|python3? -m site --user-base"
    r"|(?:pg_config|llvm-config) --bindir"
)
_PLAIN_WORD = regex(r"[\w.-]+")
_ECHO_OPTION = regex(r"-[neE]+")
_NUMBER = regex(r"-?(0|[1-9][0-9]*)")


def printed(program: str, args: list[str], stdin: str | None, files: dict[str, str], known: Marks) -> str:
    """The output of a command; a mark where only running tells. `files` is what the script wrote before."""
    text = _text(program, args, stdin, files, known)
    if text is not None and len(text) <= _MOST:
        return text
    parts = known.of(stdin or "")
    if stdin and (not parts or any(part.origin == "script" for part in parts)):
        return known.mark(Unknown("", "script"))  # made from a text of the script: `echo … | base64 -d`
    is_folder = _FOLDERS.fullmatch(" ".join([program, *args])) is not None
    mark = known.mark(Unknown("", "outside" if program in _PLAIN else "output", name=ANYTHING * is_folder))
    if program == "cat" and args and not any(arg.startswith("-") or known.shown(arg) in files for arg in args):
        known.opened[mark] = tuple(args)
    return mark


def _text(program: str, args: list[str], stdin: str | None, files: dict[str, str], known: Marks) -> str | None:
    if program == "echo":
        return _echo(args)
    if program == "printf" and args and args[0] != "-v":
        rest = args[1:] if args[0] == "--" else args
        return _formatted(rest[0], rest[1:]) if rest else None
    if program in ("cat", "tee", "sponge"):
        sources = [arg for arg in args if arg != "-"] if program == "cat" else []
        if not sources:
            return stdin
        texts = [files.get(known.shown(source)) for source in sources]
        return None if None in texts else "".join(text for text in texts if text)
    if program in ("true", ":", "cd", "mkdir", "rm", "touch", "chmod", "export", "set", "sleep"):
        return ""
    return _place(program, args, stdin, known)


def _place(program: str, args: list[str], stdin: str | None, known: Marks) -> str | None:
    """A path that a command prints, as a mark with its pattern."""
    operands = [arg for arg in args if not arg.startswith("-")]
    pattern = name = ""
    if program == "pwd":
        pattern = name = "."
    elif program == "mktemp":
        folder = next((arg.partition("=")[2] for arg in args if arg.startswith("--tmpdir=")), "/tmp")  # noqa: S108
        name = known.pattern(operands[-1]) if operands else "tmp.XXXXXXXXXX"
        pattern = name if "/" in name or (operands and "-t" not in args) else f"{folder}/{name}"
    elif program in ("which", "command", "type", "whereis") and operands:
        pattern = f"{ANYTHING}/{known.pattern(operands[-1])}"
        is_plain = _PLAIN_WORD.fullmatch(operands[0]) and args in ([operands[0]], ["-v", operands[0]])
        name = operands[0] if is_plain else ""
    elif program in ("realpath", "readlink", "dirname") and len(operands) == 1:
        path = known.pattern(operands[0])
        pattern = path.rpartition("/")[0] or "." if program == "dirname" else path
        if path.startswith(ANYTHING):
            return None
    elif program == "git" and operands[:1] == ["rev-parse"]:
        pattern = _git_place(args)
        name = "." if args == ["rev-parse", "--show-toplevel"] else ""
    elif program == "find":
        return _names(find.found_by(args, known), program, args, known)
    elif program in _PASSES and stdin and known.are_names(stdin):
        return stdin
    elif program in _LISTS or (program == "git" and operands[:1] and operands[0] in _GIT_LISTS):
        return _names([f"./{ANYTHING}"], program, args, known)
    return _names([pattern] if pattern else [], program, args, known, name)


def _names(patterns: list[str], program: str, args: list[str], known: Marks, name: str = "") -> str | None:
    """Names of files that are printed, a mark for each pattern; None for none or too many."""
    source = " ".join([program, *map(known.shown, args)])
    told = [known.mark(Unknown(f"$({source})", pattern=pattern, name=name)) for pattern in patterns[:_PATTERNS]]
    return "\n".join(told) if told and len(patterns) <= _PATTERNS else None


def _git_place(args: list[str]) -> str:
    if "--git-path" in args[:-1]:
        return ".git/" + args[args.index("--git-path") + 1]
    if {"--git-dir", "--git-common-dir", "--absolute-git-dir"} & set(args):
        return ".git"
    return "." if "--show-toplevel" in args else ""


def _echo(args: list[str]) -> str | None:
    """Shells differ in what a backslash means to `echo`: only `-e` makes it sure."""
    given = list(args)
    letters = set[str]()
    while given and _ECHO_OPTION.fullmatch(given[0]):
        letters |= set(given.pop(0)[1:])
    text = " ".join(given)
    if "\\" in text:
        if "e" not in letters:
            return None
        text, stopped = _escaped(text)
        return text if "n" in letters or stopped else text + "\n"
    return text if "n" in letters else text + "\n"


def _escaped(text: str) -> tuple[str, bool]:
    """A text with its escapes replaced; and whether `\\c` ended it."""
    head, stop, _ = text.partition("\\c")
    return _ESCAPE.sub(_character, head), bool(stop)


def _character(found: "re.Match[str]") -> str:
    code = found[1]
    if code[:1] in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code[:1].isdigit():
        return chr(int(code, 8) & 0xFF)
    return _SIMPLE.get(code, found[0])


def _formatted(template: str, args: list[str]) -> str | None:
    """`printf`: `%s`, `%b`, `%d` and escapes; the template is used again while arguments are left (printf(1))."""
    pieces = _FORMAT.split(template)
    texts = [_escaped(piece)[0] for piece in pieces[::3]]
    holes = pieces[1::3]
    if "%" in pieces[2::3] or "\\c" in template:
        return None
    count = sum(hole != "%" for hole in holes)
    rest = list(args)
    done = ""
    while True:
        for text, hole in zip(texts, [*holes, ""], strict=True):
            done += text
            value = rest.pop(0) if hole in ("s", "b", "d", "i") and rest else ""
            if hole in ("d", "i") and not _NUMBER.fullmatch(value):
                return None
            done += "%" if hole == "%" else _escaped(value)[0] if hole == "b" else value
        if not rest or not count:
            return done
        if len(done) > _MOST:
            return None
