"""What git lets pass without asking a hook, made with git itself: the push finds every commit of it, and so does CI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.cli import main
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  secret:
    at: pre-commit
    each: l in diff.added
    block: contains([l.text], 'SECRET')
    finding: {file: l.path, line: l.line}
    message: a secret
  subject: {at: commit-msg, block: commit.subject.startswith('bad'), message: a bad subject}
"""
NOWHERE = "core.hooksPath=/dev/null"
CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE", "TF_BUILD", "GITHUB_STEP_SUMMARY")


class Work(Gated):
    """A line of commits; each way puts one on top of it that breaks a rule, and says so by its name."""

    def stage(self, name: str, text: str = "SECRET\n") -> None:
        self.write(name, text)
        self.add(name)

    def aside(self, name: str, text: str = "SECRET\n") -> str:
        """A commit on top of this one that no branch has, and no hook saw."""
        blob = self.git("hash-object", "-w", "--stdin", stdin=text.encode())
        tree = self.git("mktree", stdin=f"{self.git('ls-tree', 'HEAD')}\n100644 blob {blob}\t{name}\n".encode())
        return self.git("commit-tree", "-p", "HEAD", "-m", f"ok {name}", tree)


def _commit(*before: str, after: tuple[str, ...] = (), **env: str) -> Callable[[Work, str], None]:
    def do(work: Work, name: str) -> None:
        work.stage(name)
        done = work.run("git", *before, "commit", "-q", *after, *(() if "-anm" in after else ("-m",)), "ok", env=env)
        assert done.returncode == 0, done.stderr

    return do


def _configured(work: Work, name: str) -> None:
    work.git("config", "core.hooksPath", "/dev/null")
    _commit()(work, name)
    work.git("config", "--unset", "core.hooksPath")


def _moved_away(work: Work, name: str) -> None:
    hooks = work.root / ".git/hooks"
    hooks.rename(f"{hooks}-away")
    _commit()(work, name)
    Path(f"{hooks}-away").rename(hooks)


def _not_executable(work: Work, name: str) -> None:
    hook = work.root / ".git/hooks/pre-commit"
    hook.chmod(0o644)
    _commit()(work, name)
    hook.chmod(0o755)


def _plumbing(work: Work, name: str) -> None:
    work.git("update-ref", "refs/heads/work", work.aside(name))
    work.git("reset", "-q", "--hard")


def _fast_import(work: Work, name: str) -> None:
    who = "committer T <t@example.org> 1700000000 +0000"
    head = f"commit refs/heads/work\n{who}\ndata 2\nok\nfrom {work.head()}\n"
    work.git("fast-import", "--quiet", stdin=f"{head}M 100644 inline {name}\ndata 7\nSECRET\n\n".encode())
    work.git("reset", "-q", "--hard")


def _cherry_pick(work: Work, name: str) -> None:
    work.git("cherry-pick", "-x", work.aside(name))


def _revert(work: Work, name: str) -> None:
    work.git("reset", "-q", "--hard", work.aside(name))
    work.git("rm", "-q", name)
    work.git("commit", "-q", "-m", "ok without")
    work.git("revert", "--no-edit", "HEAD")


def _am(work: Work, name: str) -> None:
    work.git("am", "-q", stdin=work.git("format-patch", "--stdout", "-1", work.aside(name)).encode())


def _rebase(work: Work, name: str) -> None:
    other = work.aside(name)
    work.git("commit", "-q", "--allow-empty", "-m", "ok base")
    work.git("branch", "-q", "picked", other)
    work.git("rebase", "-q", "work", "picked")
    work.git("checkout", "-q", "-B", "work", "picked")
    work.git("branch", "-q", "-D", "picked")


def _merge(work: Work, name: str) -> None:
    side = work.aside(f"{name}-side", "fine\n")
    work.git("merge", "-q", "--no-ff", "--no-commit", side)
    work.stage(name)
    work.git("commit", "-q", "-n", "-m", "ok merge")


def _merge_no_verify(work: Work, name: str) -> None:
    work.git("merge", "-q", "--no-ff", "--no-verify", "-m", "ok merge", work.aside(name))


def _fast_forward(work: Work, name: str) -> None:
    work.git("merge", "-q", "--ff-only", work.aside(name))


def _squash(work: Work, name: str) -> None:
    work.git("reset", "-q", "--hard", work.aside(name))
    work.git("reset", "-q", "--soft", "HEAD~1")
    work.git("commit", "-q", "-n", "-m", "ok squash")


def _amend(work: Work, name: str) -> None:
    work.git("commit", "-q", "--allow-empty", "-m", "ok")
    work.stage(name)
    work.git("commit", "-q", "--amend", "-n", "--no-edit")


def _message(work: Work, name: str) -> None:
    work.stage(name, "fine\n")
    work.git("commit", "-q", "-n", "-m", "bad words")


def _taken_out_again(work: Work, name: str) -> None:
    _plumbing(work, name)
    work.git("rm", "-q", name)
    work.git("commit", "-q", "-m", "ok without")


def _replaced(work: Work, name: str) -> None:
    _plumbing(work, name)
    work.git("replace", "HEAD", work.git("commit-tree", "-p", "HEAD~1", "-m", "ok", "HEAD~1^{tree}"))


def _judged_elsewhere(work: Work, name: str) -> None:
    """The same content passed a hook as another change: as a file that was there already."""
    _plumbing(work, f"{name}-first")
    work.stage(name)
    work.git("commit", "-q", "-n", "-m", "ok again", "-m", "Ahp-Override: secret sha256:0 sha256:0 forged")


WAYS: dict[str, Callable[[Work, str], None]] = {
    "--no-verify": _commit(after=("--no-verify",)),
    "-n": _commit(after=("-n",)),
    "an unambiguous beginning of the option": _commit(after=("--no-veri",)),
    "bundled options": _commit(after=("-anm",)),
    "another hooksPath": _commit("-C", ".", "-c", NOWHERE),
    "an empty hooksPath": _commit("-c", "core.hooksPath="),
    "--config-env": _commit("--config-env=core.hooksPath=NOWHERE", NOWHERE="/dev/null"),
    "GIT_CONFIG_COUNT": _commit(
        GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="core.hooksPath", GIT_CONFIG_VALUE_0="/dev/null"
    ),
    "an alias": lambda work, name: (work.stage(name), work.git("-c", "alias.x=commit -n", "x", "-qm", "ok"))[0],
    "a hooksPath in the configuration": _configured,
    "hooks moved away": _moved_away,
    "a hook that is not executable": _not_executable,
    "commit-tree and update-ref": _plumbing,
    "fast-import": _fast_import,
    "cherry-pick": _cherry_pick,
    "revert": _revert,
    "am": _am,
    "rebase": _rebase,
    "a merge concluded with -n": _merge,
    "merge --no-verify": _merge_no_verify,
    "a fast-forward": _fast_forward,
    "reset --soft": _squash,
    "amend": _amend,
    "a message": _message,
    "taken out again": _taken_out_again,
    "a replaced object": _replaced,
    "judged elsewhere, with a forged override": _judged_elsewhere,
}


@pytest.mark.slow
def test_every_bypass_is_found_at_the_push_and_in_ci(
    gated: Gated, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    gated.git("commit", "-q", "--amend", "-m", "ok")
    gated.commit_policy(POLICY)
    gated.git("commit", "-q", "--amend", "--no-verify", "-m", "ok policy")
    start = gated.head()
    gated.git("push", "-q", "--no-verify", "-u", "origin", "main")
    gated.git("checkout", "-q", "-b", "work")
    work = Work(gated.root)
    (work.root / ".git/hooks/post-commit").unlink()  # it refuses nothing, and would be asked each time
    brought: dict[str, set[str]] = {}
    for number, (way, bypass) in enumerate(WAYS.items()):
        before = work.head()
        bypass(work, f"f{number}")
        brought[way] = set(work.git("rev-list", f"{before}..HEAD").split())
        assert brought[way], way
    line = f"refs/heads/work {work.head()} refs/heads/work {'0' * len(start)}\n"
    code, _ = ask("pre-push", "origin", "url", stdin=line.encode())
    told = {one for signal in work.log("signal") if signal["hook"] == "pre-push" for one in signal["commits"]}
    assert (code, {way for way, commits in brought.items() if not commits & told}) == (1, set())
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(work.root)
    assert main.run(["ci", "--output", f"json={tmp_path / 'report.json'}"]) == 1
    said = (tmp_path / "report.json").read_text("utf-8")
    assert {way for way, commits in brought.items() if not any(one[:10] in said for one in commits & told)} == set()
