"""The files that `ahp init --ci` writes, and what a person sets on the platform so that the check is required."""

from __future__ import annotations

import os
import re
import shlex
from typing import NamedTuple

from ahp.facts.default_branch import default_branch
from ahp.hosts.ci.platform import is_ref_name
from ahp.hosts.templates import template
from ahp.protocol.text import one_line
from ahp.system import files, installed, jsontext
from ahp.system.errors import AhpError
from ahp.system.git import Repository

LOCK = ".ahp/requirements.txt"
_BRANCH = "{branch}"
# pip says this line in its error: the check fails until somebody has pinned an ahp.
_UNPINNED = """\
ahp is not pinned: it came from a folder or a repository, which has no digest; `ahp init` tells what belongs here
"""
ASKED = {"ahp rules": "the rules that are not about the policy", "ahp policy": "the rules about the policy"}
"""The checks that a workflow of GitHub's may be, and what each asks."""
_RULES, _POLICY = {"check": "rules", "option": "--without policy"}, {"check": "policy", "option": "--only policy"}


class _File(NamedTuple):
    """Where a template goes, and the words that it is filled with, besides the branch."""

    path: str
    template: str
    words: dict[str, str]


class _Kind(NamedTuple):
    files: list[_File]
    next: list[str]


# docs/ci.md tells each of these steps at length.
KINDS = {
    "github": _Kind(
        [
            _File(".github/workflows/ahp-rules.yml", "ci/github.yml", _RULES),
            _File(".github/workflows/ahp-policy.yml", "ci/github.yml", _POLICY),
        ],
        [
            'on GitHub: Settings, Rules, Rulesets: require the check "ahp rules", branches up to date, no bypass',
            'and a second ruleset that requires "ahp policy", with the owners of the policy in its bypass list',
            "in CODEOWNERS: an owner of /.github/ and /.ahp/, or another workflow may report under the same name",
        ],
    ),
    "github-evidence": _Kind(
        [_File(".github/workflows/ahp-evidence.yml", "ci/github-evidence.yml", {})],
        [
            "in .github/workflows/ahp-evidence.yml: write what runs your tests in place of `make test`",
            "its check is advice, do not require it",
        ],
    ),
    "gitlab": _Kind(
        [_File(".ahp/ci/gitlab.yml", "ci/gitlab.yml", {})],
        [
            "on GitLab: move .ahp/ci/gitlab.yml to a project that only owners push to",
            "have a pipeline execution policy include it; without policies, name it as the CI/CD configuration file",
            "Settings, Merge requests: pipelines must succeed, and skipped pipelines are no success",
        ],
    ),
}


def write(repo: Repository, kinds: tuple[str, ...]) -> list[str]:
    """Writes the files of these kinds and gives what to do next, a line each; files that are there already stay.

    Raises AhpError, and writes nothing, where one of them is there with another content or leads out of the work tree.
    """
    wanted = {one.path: _text(one, repo) for kind in kinds for one in KINDS[kind].files}
    differ = [path for path, text in wanted.items() if _content(repo, path) not in (None, text.encode())]
    if differ:
        named = " and ".join(differ)
        raise AhpError(f"{named}: there already, with another content, and stays; move it away, then run this again")
    new = [path for path in wanted if _content(repo, path) is None]
    for path in new:
        folder = os.path.dirname(f"{repo.root}/{path}")
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise AhpError(f"cannot make the folder {folder}: {error.strerror}") from None
        files.replace(f"{repo.root}/{path}", wanted[path].encode(), 0o644)
    lines = [f"written: {', '.join(new)}"] if new else ["there already: " + ", ".join(wanted)]
    pinned, content = installed.pinned("proofs"), _content(repo, LOCK)
    if content is None and not pinned:
        content = _UNPINNED.encode()
        files.replace(f"{repo.root}/{LOCK}", content, 0o644)
    if content in (None, _UNPINNED.encode()):
        what = pinned or f"{installed.NAME}[proofs] @ https://HOST/FILE.whl"
        lock = shlex.quote(os.path.relpath(f"{repo.root}/{LOCK}"))  # from where somebody types it
        pin = f"echo {shlex.quote(what)} | uv pip compile --universal --generate-hashes -o {lock} -"
        why = "" if pinned else "this ahp has no digest that CI could check: put its wheel where CI can fetch it; "
        lines.append(f"next: {why}pin ahp and what it needs by their digests: {pin}")
    commit = f"commit {LOCK}" if all(path.startswith(".ahp/ci/") for path in wanted) else f"commit these and {LOCK}"
    return [*lines, f"{commit} on the default branch", *(line for kind in kinds for line in KINDS[kind].next)]


def check_of(path: str, text: str) -> str:
    """The name of the check that a workflow of GitHub's is, if `ahp init` writes it so for any branch; else ""."""
    for one in KINDS["github"].files:
        head, _, tail = _filled(one).partition(_BRANCH)
        if path == one.path and re.fullmatch(re.escape(head) + r"[^\n]+" + re.escape(tail), text):
            return f"ahp {one.words['check']}"
    return ""


def _filled(one: _File) -> str:
    """The template with all but the branch."""
    text = template(one.template)
    for word, value in one.words.items():
        text = text.replace("{" + word + "}", value)
    return text


def _text(one: _File, repo: Repository) -> str:
    branch = default_branch(repo) or repo.branch()
    return _filled(one).replace(_BRANCH, jsontext.encode(branch if is_ref_name(branch) else "main"))


def _content(repo: Repository, path: str) -> bytes | None:
    place = f"{repo.root}/{path}"
    if os.path.realpath(place) != os.path.join(os.path.realpath(repo.root), path):
        raise AhpError(f"{one_line(path)} is a link, or lies behind one; nothing is written through it")
    return files.read(place)
