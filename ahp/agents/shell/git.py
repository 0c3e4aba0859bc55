"""git's command line: what it is told beyond options and operands (git(1)). Its options stand in `git.txt`."""

from ahp.agents.shell import marks, programs, roles
from ahp.agents.shell.marks import Marks
from ahp.agents.shell.usage import Run, Usage
from ahp.system.patch import named_files
from ahp.system.regex import regex

_RUN_BY_GIT = regex(
    r"(?:core\.(?:editor|pager|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|pager\..+"
    r"|diff\.external|interactive\.difffilter|gpg\.program|gpg\..+\.program|credential\.(?:.+\.)?helper|man\..+\.cmd"
    r"|.+\.(?:textconv|command|driver|clean|smudge|process|cmd|uploadpack|receivepack|sshcommand|packobjectshook))"
)
_SWITCHES = ("true", "false", "1", "0", "yes", "no", "on", "off", "")
_READS_CONFIG = {
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
    "--list",
    "-l",
}
_PATHSPEC = regex(r":(?:\(([^)]*)\)|([/!^]*))")
_DELETES_CONFIG = {"--unset", "--unset-all", "--remove-section", "--rename-section"}
_CONFIG_VERBS = ("set", "unset", "remove-section", "rename-section")
_PARAMETER = regex(r"'((?:[^']|'\\'')*)'(?:='([^']*)')?")
_FILE_NAME = regex(r"^\.|^:|/$|\.[A-Za-z]\w{0,5}$")


def read(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """Reads the arguments of git, without the program."""
    found = roles.read("git", args, stdin, known)
    after = _behind_dashes(args)
    if found.verb and programs.of(f"git.{found.verb}") is None:
        _alias(found, args, known)
    found.writes = [path for path in map(_plain, found.writes) if path]
    if found.verb == "config":
        _config(found, known)
    elif found.verb in ("checkout", "stash", "reset", "worktree"):
        _writes(found, after, known)
    elif found.verb == "restore" and _only_unstages(found):
        found.writes = []
    elif found.verb == "restore" or (found.verb == "rm" and "--cached" in found.flags):
        _as_a_whole(found)
    elif found.verb == "merge-file" and {"--stdout", "--object-id"} & set(found.flags):
        found.writes = []
    elif found.verb in ("apply", "am") and marks.is_known(stdin or ""):
        found.writes += named_files(stdin or "")
    elif found.verb == "reflog" and found.operands[:1] in (["expire"], ["delete"]):
        found.writes.append(".git/logs")
    elif found.verb in ("init", "init-db") and any(name == "--separate-git-dir" for name, _ in found.values):
        found.writes.append(".git")
    elif found.verb == "clean" and found.folder.startswith(("/", "~", "..")) and not found.operands:
        found.writes.append(".")
    found.runs += [Run(script=word.partition("::")[2]) for word in found.operands if word.startswith("ext::")]
    return found


def _alias(found: Usage, args: list[str], known: Marks) -> None:
    """An alias, or a program of its own: `git ci -n`."""
    if "-n" in found.flags:
        found.unknown("program")
    given = args[args.index(found.verb) + 1 :] if found.verb in args else []
    told = roles.unlisted("git", given, known)
    found.writes += told.writes
    found.unsure += told.unsure
    found.runs += told.runs
    found.places |= told.places


def _plain(path: str) -> str:
    """A path without the magic of a pathspec (gitglossary(7)); "" where it says what is left out."""
    found = _PATHSPEC.match(path)
    if found is None:
        return path
    excludes = "exclude" in (found[1] or "") or bool(set("!^") & set(found[2] or ""))
    return "" if excludes else path[found.end() :] or "."


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


def run_by(config: list[tuple[str, str]]) -> list[Run]:
    """What git runs because of its configuration; an alias is read where it is made, as if it ran."""
    runs = []
    for key, value in config:
        if key.startswith("alias."):
            runs.append(Run(script=value[1:] if value.startswith("!") else f"git {value}", stdin=""))
        elif _RUN_BY_GIT.fullmatch(key) and value.lower() not in _SWITCHES:
            runs.append(Run(script=value.lstrip("!"), stdin=""))
    return runs


def _only_unstages(found: Usage) -> bool:
    """Whether `git restore` brings the index back to HEAD and leaves the files as they are."""
    return "--staged" in found.flags and "--worktree" not in found.flags and "--source" not in dict(found.values)


def _behind_dashes(args: list[str]) -> list[str] | None:
    return args[args.index("--") + 1 :] if "--" in args else None


def _config(found: Usage, known: Marks) -> None:
    """`git config KEY VALUE`, `git config --unset KEY`, `git config set KEY VALUE`."""
    flags, words = set(found.flags), list(found.operands)
    files = [value for name, value in found.values if name == "--file"]
    verb = words.pop(0) if words[:1] and words[0] in ("get", "list", "edit", *_CONFIG_VERBS) else ""
    if verb == "edit" or "--edit" in flags:
        found.writes += files or [".git/config"]
    if verb in ("get", "list") or flags & _READS_CONFIG or not words:
        return
    deletes = bool(flags & _DELETES_CONFIG) or verb in _CONFIG_VERBS[1:]
    if len(words) < 2 and not deletes:
        return
    if not marks.is_known(words[0]):
        found.unknown("option")
    found.config.append((words[0].lower(), "" if deletes else words[1]))
    found.writes += files


def _writes(found: Usage, after: list[str] | None, known: Marks) -> None:
    """The files that a command brings back to another state: behind `--`, or named beside a revision."""
    words = found.operands
    paths = list(after or [])
    if found.verb == "worktree":
        paths = words[1:2] if words[:1] in (["add"], ["remove"], ["move"]) else []
    elif found.verb == "stash":
        paths = paths or (words[1:] if words[:1] == ["push"] else [])
    elif (
        after is None and found.verb == "checkout" and not {"-b", "-B", "--orphan", "-t", "--track"} & set(found.flags)
    ):
        paths = words[1:] if len(words) > 1 else [word for word in words if _FILE_NAME.search(known.shown(word))]
    found.writes += [path for path in map(_plain, paths) if path]
    _as_a_whole(found)
    found.reads = [word for word in found.reads if word not in paths]
    if any(map(known.is_astray, paths)):
        found.unknown("path")


def _as_a_whole(found: Usage) -> None:
    """All of the tree brought back to a commit, or taken out of the index, is like `git reset`: it names no file."""
    if found.verb != "worktree":
        found.writes = [path for path in found.writes if path.rstrip("/") not in (".", ":", "")]
