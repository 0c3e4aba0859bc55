"""Which CI is set up here, as far as a repository shows it; the one reader for every message that names CI.

It says what the repository shows (authority §6). What a platform requires is set there, and no clone shows it.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import NamedTuple

from ahp.facts.default_branch import default_branch, remotes
from ahp.hosts.ci import templates
from ahp.hosts.table import Check
from ahp.protocol.text import one_line, without_credentials
from ahp.system import environ, files, git
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import CommitView

GUARD = "guard"
"""The change cannot edit it."""
ADVICE = "advice"
"""The change can edit it, or pass it unasked."""
UNSEEN = "unseen"
"""What it is worth does not stand in the repository, or is not read here."""

TEXTS = ".ahp/ci/"
_LIMIT = 1 << 20
# The files that platforms read are YAML, or called so.
_DEFINING = ("*.yml", "*.yaml", "*Jenkinsfile*")
_COMMAND, _COMMENT = r"(^|[^[:alnum:]_])ahp(-engine)?[\"']?[[:space:]]+ci([^[:alnum:]_]|$)", "^[[:space:]]*(#|//)"
_COMMENTS = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_HOOK = re.compile(r"\bhook\s+pre-receive\b")
# A refusal is the hook's own: the last that it runs, or what it ends with.
_LAST_IN_HOOK = re.compile(r"(?:exec |.*\| *)?[\w./-]*ahp(?:-engine)? hook pre-receive\b[^|;&]*(?:\|\| exit\b.*)?")
# Run from the target's copy of the file where it says so.
_EITHER, _TARGET_S = (".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/"), "pull_request_target"
_CUSTOM_HOOKS = "custom_hooks"  # GitLab's folder for them, beside its own
_REQUIRE = (
    "Settings, Rules, Rulesets; GitHub tells checks apart by name, which another workflow of the change may bear, "
    "and only the required workflows of an organization by their files"
)


class Definition(NamedTuple):
    """A job or hook, by the file that defines it, such as .github/workflows/ahp-rules.yml.

    `check` is the name that the platform reports it by, "" where that is not known; `worth` one of the words above, and
    `why` its reason as half a sentence.
    """

    file: str
    check: str
    worth: str
    why: str


class Setup(NamedTuple):
    """What judges again what comes to `branch`, the default branch's name, "" where that is not known.

    `waiting` are the files of the work tree that the branch does not have yet: nothing runs them.
    """

    branch: str
    found: list[Definition]
    waiting: list[str]

    @property
    def guards(self) -> list[Definition]:
        """Those that the change cannot edit."""
        return [one for one in self.found if one.worth == GUARD]


def setup(repo: Repository) -> Setup:
    """What the default branch's files, as this clone last had them, and the hooks of a server say. Raises AhpError."""
    branch = default_branch(repo)
    tip = _tip(repo, branch)
    found = _judging(repo, tip) if tip else []
    known = {(one.file, one.check) for one in found}
    here = [one for one in _judging(repo) if (one.file, one.check) not in known] if repo.root else []
    found += [one for one in here if one.worth == UNSEEN]  # run from elsewhere, whatever the branch has
    waiting = dict.fromkeys(one.file for one in here if one.worth != UNSEEN)
    return Setup(branch, [*_server(repo), *found], list(waiting))


def told(repo: Repository) -> str:
    """Who judges again what comes to the default branch, as a clause. Raises AhpError."""
    now = setup(repo)
    if now.guards:
        return f"{_files(now.guards)} judges it again on its way to {now.branch}"
    advice = [one for one in now.found if one.worth == ADVICE]
    if advice:
        return f"{_files(advice)} judges it again, where the change itself did not edit that"
    if now.found:
        return f"whether {_files(now.found)} judges it again is not seen from here"
    return "nothing that this repository shows judges it again: ahp init --ci KIND"


def keeps_anchors(repo: Repository, remote: str) -> str:
    """What keeps the anchors on a remote from being rewound or deleted, as far as that is seen from here."""
    path = (repo.config(f"remote.{remote}.url") or remote).removeprefix("file://")
    folder, name = os.path.join(repo.root, path), one_line(without_credentials(remote), 200)
    if os.path.isdir(folder):
        guards = [one.file for one in _server(git.discover(folder, environ.current())) if one.worth == GUARD]
        if guards:
            return f"{name} keeps its anchors: {one_line(guards[0], 200)} takes them forward only and deletes none"
    return (
        f"nothing that is seen from here keeps {name} from rewinding or deleting its anchors: that takes a ruleset for "
        "refs/ahp/**, or `ahp hook pre-receive` there"
    )


def _files(found: list[Definition]) -> str:
    return " and ".join(one_line(name, 120) for name in dict.fromkeys(one.file for one in found))


def _judging(repo: Repository, tip: str = "") -> list[Definition]:
    """The definitions that run `ahp ci` among the files of a commit, else of the work tree."""
    asked = ["-l", "-z", "-E", "-e", _COMMAND, "--and", "--not", "-e", _COMMENT, *([tip] if tip else ["--untracked"])]
    told = repo.run("grep", "--no-color", "--full-name", *asked, "--", *_DEFINING, ok=(0, 1))
    found = []
    listed = told.decode("utf-8", "surrogateescape").split("\0")
    for path in sorted(name.removeprefix(f"{tip}:" if tip else "") for name in listed if name):
        with contextlib.suppress(AhpError):  # it is too large, or gone
            data = CommitView(repo, tip).read(path) if tip else files.read(f"{repo.root}/{path}", _LIMIT)
            if data is not None and len(data) <= _LIMIT:
                found.append(_definition(path, data.decode("utf-8", "replace")))
    return found


def _definition(path: str, text: str) -> Definition:
    if check := templates.check_of(path, text):
        why = "the default branch's copy of this file runs, which a pull request cannot edit"
        return Definition(path, check, GUARD, why)
    if path.startswith(TEXTS):
        why = "this is the text for another place; whether a change cannot edit it there is not seen from here"
    elif path.startswith(_EITHER) and _TARGET_S in text:
        why = "whether the target's copy of it runs, and a change cannot pass it unasked, is not looked at here"
    else:
        why = "a platform takes this file from the change, which can edit, rename or skip the job"
        return Definition(path, "", ADVICE, why)
    return Definition(path, "", UNSEEN, why)


def _tip(repo: Repository, branch: str) -> str:
    """The commit that the default branch has: the remote's as last fetched, else the repository's own."""
    refs = [f"refs/remotes/{remote}/{branch}" for remote in remotes(repo)] + [f"refs/heads/{branch}"]
    return next((tip for ref in refs if branch and (tip := repo.commit_id(ref))), "")


def _server(repo: Repository) -> list[Definition]:
    """The hook of a repository that others push to."""
    if repo.root:
        return []
    found = []
    for folder in (repo.config("core.hooksPath") or "hooks", _CUSTOM_HOOKS):
        # GitLab and Gitea have hooks in a folder, too.
        beside = f"{folder}/pre-receive.d"
        place = os.path.join(repo.git_dir, beside)
        names = sorted(os.listdir(place)) if os.path.isdir(place) else []
        inner = [f"{beside}/{name}" for name in names if os.path.isfile(f"{place}/{name}")]
        for name in (f"{folder}/pre-receive", *inner):
            path = os.path.join(repo.git_dir, name)
            text = (files.read(path, _LIMIT) or b"").decode("utf-8", "replace").replace("\\\n", " ")
            lines = _COMMENTS.sub("", text).strip().split("\n")
            if not any(map(_HOOK.search, lines)):
                continue
            if not os.access(path, os.X_OK):
                found.append(Definition(name, "", ADVICE, f"git does not run it: chmod +x {one_line(path, 300)}"))
            elif not _LAST_IN_HOOK.fullmatch(lines[-1].strip()):
                why = "the hook may go on where ahp refuses; end it with: exec ahp hook pre-receive"
                found.append(Definition(name, "", ADVICE, why))
            else:
                found.append(Definition(name, "", GUARD, "every push to this repository is judged before a ref moves"))
    return found


def examine(repo: Repository) -> list[Check]:
    """`ahp doctor --ci`: a check for each place that asks `ahp ci`, and one for the branch. Raises AhpError."""
    now = setup(repo)
    where = one_line(now.branch, 120) or "the default branch"
    not_yet = f"{where} does not have it yet, so nothing runs it"
    waiting = [Check(one_line(name, 200), "note", not_yet, "commit and merge it") for name in now.waiting]
    return [*map(_one, now.found), *waiting, Check(where, *_branch(now, bool(repo.root)))]


def _one(found: Definition) -> Check:
    what = f'"{one_line(found.check, 120)}": ' if found.check else ""
    mark = "advice only: " if found.worth == ADVICE else ""
    return Check(one_line(found.file, 200), "ok" if found.worth == GUARD else "note", what + mark + found.why)


def _branch(now: Setup, is_clone: bool) -> tuple[str, str, str]:
    """Whether the branch is protected: ok or note, how, and what mends it."""
    if not now.found:
        mend = "ahp init --ci KIND" if is_clone else "a hook pre-receive that runs: ahp hook pre-receive"
        return "note", "nothing that is seen here judges what comes to it", "" if now.waiting else mend
    checks = [one.check for one in now.guards]
    if not checks:
        unseen = any(one.worth == UNSEEN for one in now.found)
        return "note", "advice only" + ", unless a platform runs it from where a change cannot edit it" * unseen, ""
    if "" in checks:  # the hook of a server: nothing is left to a platform's settings
        return "ok", "protected: every push is judged here", ""
    if left := [about for check, about in templates.ASKED.items() if check not in checks]:
        return "note", f"nothing that a change cannot edit asks {left[0]}", "ahp init --ci KIND"
    named = " and ".join(f'"{one_line(check, 120)}"' for check in checks)
    return "note", f"protected where GitHub requires {named}, which is set there and not seen from here", _REQUIRE
