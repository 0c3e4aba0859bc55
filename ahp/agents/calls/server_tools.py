"""What a tool does that no client here has of its own, by its name and its arguments: files, commands, git, texts.

Such are the tools of MCP servers, and those in which a client runs the text of a program.  [light]
"""

from ahp.facts.tool import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What the words in its name say that a tool does.
_READING = """
    read get list search find view stat info fetch describe show query diff log status tree browse open check count
"""
_CHANGING = """
    write edit create make move rename delete remove put push update save append patch insert replace copy upload
    overwrite modify set truncate chmod link store
"""
_STARTING = "shell bash terminal command cmd exec execute run process powershell console ssh repl eval tmux"
_READS, _WRITES, _SHELLS = [frozenset(words.split()) for words in (_READING, _CHANGING, _STARTING)]
_TAKES_AWAY = frozenset(("delete", "remove", "move", "rename"))
_ARGUMENTS = ("args", "arguments", "argv", "options", "flags")
_CODE = ("code", "source")
_TYPED = ("input", "keys", "chars")
_TERMINALS = frozenset(
    ("terminal", "tmux", "bash", "shell", "console", "process", "powershell", "ssh", "stdin", "exec")
)
_FOLDERS = ("repo_path", "repopath", "repository", "path", "cwd", "workdir", "directory")
# Arguments of a tool for git that are operands of the command.
_OPERANDS = ("remote", "branch", "branch_name", "refspec", "ref", "target")
_SKIPS = ("skip-hooks", "no-verify", "skip-verify", "bypass-hooks", "nohooks")


def does(native_name: str) -> str:
    """What a tool does to the files that it is given, by the words of its own name: write, read, unknown."""
    words = set(_words(native_name))
    if words & _WRITES:
        return "write"
    return "read" if words & _READS else "unknown"


def takes_away(native_name: str) -> bool:
    """Whether a folder that it is given is gone afterwards; else it works in it."""
    return bool(set(_words(native_name)) & _TAKES_AWAY)


def command_of(native_name: str, given: "Mapping[str, object]") -> str | None:
    """The shell command that does what the tool does, as far as that is told; None where it runs nothing.

    A text in a programming language is `ipython -c TEXT`; one that is typed into what runs already is that of a program
    nobody knows, for it may go to a shell or to anything else.
    """
    if git := _git(native_name, given):
        return _quoted(git)
    words = set(_words(native_name, whole=True))
    if words & _SHELLS:
        inner = [value for value in given.values() if isinstance(value, dict)]  # {"task": {"command": …}}
        given = {**{key: value for one in inner for key, value in one.items()}, **given}
        more = _more(given)
        if parts := _list(given, COMMANDS):
            return _quoted([*parts, *more])
        if text := _text(given, COMMANDS):
            return f"{text} {_quoted(more)}" if more else text
        if more:
            return _quoted(more)
        if text := _text(given, _CODE):
            return _quoted(["ipython", "-c", text])
    if words & _TERMINALS and any(key in given for key in _TYPED):
        typed = _text(given, _TYPED) or "".join(_list(given, _TYPED))
        lines = "".join([char for char in typed.replace("{enter}", "\n") if char >= " " or char == "\n"]).strip()
        return _quoted(["typed", "eval", lines]) if lines else ""
    return None


def _git(native_name: str, given: "Mapping[str, object]") -> list[str]:
    """The command line of git that a tool of a server for git stands for; [] where it is none."""
    if "git" not in _words(native_name, whole=True):
        return []
    from ahp.shell import git

    words = [word for word in _words(native_name) if word != "git"]
    verbs = ["-".join(words[:2]), *words]
    verb = next((word for word in verbs if word and git.synopsis_of(f"git.{word}") is not None), "")
    folder = _text(given, _FOLDERS)
    where = ["-C", folder] if folder else []
    if not verb:
        more = _more(given)
        return ["git", *where, *(more[1:] if more[:1] == ["git"] else more)] if more else []
    keys = {"-".join(_split(str(key))): value for key, value in given.items()}
    flags = [f"--{'no-verify' if key in _SKIPS else key}" for key, value in keys.items() if value is True]
    operands = [value for key in _OPERANDS if isinstance(value := given.get(key), str) and value]
    mode = [f"--{value}" for key in ("mode",) if isinstance(value := keys.get(key), str) and verb == "reset"]
    return ["git", *where, verb, *mode, *flags, *_more(given), *operands]


def _more(given: "Mapping[str, object]") -> list[str]:
    """Words of the command line that are given as they are, in a list or in one text."""
    texts = [value for key in _ARGUMENTS if isinstance(value := given.get(key), str)]
    return [*_list(given, _ARGUMENTS), *[word for text in texts for word in text.split()]]


def _text(given: "Mapping[str, object]", keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := given.get(key), str) and value), "")


def _list(given: "Mapping[str, object]", keys: tuple[str, ...]) -> list[str]:
    found = next((value for key in keys if isinstance(value := given.get(key), list)), [])
    return found if all(isinstance(word, str) for word in found) else []


def _quoted(words: list[str]) -> str:
    import shlex

    return shlex.join(words)


def _words(native_name: str, whole: bool = False) -> list[str]:
    """The words of a name in snake_case, kebab-case or camelCase; those of the server only if it is `whole`."""
    return _split(native_name if whole else native_name.rpartition("__")[2])


def _split(name: str) -> list[str]:
    begins = [
        char.isupper() and (not name[at - 1 : at].isupper() or name[at + 1 : at + 2].islower())
        for at, char in enumerate(name)
    ]
    spaced = "".join(["_" * begin + char for begin, char in zip(begins, name, strict=True)]).lower()
    for sign in "-:/.":
        spaced = spaced.replace(sign, "_")
    return [word for word in spaced.split("_") if word]
