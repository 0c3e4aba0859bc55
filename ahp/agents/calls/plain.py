"""`tool.plain`: a shell call that can do no harm outside of a box, by an allow-list (docs/box.md).

What is not on it is no accusation: nobody knows what it does before it runs.
"""

import posix

from ahp.agents.calls import protected
from ahp.agents.calls.call_paths import joined
from ahp.system.paths import real
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event

# Readers with their options; `*` for any, where none of them writes or runs a program.
_READERS = """
    basename * : cat * : cd * : cksum * : cmp * : comm * : cut * : date -u --utc -d --date -I : diff * : du *
    : echo * : egrep * : false : fgrep * : grep * : head * : ls * : md5sum * : mkdir -p --parents : nl * : od * : printf
    : pwd * : readlink * : realpath * : seq * : sha1sum * : sha256sum * : sleep * : stat * : tac * : tail * : touch
    : tr * : true : type * : uname * : wc * : which * : whoami : uniq -c -d -u -i
    : find -name -iname -path -ipath -type -maxdepth -mindepth -not -o -size -mtime -newer -empty -print -print0 -prune
    : rg -n -i -l -w -F -e -g -t -A -B -C -c -o -v -s -S -U --files --hidden --glob --type --no-ignore
    : sort -n -r -u -k -t -f -h -V -b -d -g -M -z -c
"""
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
    : merge --no-ff --ff-only --no-edit -m --abort --continue : rebase --continue --abort --skip --onto --autostash -q
    : cherry-pick -n --no-commit -x --abort --continue --skip : revert -n --no-commit --no-edit --abort --continue
    : stash -k --keep-index -u --include-untracked -m --message/push,list,show,pop,apply : restore -S --staged
    : remote -v/show,get-url : config --get --get-all --list -l --show-origin
"""
_ALWAYS = ("-C", "-c", "--no-pager")  # of git, whose folder and settings are looked at
_NUMBER = regex(r"-[0-9]+")
_REMOTE, _REFSPEC = regex(r"\w[\w.-]*"), regex(r"\w[\w./@-]*(:\w[\w./-]*)?")
_STREAMS = ("/dev/null", "/dev/stdout", "/dev/stderr")
# Settings with which git runs another program; where that lies in the project, an agent can write it.
_PROGRAMS = (
    r"^(core\.(hookspath|editor|pager|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|pager\..*|gpg\..*program"
    r"|(diff|merge|filter|credential|interactive)\..*)$"
)


def is_plain(event: "Event", call: dict[str, object]) -> bool:
    """Whether the shell call of an event is plain; no other call is. Raises GitError."""
    listed = call.get("commands")
    commands: list[dict[str, Any]] = listed if isinstance(listed, list) else []
    if not commands or not event.root or _is_in(event.env.get("HOME") or "/", event.root):
        return False  # in a project that is somebody's home lie keys
    place, readers, verbs = _Place(event, str(call.get("folder", ""))), _table(_READERS), _table(_VERBS)
    return (
        all(_is_listed(one, readers, verbs) and place.holds(one) for one in commands)
        and not protected.written(event, call)
        and not place.shadows(commands)
        and not (any(one["program"] == "git" for one in commands) and place.runs_programs())
    )


def _table(text: str) -> "dict[str, tuple[frozenset[str], list[str]]]":
    lines = [line.partition("/") for line in text.split(" : ")]
    found = [(words.replace(":", "").split(), first.strip().split(",") if first else []) for words, _, first in lines]
    return {words[0]: (frozenset(words[1:]), first) for words, first in found}


def _is_listed(one: "dict[str, Any]", readers: "Any", verbs: "Any") -> bool:
    """Whether all that a command is called with stands in the text, and is on the list."""
    known = one["bare"] and not (one["unresolved"] or one["unresolved_at"] or one["unknown"] or one["assignments"])
    table, name = (verbs, one["verb"]) if one["program"] == "git" else (readers, one["program"])
    if not known or name not in table:
        return bool(known and not name and not one["program"] and one["redirects"])  # `> file`
    (options, first), operands = table[name], one["operands"]
    flags = {flag for flag in one["flags"] if not _NUMBER.fullmatch(flag)} - set(_ALWAYS if table is verbs else ())
    if "*" not in options and not options >= flags:
        return False
    if name == "uniq" or first:  # the second file of uniq is written
        return not operands or operands[0] in first
    return table is readers or _is_everyday(one, name, flags, operands)


def _is_everyday(one: "dict[str, Any]", verb: str, flags: set[str], operands: list[str]) -> bool:
    if any(text.partition("=")[0] not in ("user.name", "user.email") for text in one["config"]):
        return False
    if verb in ("fetch", "pull", "push"):  # a remote by its name, and no ref that is moved by force
        specs = all(_REFSPEC.fullmatch(spec) and (verb == "push" or ":" not in spec) for spec in operands[1:])
        return specs and all(_REMOTE.fullmatch(name) for name in operands[:1])
    # Another checkout may throw away what is not committed; another commit starts an editor.
    needed = {"checkout": {"-b"}, "restore": {"-S", "--staged"}, "commit": {"-m", "-F", "--message", "--no-edit"}}
    return bool(flags & needed[verb]) if verb in needed else verb != "config" or bool(flags) or len(operands) == 1


class _Place:
    """The project of a call, and where its words lead."""

    def __init__(self, event: "Event", folder: str) -> None:
        self.event, self.root, self.folder = event, real(event.root), joined(event.root, folder)

    def holds(self, one: "dict[str, Any]") -> bool:
        """Whether each word that may be a path leads into the project, and git runs in no repository inside of it."""
        start = real(joined(self.folder, one["folder"]))
        if not _is_in(start, self.root) or "**" in start or (one["program"] == "git" and self._is_inner(start)):
            return False
        written = {*one["redirects"], *(one["args"] if one["program"] in ("mkdir", "touch") else ())}
        words = [word for part in (*one["args"], *written) for word in _words(part)]
        return not any(self._leads_away(start, word, word in written) for word in words)

    def _leads_away(self, start: str, word: str, written: bool) -> bool:
        steady = min([word.partition(sign)[0] for sign in "*?["], key=len)
        place = real(joined(start, steady if steady == word else steady[: steady.rfind("/") + 1]))
        if word in _STREAMS or (_is_in(place, self.root) and not word.startswith("~")):
            return written and "/.git/" in place + "/"
        return written or word.startswith("~") or _is_there(place)

    def _is_inner(self, start: str) -> bool:
        while start != self.root and not _is_there(f"{start}/.git"):
            start = start.rpartition("/")[0]
        return start != self.root

    def shadows(self, commands: "list[dict[str, Any]]") -> bool:
        """Whether a program that is called may be one of the project's own, by PATH."""
        folders = [joined(self.folder, folder) for folder in self.event.env.get("PATH", "").split(":")]
        own = [folder for folder in folders if _is_in(real(folder), self.root)]
        return any(_is_there(f"{folder}/{one['program']}") for folder in own for one in commands if one["program"])

    def runs_programs(self) -> bool:
        """Whether git's settings have it run what lies in the project: another manager's hooks, a filter, a pager."""
        if (repo := self.event.repo) is None:
            return False
        told = repo.run("config", "-z", "--get-regexp", _PROGRAMS, ok=(0, 1)).decode("utf-8", "surrogateescape")
        words = [word for entry in told.split("\0") for word in entry.partition("\n")[2].lstrip("!").split()]
        places = [real(joined(self.event.root, word)) for word in words]
        return any(_is_in(place, self.root) and _is_there(place) for place in places)


def _words(arg: str) -> list[str]:
    """An argument as paths: as it is, behind `=`, and behind the letter of an option: `-f/etc/x`."""
    return [one for one in (arg, arg.partition("=")[2], arg[2:] if arg.startswith("-") else "") if one]


def _is_in(path: str, folder: str) -> bool:
    return (path.rstrip("/") + "/").startswith(folder.rstrip("/") + "/")


def _is_there(path: str) -> bool:
    try:
        posix.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # what cannot be looked at may be anything
    return True
