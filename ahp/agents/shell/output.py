"""What a command prints, as far as reading tells: the text may become a script, a file name, an argument."""

from ahp.agents.shell import archivers, find, marks, patches, searches
from ahp.agents.shell.marks import ANYTHING, Marks, Unknown
from ahp.agents.shell.search import Search
from ahp.system.regex import DOTALL, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_MOST = 1 << 14
_PATTERNS = find.MOST  # of names that one command prints
_ESCAPE = regex(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0[0-7]{0,3}|[1-7][0-7]{0,2}|.|$)", DOTALL)
_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_FORMAT = regex(r"%(%|[sbdi])|(%)")
# What these print comes from the machine, not from the script, and is one word.
_PLAIN = frozenset(("date", "uname", "whoami", "hostname", "id", "nproc", "wc", "seq", "arch", "tput", "stat"))
_PLAIN |= {"pgrep", "pidof", "dirname", "basename", "readlink", "realpath", "sw_vers", "lsb_release"}
_SEARCHES = ("rg", "grep", "egrep", "fgrep", "ag")
# With one of these options a formatter prints the names of the files that it would change; those of which kind.
_FORMATTERS = {
    **dict.fromkeys(("gofmt", "goimports", "gofumpt"), ("-l", "*.go")),
    "rustfmt": ("-l", "*.rs"),
    "shfmt": ("-l", "*"),
    "prettier": ("-l", "*"),
}
_FOLDER_LISTS = ("ls", "du", "tree")
_LISTS = frozenset((*_SEARCHES, *_FOLDER_LISTS, "fd", "fdfind", "locate", "git", *_FORMATTERS))
# Programs that print some of the names that come in, or parts of them.
_PASSES = frozenset(
    (*_SEARCHES, "sort", "uniq", "head", "tail", "shuf", "tac", "cat", "pv", "comm", "cut", "tr", "sed", "awk")
)
_TARS = ("tar", "bsdtar", "gtar")
_PACKERS = frozenset(
    ("gzip", "gunzip", "zcat", "pigz", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "pv")
)
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
_BLANKS_OR_CASE = regex(r"[\s\\0-7ntr_-]*|\[?:?(?:upper|lower):?\]?")
_NEXT_EDIT = regex(r";\s*(?=[sp])")
_EDIT = regex(r"s(\W)((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1[gpIi0-9]*")
_KEPT = regex(r"\\[1-9]|&")
_NO_PATH = regex(r"[\w\s\"'\\-]*")
_NAMES_ONLY = regex(r"-[a-zA-Z]*[lL]|--files(?:-with|$)")


def printed(program: str, args: list[str], stdin: str | None, files: dict[str, str], known: Marks) -> str:
    """The output of a command; a mark where only running tells. `files` is what the script wrote before."""
    text = _text(program, args, stdin, files, known)
    if text is not None and len(text) <= _MOST:
        return text
    if stdin in known.packed and program in _PACKERS:
        return stdin or ""
    parts = known.of(stdin or "")
    if stdin and (not parts or any(part.origin == "script" for part in parts)):
        return known.mark(Unknown("", "script"))  # made from a text of the script: `echo … | base64 -d`
    is_folder = _FOLDERS.fullmatch(" ".join([program, *args])) is not None
    mark = known.mark(Unknown("", "outside" if program in _PLAIN else "output", name=ANYTHING * is_folder))
    if program == "cat" and args and not any(arg.startswith("-") or known.shown(arg) in files for arg in args):
        known.opened[mark] = tuple(args)
    elif program == "git" and (compared := patches.compared(args)) is not None:
        known.compared[mark] = compared
    elif program in _TARS and (members := archivers.printed(program, args, known)):
        known.packed[mark] = members
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
    elif program == "git" and operands[:1] == ["archive"]:  # what is unpacked from it
        return _names([known.pattern(one) for one in operands[2:]] or ["."], program, args, known)
    elif program == "git" and operands[:1] == ["rev-parse"]:
        pattern = _git_place(args)
        name = "." if args == ["rev-parse", "--show-toplevel"] else ""
    elif program == "find":
        return _names(find.found_by(args, known), program, args, known, search=searches.of_find(args, known))
    elif program in _PASSES and stdin and known.are_names(stdin):
        return _some(program, args, operands, stdin, known)
    elif program in _LISTS:
        search = searches.of_listing(program, args, known) if program in (*_SEARCHES, *_FOLDER_LISTS, "git") else None
        search = searches.of_fd(args, known) if program in ("fd", "fdfind") else search
        return _names(_listed(program, args, operands, known), program, args, known, search=search)
    return _names([pattern] if pattern else [], program, args, known, name)


def _names(
    patterns: list[str],
    program: str,
    args: list[str],
    known: Marks,
    name: str = "",
    search: "Search | None" = None,
) -> str | None:
    """Names of files that are printed, a mark for each pattern; None for none or too many."""
    source = " ".join([program, *map(known.shown, args)])
    told = [
        known.mark(Unknown(f"$({source})", pattern=pattern, name=name, search=search))
        for pattern in patterns[:_PATTERNS]
    ]
    return "\n".join(told) if told and len(patterns) <= _PATTERNS else None


def _some(program: str, args: list[str], operands: list[str], names: str, known: Marks) -> str | None:
    """Some of the names that come in, or what is left of them; a word that `grep` looks for is a part of them."""
    if program in ("tr", "sed", "awk"):
        return names if _adds_no_name(program, args, operands) else None
    if program in _SEARCHES and not any(map(_NAMES_ONLY.match, args)):
        names = known.sifted(names, args)
    if len(known.of(names)) > 1:
        return names
    listed = known.of(names)[0]
    looks_for_one = program.endswith("grep") and "-v" not in args and operands
    if not looks_for_one or not _PLAIN_WORD.fullmatch(operands[0]):
        return names
    pattern = f"{listed.pattern.removesuffix(ANYTHING)}{ANYTHING}/*{operands[0]}*"
    return known.mark(Unknown(listed.source, listed.origin, listed.quoted, pattern))


def _adds_no_name(program: str, args: list[str], operands: list[str]) -> bool:
    """Whether what `tr`, `sed` or `awk` makes of names leads into no other folder: it quotes, cuts or renames."""
    if program == "tr":
        return len(operands) < 2 or _BLANKS_OR_CASE.fullmatch(operands[1]) is not None
    if program == "awk":
        return len(operands) == 1 and '"' not in operands[0] and "-f" not in args
    texts = [args[index + 1] for index, arg in enumerate(args[:-1]) if arg in ("-e", "--expression")] or operands[:1]
    flags = "".join(arg for arg in args if arg.startswith("-"))
    parts = [part for text in texts for part in _NEXT_EDIT.split(text)]
    return not set("fi") & set(flags) and bool(parts) and all(map(_renames, parts))


def _renames(command: str) -> bool:
    """Whether a command of sed puts in no slash, and a dot only where one was."""
    if command in ("p", "d"):
        return True
    found = _EDIT.fullmatch(command)
    if found is None:
        return False
    new = _KEPT.sub("", found[3])
    return _NO_PATH.fullmatch(new.replace(".", "", 1 if "\\." in found[2] else 0)) is not None


def _git_place(args: list[str]) -> str:
    if "--git-path" in args[:-1]:
        return ".git/" + args[args.index("--git-path") + 1]
    if {"--git-dir", "--git-common-dir", "--absolute-git-dir"} & set(args):
        return ".git"
    return "." if "--show-toplevel" in args else ""


def _listed(program: str, args: list[str], operands: list[str], known: Marks) -> list[str]:
    """The files that a listing names."""
    anywhere = [f"./{ANYTHING}"]
    if program == "git":
        verb, paths = operands[:1], operands[1:]
        if verb == ["grep"]:
            if not any(map(_NAMES_ONLY.match, args)) and "--name-only" not in args:
                return []
            # Before `--`, and without it, commits may stand; a name of theirs is `COMMIT:PATH`, no file.
            paths = args[args.index("--") + 1 :] if "--" in args else paths if "-e" in args else paths[1:]
        paths = [word for word in paths if marks.is_known(word) and not word.startswith(":")]
        if verb in (["ls-files"], ["grep"]):
            return _below(paths, known) or anywhere
        if verb == ["status"] and {"-s", "--short", "--porcelain"} & set(args):
            return anywhere
        if not {"--name-only", "--name-status"} & set(args) and "--diff-filter" not in " ".join(args):
            return []
        behind = args[args.index("--") + 1 :] if "--" in args else []
        return _below(behind, known) if behind else [*_below(paths, known), *anywhere]  # without `--` also commits
    if program in _FORMATTERS:
        option, kind = _FORMATTERS[program]
        if not {option, "--list-different", "--list"} & set(args):
            return []
        places = _below(operands, known) or anywhere
        return [f"{one}/{kind}" if one.endswith(f"/{ANYTHING}") and kind != "*" else one for one in places]
    if program in _SEARCHES:
        return (_below(operands[1:], known) or anywhere) if any(map(_NAMES_ONLY.match, args)) else []
    return (_below(operands, known) if program in _FOLDER_LISTS else []) or anywhere


def _below(folders: list[str], known: Marks) -> list[str]:
    """What lies in folders; of one that is not known, anywhere here; what a pattern names."""
    patterns = [known.pattern(folder).rstrip("/") for folder in folders]
    return [
        f"./{ANYTHING}" if one.startswith(ANYTHING) else one if "*" in one else f"{one}/{ANYTHING}" for one in patterns
    ]


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
