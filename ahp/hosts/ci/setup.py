"""Which CI is set up here, as far as a repository shows it; the one reader for every message that names CI."""

from __future__ import annotations

import contextlib
import os
import re
from typing import NamedTuple

from ahp.facts.default_branch import default_branch, remotes
from ahp.hosts.ci import templates
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

RULES, POLICY, ALL = "rules", "policy", "all"

TEXTS = ".ahp/ci/"
_LIMIT = 1 << 20
_COMMAND = re.compile(r"\bahp(?:-engine)?[\"']?\s+ci\b(?P<options>[^\n;&|]*)")
_COMMENT = re.compile(r"^[ \t]*(?:#|//).*$", re.MULTILINE)
_HOOK = re.compile(r"\bhook\s+pre-receive\b")
# A refusal is the hook's own: the last that it runs, or what it ends with.
_LAST_IN_HOOK = re.compile(r"(?:exec |.*\| *)?[\w./-]*ahp(?:-engine)? hook pre-receive\b[^|;&]*(?:\|\| exit\b.*)?")
# The files that platforms read from the change itself.
_OF_THE_CHANGE = {
    ".gitlab-ci.yml": "GitLab",
    "Jenkinsfile": "Jenkins",
    ".buildkite/pipeline.yml": "Buildkite",
    ".buildkite/pipeline.yaml": "Buildkite",
    "azure-pipelines.yml": "Azure Pipelines",
    "bitbucket-pipelines.yml": "Bitbucket",
    ".circleci/config.yml": "CircleCI",
    ".woodpecker.yml": "Woodpecker",
    ".woodpecker.yaml": "Woodpecker",
    ".woodpecker/": "Woodpecker",
}
# Those that run the target's copy of a file where it says `pull_request_target`.
_EITHER = {".github/workflows/": "GitHub", ".gitea/workflows/": "Gitea", ".forgejo/workflows/": "Forgejo"}
_TARGET_S = "pull_request_target"
_PLATFORM_OF_TEXT = {"gitlab.yml": "GitLab", "Jenkinsfile": "Jenkins", "buildkite.yml": "Buildkite"}
_CUSTOM_HOOKS = "custom_hooks"  # GitLab's folder for them, beside its own


class Definition(NamedTuple):
    """A job or hook, by the file that defines it, such as .github/workflows/ahp-rules.yml.

    `check` is the name that the platform reports it by, "" where that is not known; `worth` one of the words above, and
    `why` its reason as half a sentence. `part` is what is asked: RULES are all but those about the policy.
    """

    file: str
    check: str
    worth: str
    why: str
    part: str = ALL


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
    there = _contents(repo, tip) if tip else {}
    found = _judging(there)
    known = {(one.file, one.check) for one in found}
    here = [one for one in _judging(_on_disk(repo)) if (one.file, one.check) not in known] if repo.root else []
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


def _judging(contents: dict[str, bytes]) -> list[Definition]:
    """The definitions that run `ahp ci` among the files that `_wanted` names."""
    texts = {path: data.decode("utf-8", "replace") for path, data in contents.items()}
    return [_definition(path, text, part) for path, text in texts.items() if (part := _asked(text))]


def _definition(path: str, text: str, part: str) -> Definition:
    place = path if path in _OF_THE_CHANGE else path.rpartition("/")[0] + "/"
    where = _EITHER.get(place) or _OF_THE_CHANGE.get(place)
    if check := templates.check_of(path, text):
        why = "the default branch's copy of this file runs, which a pull request cannot edit"
        return Definition(path, check, GUARD, why, part)
    if where is None:
        where = _PLATFORM_OF_TEXT.get(path.removeprefix(TEXTS), "a platform")
        why = f"this is the text for {where}; whether it stands where a change cannot edit it is not seen from here"
    elif place in _EITHER and _TARGET_S in text:
        why = (
            f"whether {where} runs the target's copy of it, and a change cannot pass it unasked, is not looked at here"
        )
    else:
        why = f"{where} takes this file from the change, which can edit, rename or skip the job"
        return Definition(path, "", ADVICE, why, part)
    return Definition(path, "", UNSEEN, why, part)


def _asked(script: str) -> str:
    """Which part of the rules a script has `ahp ci` ask, "" where it does not run it."""
    options = [found["options"] for found in _COMMAND.finditer(_commands(script))]
    if not options:
        return ""
    without = any("--without" in one for one in options)
    only = any("--only" in one for one in options)
    return ALL if without == only else RULES if without else POLICY


def _commands(script: str) -> str:
    """The lines of a script without comments, each command whole on its line."""
    return _COMMENT.sub("", script.replace("\\\n", " "))


def _contents(repo: Repository, tip: str) -> dict[str, bytes]:
    view = CommitView(repo, tip)
    listed = repo.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", tip, "--", *_PLACES).decode(
        "utf-8", "surrogateescape"
    )
    found = {path: view.read(path) for path in listed.split("\0") if _wanted(path)}
    return {path: data for path, data in found.items() if data is not None and len(data) <= _LIMIT}


_PLACES = (TEXTS, *_OF_THE_CHANGE, *_EITHER)


def _wanted(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    if folder + "/" == TEXTS:
        return True
    if folder + "/" in _PLACES:  # no platform reads a folder below it
        return name.endswith((".yml", ".yaml"))
    return path in _OF_THE_CHANGE


def _on_disk(repo: Repository) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for place in _PLACES:
        folder = os.path.join(repo.root, place)
        names = os.listdir(folder) if place[-1] == "/" and os.access(folder, os.R_OK | os.X_OK) else [""]
        for path in [place + name for name in sorted(names)]:
            with contextlib.suppress(AhpError):  # a folder or a device of that name is no workflow
                data = files.read(f"{repo.root}/{path}", _LIMIT) if _wanted(path) else None
                found |= {path: data} if data is not None else {}
    return found


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
        for name in (f"{folder}/pre-receive", *_within(repo, f"{folder}/pre-receive.d")):
            path = os.path.join(repo.git_dir, name)
            lines = _commands((files.read(path, _LIMIT) or b"").decode("utf-8", "replace")).strip().split("\n")
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


def _within(repo: Repository, folder: str) -> list[str]:
    """The files of a folder of hooks, as GitLab and Gitea have them."""
    place = os.path.join(repo.git_dir, folder)
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    return [f"{folder}/{name}" for name in names if os.path.isfile(f"{place}/{name}")]
