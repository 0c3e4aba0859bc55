"""Who approved, as far as policies and signatures tell, and the words of an audit."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ahp.insight.audit import Here, Judgement, PolicyName
from ahp.insight.commands import report_audit
from ahp.system import git
from ahp.system.commits import commits
from tests.conftest import Repo

WAIVER = "- {rule: size, subject: '*', reason: a move, approver: mei, expires: 2026-02-09}\n"


def found(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def test_a_waiver_is_looked_for_in_the_policies_that_are_here(repo: Repo) -> None:
    first = repo.commit("first", **{".ahp/waivers.yaml": WAIVER})
    broken = repo.commit("second", **{".ahp/waivers.yaml": "- {rule: x}\n"})
    find = Here(found(repo)).waived
    assert find("size * 2026-02-09", [broken, "f" * 40, first]) == ("mei", "a move")
    assert find("size * 2026-02-10", [first]) == find("size * 2026-02-09", []) == ("", "")


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")
def test_an_approver_is_one_of_the_default_branch_today(repo: Repo, tmp_path: Path) -> None:
    key = tmp_path / "ann"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    repo.write(".ahp/approvers", f"ann@example.org {key.with_suffix('.pub').read_text()}")
    repo.commit("policy", **{".ahp/hooks.yaml": "version: 1\nsoftware_keys: true\n", ".ahp/approvers": repo_text(repo)})
    repo.git("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "commit", "-qS", "--allow-empty", "-m", "signed")
    signed, unsigned = commits(found(repo))
    signatures = Here(found(repo))
    assert (signatures.signer(signed), signatures.signer(unsigned)) == ("ann@example.org", "")
    repo.commit("broken", **{".ahp/hooks.yaml": "version: [\n"})
    signatures = Here(found(repo))
    assert signatures.signer(signed) == "" and "signatures were not looked at" in signatures.notes[0]


def repo_text(repo: Repo) -> str:
    return (repo.root / ".ahp/approvers").read_text("utf-8")


@pytest.mark.parametrize(
    ("commits", "words"),
    [
        (3, "with the push, 3 commits of it one by one, of"),
        (0, "as part of what changes, with the push of"),
    ],
)
def test_how_a_push_judged_it_is_not_overstated(commits: int, words: str) -> None:
    told = Judgement(
        "push", "", ["pre-push"], "allow", PolicyName("sha256:" + "a" * 64, "", ""), "", [], "refs/heads/x", "b" * 40,
        commits,
    )  # fmt: skip
    said = report_audit._judged(told)
    assert said.startswith(words) and "that the log does not describe, asked by nobody known" in said
