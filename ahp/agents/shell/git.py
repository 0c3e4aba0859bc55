"""git's command line: what it is told beyond options and operands (git(1)). Its options stand in `git.txt`."""

from ahp.shell import git
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.agents.shell.command import Command

_READS_CONFIG = frozenset(
    ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--list", "-l"]
)
_DELETES_CONFIG = frozenset(("--unset", "--unset-all", "--remove-section", "--rename-section"))
_CONFIG_VERBS = ("set", "unset", "remove-section", "rename-section")
_PARAMETER = regex(r"'((?:[^']|'\\'')*)'(?:='([^']*)')?")
_PATHSPEC = regex(r":(?:\([^)]*\)|[/!^]*)")
# Verbs whose operands are files that they write, where they do not say so by `--`.
_WRITE = ("restore", "rm", "mv", "clean", "worktree", "submodule", "clone", "init")


def describe(command: "Command", exported: list[str]) -> None:
    """Gives the command what its words tell: verb, options, settings, the folder and the files that it may write."""
    read = git.read(command.args)
    command.verb, command.flags, command.operands = read.verb, read.flags, read.operands
    pairs = [pair(value) for name, value in read.values if name in ("-c", "--config-env")]
    pairs += settings([*exported, *command.assignments])
    if read.verb == "config":
        pairs += _config(read.flags, list(read.operands))
    command.config = [f"{key}={value}" for key, value in pairs]
    for name, value in read.values:
        if name == "-C":
            command.folder = joined(command.folder, "**" if "$" in value or "`" in value else value)
    behind = command.args[command.args.index("--") + 1 :] if "--" in command.args else []
    named = read.operands if read.verb in _WRITE else behind
    if read.verb == "clean" and not named and command.folder.startswith(("/", "~", "..")):
        named = ["."]
    files = [value for name, value in read.values if name in ("--file", "--output") and read.verb != "commit"]
    found = [_PATHSPEC.sub("", word) or "." for word in named] + files
    if read.verb == "restore" and "--staged" in read.flags and "--worktree" not in read.flags:
        found = []
    command.may_write = [] if read.verb in ("log", "diff", "show", "add", "commit", "grep", "blame") else found
    asked = command.args[command.args.index(read.verb) + 1 :] if read.verb in command.args else command.args
    # git(1): `git VERB --help` is `git help VERB`
    command.does_nothing = "--dry-run" in read.flags or asked[:1] == ["--help"] or asked == ["-h"]


def settings(assignments: list[str]) -> list[tuple[str, str]]:
    """The configuration that environment variables give to git (git-config(1), ENVIRONMENT)."""
    given = dict(item.partition("=")[::2] for item in assignments)
    found = [
        pair(f"{value}={given.get('GIT_CONFIG_VALUE_' + name.removeprefix('GIT_CONFIG_KEY_'), '')}")
        for name, value in given.items()
        if name.startswith("GIT_CONFIG_KEY_")
    ]
    for setting in _PARAMETER.findall(given.get("GIT_CONFIG_PARAMETERS", "")):
        found.append(pair("=".join(filter(None, setting))))
    return found


def pair(setting: str) -> tuple[str, str]:
    """`core.hooksPath=x` as a key in lower case and its value; without `=` the value is true, as git has it."""
    key, glue, value = setting.partition("=")
    return key.strip().lower(), value if glue else "true"


def _config(flags: list[str], words: list[str]) -> list[tuple[str, str]]:
    """`git config KEY VALUE`, `git config --unset KEY`, `git config set KEY VALUE`."""
    verb = words.pop(0) if words[:1] and words[0] in ("get", "list", "edit", *_CONFIG_VERBS) else ""
    deletes = bool(_DELETES_CONFIG & set(flags)) or verb in _CONFIG_VERBS[1:]
    if verb in ("get", "list", "edit") or _READS_CONFIG & set(flags) or not words or (len(words) < 2 and not deletes):
        return []
    return [(words[0].lower(), "" if deletes else words[1])]


def joined(folder: str, path: str) -> str:
    """A path behind the folder that it starts from."""
    if not folder or not path or path.startswith(("/", "~", "**")):
        return path or folder
    return f"{folder.rstrip('/')}/{path}"
