"""`tool.unclear`: the words of a shell call for which it should not run outside of a box (docs/box.md).

Nobody guesses what a program does. A call is plain when all its words are known, none leads out of the project or to
what is guarded, and git is told no more than its everyday verbs. What a plain call starts may still do anything.
"""

import posix

from ahp.agents.calls import protected
from ahp.agents.calls.call_paths import inside, is_in, joined
from ahp.agents.clients import CLIENTS
from ahp.agents.shell.command import reads
from ahp.protocol.text import one_line
from ahp.system import guarded
from ahp.system.paths import real
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ahp.protocol.event import Event

_TELLERS = ("echo", "printf", "find", "ls")  # readers whose words may be the input of what runs behind them
_SHOWS = """
    -n -p -u -s -w -b -z -S -G -i -q -M -U -L --max-count --oneline --stat --name-only --name-status --patch --graph
    --all --since --until --author --grep --follow --cached --staged --format --pretty --date --reverse --merges
    --no-merges --first-parent --shortstat --numstat --no-color --unified --no-patch --abbrev --check --quiet
    --exit-code --no-renames --diff-filter --branches --tags --remotes --count
"""
# git's everyday verbs with their options and, behind a slash, what its first operand may be.
_VERBS = f"""
    log {_SHOWS} : show {_SHOWS} : diff {_SHOWS} : blame {_SHOWS} : shortlog {_SHOWS} -e : rev-list {_SHOWS} : version
    : status -s --short -b --branch --porcelain -u --untracked-files --ignored -v -z : describe --tags --always
    : rev-parse --short --verify --abbrev-ref --show-toplevel --git-dir -q : cat-file -p -t -s -e : reflog -n/show
    : ls-files -m -o -d -s -z --others --exclude-standard : ls-tree -r --name-only -z : merge-base --is-ancestor
    : grep -n -i -l -w -E -F -P -e -v -h -A -B --cached : branch -a -r -v -d --all --remotes --list --show-current
    : checkout -b -q : switch --create -q : add -A --all -u --update -v -N : tag -l --list -a -m --message -n --sort
    : commit -m --message -F --file -a --all -q --quiet -s --signoff --amend --no-edit --allow-empty --author --trailer
    : push -u --set-upstream -q --quiet -v --porcelain --progress --no-thin --dry-run -n : reset -q --mixed --soft
    : fetch -q --quiet -v -p --prune --all --tags : pull -q --quiet -v -p --prune --rebase --ff-only
    : clone -n --no-checkout -b --branch --depth --single-branch -q --quiet --no-tags
    : merge --no-ff --ff-only --no-edit -m --abort --continue : rebase --continue --abort --skip --onto --autostash -q
    : cherry-pick -n --no-commit -x --abort --continue --skip : revert -n --no-commit --no-edit --abort --continue
    : stash -k --keep-index -u --include-untracked -m --message/push,list,show,pop,apply : restore -S --staged
    : remote -v/show,get-url : config --get --get-all --list -l --show-origin
"""
_HOOKS = {"commit": "pre-commit", "push": "pre-push"}
_ALWAYS = ("-C", "-c", "--no-pager")  # of git, whose folder and settings are looked at
# By these another program may be what a name stands for.
_ELSEWHERE = ("PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV")
_NUMBER = regex(r"-[0-9]+")
_REMOTE, _REFSPEC = regex(r"\w[\w.-]*"), regex(r"\w[\w./@-]*(:\w[\w./-]*)?")
_URL = regex(r"(https|ssh|git)://\w[^:]*(:[0-9]+/[^:]*)?|\w[\w.-]*@[\w.-]+:[\w~./-]+")
# `.pre-commit-config.yaml` is pre-commit's.
_MANAGERS = {
    name.lstrip(".").partition(".")[0].removesuffix("-config").removesuffix("-local")
    for name in guarded.IN_PROJECT["git hooks"]
}
_STREAMS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty")
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
_APART = regex(r"[\s'\"`()\[\]{},;=<>|&\\]+")
_COMPUTES = regex(r"\$\(|`|\$\{|<\(")
# Settings with which git runs another program; where that lies in the project, an agent can write it.
_PROGRAMS = (
    r"^(core\.(hookspath|editor|pager|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|pager\..*|gpg\..*program"
    r"|(diff|merge|filter|credential|interactive)\..*)$"
)


def unclear(event: "Event", call: dict[str, object]) -> list[str]:
    """`PROGRAM: WORD` and why, for each word of a shell call that is not plain; none of any other call.

    Raises GitError.
    """
    listed = call.get("commands")
    commands: list[dict[str, Any]] = listed if isinstance(listed, list) else []
    if not commands:
        return ["its command is not told"] if call.get("name") == "shell" and not call.get("command") else []
    return list(dict.fromkeys(_Call(event, call, commands).found()))[:8]


class _Call:
    """A call in its project, and where its words lead."""

    def __init__(self, event: "Event", call: dict[str, object], commands: "list[dict[str, Any]]") -> None:
        self.event, self.call, self.commands = event, call, commands
        self.root, self.folder = real(event.root), joined(event.root, str(call.get("folder", "")))
        self.verbs = _table(_VERBS)
        self.places = protected.places(event)

    def found(self) -> "Iterator[str]":
        """Why the call is not plain, word by word."""
        env = self.event.env
        if not self.event.root or is_in(env.get("HOME") or "/", self.event.root):
            yield "the project is somebody's home"
            return
        names = {str(one["program"]) for one in self.commands}
        runs = any(not self._reads(one) and one["program"] not in ("git", "") for one in self.commands)
        for one in self.commands:
            for why in self._of(one, "git" in names, runs):
                yield f"{one['program'] or 'a command'}{' ' * bool(one['verb'])}{one['verb']}: {one_line(why, 100)}"
        for record in protected.written(self.event, self.call):
            yield f"{one_line(str(record['path']), 100)} is guarded ({record['kind']})"
        if "git" in names and self._runs_programs():
            yield "git: its settings run what lies in the project"

    def _reads(self, one: "dict[str, Any]") -> bool:
        return one["bare"] and reads(one["program"], one["args"]) and not self._is_shadowed(one["program"])

    def _of(self, one: "dict[str, Any]", has_git: bool, runs: bool) -> "Iterator[str]":
        if one["unresolved_at"] or one["unknown"]:
            yield "what a part of it stands for is known only when it runs"
            return
        start = real(joined(self.folder, one["folder"]))
        if not (is_in(start, self.root) or _is_temporary(one["folder"])) or "**" in start:
            yield "it runs outside of the project"
            return
        for item in one["assignments"]:
            name, _, value = item.partition("=")
            if has_git or name in self.event.env or name in _ELSEWHERE:
                yield f"it sets {name}"
            yield from self._texts(start, (value,))
        reads, name = self._reads(one), one["program"]
        for path in one["redirects"]:
            if self._leads_away(start, path, True):
                yield f"{path} lies outside of the project"
        if name == "git":
            yield from self._git(one, start)
        elif reads:
            written = one["operands"][1:] if name == "uniq" else []
            for arg in one["args"]:
                for word in _words(arg):
                    if self._leads_away(start, word, arg in written):
                        yield f"{word} lies outside of the project"
            if name in ("test", "[", "[[") and any(_COMPUTES.search(arg) for arg in one["args"]):
                yield "it computes what it runs"  # an index is expanded once more
            if runs and (name in _TELLERS or one["redirects"]):
                yield from self._texts(start, (*one["args"], one["stdin"]))
        elif name:
            yield from self._program(one, start)

    def _program(self, one: "dict[str, Any]", start: str) -> "Iterator[str]":
        """A program of which nothing is known: no word, and no text that it is given, may lead to what is guarded."""
        if one["piped"] and (not one["operands"] or {"-", "-s"} & set(one["args"])):
            yield "it reads what comes out of a pipe, and may run it"
        if one["program"] in CLIENTS:
            yield "it starts another agent"
        if (
            not {_base(word) for word in (one["program"], *one["args"])}.isdisjoint(_MANAGERS)
            and "run" not in one["args"]
        ):
            yield "a manager of hooks may put its own in the place of others"
        for word in one["args"]:
            if word in _ELSEWHERE:
                yield f"it may set {word}"
        handed = next((at for at, arg in enumerate(one["args"]) if _base(arg) == "git"), len(one["args"]))
        yield from self._texts(start, (*one["args"][:handed], one["stdin"]), one["program"])

    def _texts(self, start: str, texts: "tuple[str, ...]", program: str = "") -> "Iterator[str]":
        parts = [part for text in texts for part in _APART.split(text)]
        if {".", "./"}.intersection(parts) and any(map(_is_temporary, parts)):
            yield "it may bring what lies outside over all of the project"
        for text in texts:
            if _COMPUTES.search(text):
                yield "it computes what it runs"
            for part in _APART.split(text):
                for word in _words(part):
                    if _base(word) in ("git", "ahp", "ahp-engine") and program != "ahp":
                        yield f"it is given {_base(word)}"
                    elif word not in (".", "./") and self._is_guarded(start, word):
                        yield f"{word} is guarded"
                    elif self._leads_away(start, word, False):
                        yield f"{word} lies outside of the project"

    def _git(self, one: "dict[str, Any]", start: str) -> "Iterator[str]":
        verb = one["verb"]
        if verb not in self.verbs or not one["bare"]:
            yield "it is none of git's everyday verbs"
            return
        if self._is_inner(start) or self._is_shadowed("git"):
            yield "it runs in another repository, or another program runs"
        if verb in _HOOKS and (repo := self.event.repo) is not None:
            from ahp.hosts.git.probe import obstacle

            if found := obstacle(repo, _HOOKS[verb]):
                yield f"git does not come to ahp: {found}"
        (options, first), operands = self.verbs[verb], one["operands"]
        flags = {flag for flag in one["flags"] if not _NUMBER.fullmatch(flag)} - set(_ALWAYS)
        if more := sorted(flags - options):
            yield f"{more[0]} is no everyday option"
        elif (first and operands and operands[0] not in first) or not _is_everyday(one, verb, flags, operands):
            yield "it may change more than everyday work does"
        for arg in one["args"]:
            for word in _words(arg):
                if verb != "clone" and self._leads_away(start, word, False):
                    yield f"{word} lies outside of the project"

    def _is_guarded(self, start: str, word: str) -> bool:
        path = inside(joined(start, word), self.root)
        return ".git" in word.lower().split("/") or (
            path != "." and any(protected.concerns(path, place) for _, place in self.places)
        )

    def _leads_away(self, start: str, word: str, written: bool) -> bool:
        steady = min([word.partition(sign)[0] for sign in "*?["], key=len)
        place = real(joined(start, steady if steady == word else steady[: steady.rfind("/") + 1]))
        if (
            word in _STREAMS
            or (_is_temporary(word) and ".." not in word)
            or (is_in(place, self.root) and not word.startswith("~"))
        ):
            return written and "/.git/" in place + "/"
        above = place.rstrip("/").rpartition("/")[0]
        return written or word.startswith("~") or _is_there(place) or (above != "" and _is_there(above))

    def _is_inner(self, start: str) -> bool:
        while start != self.root and is_in(start, self.root) and not _is_there(f"{start}/.git"):
            start = start.rpartition("/")[0]
        return start != self.root

    def _is_shadowed(self, program: str) -> bool:
        """Whether a program that is called may be one of the project's own, by PATH."""
        folders = [joined(self.folder, folder) for folder in self.event.env.get("PATH", "").split(":")]
        return any(is_in(real(folder), self.root) and _is_there(f"{folder}/{program}") for folder in folders)

    def _runs_programs(self) -> bool:
        """Whether git's settings have it run what lies in the project: another manager's hooks, a filter, a pager."""
        if (repo := self.event.repo) is None:
            return False
        told = repo.run("config", "-z", "--get-regexp", _PROGRAMS, ok=(0, 1)).decode("utf-8", "surrogateescape")
        words = [word for entry in told.split("\0") for word in entry.partition("\n")[2].lstrip("!").split()]
        places = [real(joined(self.event.root, word)) for word in words]
        return any(is_in(place, self.root) and _is_there(place) for place in places)


def _table(text: str) -> "dict[str, tuple[frozenset[str], list[str]]]":
    lines = [line.partition("/") for line in text.split(" : ")]
    found = [(words.replace(":", "").split(), first.strip().split(",") if first else []) for words, _, first in lines]
    return {words[0]: (frozenset(words[1:]), first) for words, first in found}


def _is_everyday(one: "dict[str, Any]", verb: str, flags: set[str], operands: list[str]) -> bool:
    if any(text.partition("=")[0] not in ("user.name", "user.email") for text in one["config"]):
        return False
    if verb == "clone":
        return bool(operands) and _URL.fullmatch(operands[0]) is not None
    if verb in ("fetch", "pull", "push"):  # a remote by its name, and no ref that is moved by force
        specs = all(_REFSPEC.fullmatch(spec) and (verb == "push" or ":" not in spec) for spec in operands[1:])
        return specs and all(_REMOTE.fullmatch(name) for name in operands[:1])
    # Another checkout may throw away what is not committed; another commit starts an editor.
    needed = {"checkout": {"-b"}, "restore": {"-S", "--staged"}, "commit": {"-m", "-F", "--message", "--no-edit"}}
    return bool(flags & needed[verb]) if verb in needed else verb != "config" or bool(flags) or len(operands) == 1


def _words(arg: str) -> list[str]:
    """An argument as paths: as it is, behind `=`, and behind the letter of an option: `-f/etc/x`."""
    if "://" in arg:
        return []
    return [one for one in (arg, arg.partition("=")[2], arg[2:] if arg.startswith("-") else "") if one]


def _base(word: str) -> str:
    return word.rstrip("/").rpartition("/")[2].lower()


def _is_temporary(path: str) -> bool:
    return any(is_in(path, folder) for folder in _TEMPORARY)


def _is_there(path: str) -> bool:
    try:
        posix.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # what cannot be looked at may be anything
    return True
