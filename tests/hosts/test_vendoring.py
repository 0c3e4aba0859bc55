"""An organisation's policy, signed with real keys in a real repository, fetched into another one that it judges."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")

BASE = """\
version: 1
rules:
  no-secret:
    {at: pre-commit, locked: true, each: l in diff.added, block: "l.path == 'a.txt' and contains(l.text, 'SECRET')"}
  small: {at: pre-commit, block: files.changed_count > 5}
"""
RULE = "rules: {key: {at: pre-commit, each: l in diff.added, block: \"l.path.endswith('.py') and l.text == 'KEY'\"}}\n"
WEAKER = BASE.replace("> 5", "> 50")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the key pairs `ann` and `eve`."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ann", "eve"):
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(made, check=True)
    return folder


class Org:
    """The organisation's repository, and what a project writes to extend its policy."""

    def __init__(self, repo: Repo, keys: Path) -> None:
        self.repo, self.keys, self.clock = repo, keys, 1_700_000_000

    @property
    def url(self) -> str:
        return f"file://{self.repo.root}"

    def signed(self, *arguments: str, by: str = "ann") -> str:
        self.clock += 60
        when = {"GIT_COMMITTER_DATE": f"{self.clock} +0000", "GIT_AUTHOR_DATE": f"{self.clock} +0000"}
        key = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={self.keys / by}")
        return self.repo.git(*key, *arguments, env=when)

    def release(self, tag: str, by: str = "ann", **files: str) -> str:
        """A commit of these files and a tag of it, signed; the commit's id."""
        for name, content in files.items():
            self.repo.write(name, content)
        self.repo.add()
        self.signed("commit", "-q", "--allow-empty", "-m", tag)
        self.signed("tag", "-s", "-m", tag, tag, by=by)
        return self.repo.head()

    def entry(self, ref: str = "v1", signer: str = "ann", more: str = "") -> str:
        line = " ".join((self.keys / f"{signer}.pub").read_text("utf-8").split()[:2])
        return f"{{repo: '{self.url}', ref: {ref}, path: base.yaml, name: org, signers: ['{signer} {line}']{more}}}"

    def policy(self, ref: str = "v1", signer: str = "ann", more: str = "") -> str:
        return f"version: 1\nextends: [core, {self.entry(ref, signer, more)}]\n"


@pytest.fixture
def org(tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch) -> Org:
    folder = tmp_path / "org"
    folder.mkdir()
    made = Org(Repo(folder), keys)
    made.repo.git("init", "-q")
    made.release("v1", **{"base.yaml": BASE})
    return made


@pytest.fixture
def project(repo: Repo, org: Org, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository that has v1, installed and committed."""
    monkeypatch.chdir(repo.root)
    repo.git("remote", "add", "origin", "https://ann:secret@git.example:8443/team/app.git")
    repo.write(".ahp/hooks.yaml", org.policy())
    assert run(["policy", "update"]) == 0
    assert run(["install", "git"]) == 0
    repo.add()
    repo.git("commit", "-qm", "begin", env={"AHP_ACTOR": "human:test"})
    return repo


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What `ahp policy update` says when it ends with 2; nothing of the tree has changed by it."""
    folder = Path(".ahp")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert run(["policy", "update", *arguments]) == 2
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    return capsys.readouterr().err


def test_text_and_lock_are_in_the_tree(project: Repo, org: Org) -> None:
    lock = json.loads((project.root / ".ahp/policy.lock").read_text("utf-8"))
    assert lock["repository"] == "git.example/team/app"
    one = lock["shared"]["org"]
    assert (one["repo"], one["ref"], one["commit"], one["signer"]) == (org.url, "v1", org.repo.head(), "ann")
    assert (project.root / ".ahp/vendor/org/base.yaml").read_text("utf-8") == BASE
    assert sorted(project.git("ls-files", ".ahp").split()) == [
        ".ahp/hooks.yaml",
        ".ahp/policy.lock",
        ".ahp/vendor/org/base.yaml",
    ]


def test_its_rules_judge_a_commit_and_ci_without_the_repository(
    project: Repo, org: Org, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move(org.repo.root, tmp_path / "gone")
    project.git("checkout", "-qb", "topic")
    project.write("a.txt", "SECRET\n")
    project.add()
    done = project.run("git", "commit", "-qm", "leak")
    assert done.returncode == 1 and b"no-secret" in done.stderr
    project.git("commit", "-qnm", "leak")
    project.git("remote", "remove", "origin")
    capsys.readouterr()
    assert run(["ci", "--from", "main", "--to", "topic", "--target", "main"]) == 1
    assert "no-secret" in capsys.readouterr().out
    assert run(["policy", "lint"]) == 0


@pytest.mark.parametrize("what", [".ahp/vendor/org/base.yaml", ".ahp/policy.lock"])
def test_a_text_that_does_not_fit_its_lock_is_no_policy(
    project: Repo, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project.root / what
    path.write_text(
        path.read_text("utf-8").replace("SECRET", "NOTHING").replace('"base.yaml": "sha256:', '"base.yaml": "sha256:0')
    )
    assert run(["policy", "lint"]) == 2
    assert "run `ahp policy update`" in capsys.readouterr().out
    project.add()
    assert project.run("git", "commit", "-qm", "weaken").returncode == 1  # staging what does not load is refused
    path.unlink()
    project.add()
    assert project.run("git", "commit", "-qm", "weaken").returncode == 1


@pytest.mark.slow
def test_a_locked_rule_of_it_cannot_be_weakened(project: Repo, org: Org, capsys: pytest.CaptureFixture[str]) -> None:
    project.write(".ahp/hooks.yaml", org.policy() + "rules:\n  no-secret: {level: prompt}\n")
    assert run(["policy", "lint"]) == 2
    assert "the rule is locked" in capsys.readouterr().out
    project.write(".ahp/hooks.yaml", org.policy() + "rules:\n  small: {block: files.changed_count > 9}\n")
    assert run(["policy", "lint"]) == 0


def test_an_update_says_what_it_changes_and_a_weaker_one_counts_as_weakened(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str]
) -> None:
    org.release("v2", **{"base.yaml": WEAKER})
    assert run(["policy", "update", "--check"]) == 1
    assert "v2 is there, and here v1" in capsys.readouterr().out
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert run(["policy", "update", "org"]) == 0
    assert run(["policy", "update", "--check"]) == 0
    capsys.readouterr()
    assert run(["policy", "diff"]) == 0
    assert "weaker: small at pre-commit" in capsys.readouterr().out
    project.add()
    done = project.run("git", "commit", "-qm", "update", env={"CLAUDECODE": "1"})
    assert done.returncode == 1 and b"policy" in done.stderr, done.stderr


@pytest.mark.slow
def test_what_lies_beside_a_shared_policy_is_judged_as_any_file(project: Repo) -> None:
    project.write(".ahp/hooks.yaml", (project.root / ".ahp/hooks.yaml").read_text("utf-8") + RULE)
    project.add()
    project.git("commit", "-qm", "rule", env={"AHP_ACTOR": "human:test"})
    project.write(".ahp/vendor/org/x.py", "KEY\n")
    project.add()
    assert project.run("git", "commit", "-qm", "hidden").returncode == 1


@pytest.mark.slow
def test_going_back_to_an_older_version_counts_as_weakened(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str]
) -> None:
    org.release("v2", **{"base.yaml": BASE + "# v2\n"})
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert run(["policy", "update"]) == 0
    project.add()
    project.git("commit", "-qm", "v2", env={"AHP_ACTOR": "human:test"})
    project.write(".ahp/hooks.yaml", org.policy("v1"))
    assert run(["policy", "update"]) == 0
    capsys.readouterr()
    assert run(["policy", "diff"]) == 0
    assert "goes back from v2 to v1, an older one" in capsys.readouterr().out


def test_a_version_that_nobody_signed_is_refused(project: Repo, org: Org, capsys: pytest.CaptureFixture[str]) -> None:
    org.repo.git("commit", "-q", "--allow-empty", "-m", "unsigned")
    org.repo.git("tag", "v2")
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert "it is not signed" in refused(capsys)
    org.repo.git("tag", "-a", "-m", "annotated alone", "v3")
    project.write(".ahp/hooks.yaml", org.policy("v3"))
    assert "it is not signed" in refused(capsys)


def test_a_version_that_another_key_signed_is_refused(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str]
) -> None:
    org.release("v2", by="eve")
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert "by no key that `signers` names" in refused(capsys)


@pytest.mark.slow
def test_a_signed_commit_is_enough_for_a_branch(project: Repo, org: Org) -> None:
    org.signed("commit", "-qS", "--allow-empty", "-m", "signed")
    project.write(".ahp/hooks.yaml", org.policy("main"))
    assert run(["policy", "update"]) == 0
    org.repo.write("base.yaml", BASE + "# more\n")
    org.repo.add()
    org.signed("commit", "-qS", "-m", "more")
    assert run(["policy", "update", "--check"]) == 1
    assert run(["policy", "update"]) == 0


def test_a_tag_that_moved_is_refused(project: Repo, org: Org, capsys: pytest.CaptureFixture[str]) -> None:
    org.repo.git("tag", "-d", "v1")
    org.release("v1", **{"base.yaml": WEAKER})
    assert "somebody moved the tag" in refused(capsys)
    assert "somebody moved the tag" in refused(capsys, "--check")


def test_an_old_signed_tag_in_the_place_of_a_new_one_is_refused(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str]
) -> None:
    org.repo.git("update-ref", "refs/tags/v9", org.repo.git("rev-parse", "refs/tags/v1"))
    project.write(".ahp/hooks.yaml", org.policy("v9"))
    assert "is another tag in its place (type commit, tag v1)" in refused(capsys)


@pytest.mark.slow
def test_a_branch_that_was_rolled_back_is_refused(project: Repo, org: Org, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2):
        org.repo.write("base.yaml", f"{BASE}# {number}\n")
        org.repo.add()
        org.signed("commit", "-qS", "-m", "more")
    project.write(".ahp/hooks.yaml", org.policy("main"))
    assert run(["policy", "update"]) == 0
    org.repo.git("reset", "-q", "--hard", "HEAD~1")
    assert "somebody rolled it back" in refused(capsys)


def test_a_link_a_submodule_and_a_large_file_are_refused(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str]
) -> None:
    (org.repo.root / "base.yaml").unlink()
    (org.repo.root / "base.yaml").symlink_to("/etc/passwd")
    org.release("v2")
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert "base.yaml is a symbolic link" in refused(capsys)
    org.repo.git("update-index", "--add", "--cacheinfo", f"160000,{org.repo.head()},base.yaml")
    org.signed("commit", "-q", "-m", "v3")
    org.signed("tag", "-s", "-m", "v3", "v3")
    project.write(".ahp/hooks.yaml", org.policy("v3"))
    assert "base.yaml is a submodule" in refused(capsys)
    org.repo.git("reset", "-q", "--hard", "v1")
    org.release("v4", **{"base.yaml": BASE + "#" * (1 << 20)})
    project.write(".ahp/hooks.yaml", org.policy("v4"))
    assert "more than the 1048576 allowed" in refused(capsys)
    (org.repo.root / "base.yaml").unlink()
    (org.repo.root / "real").mkdir()
    (org.repo.root / "real/base.yaml").write_text(BASE)
    (org.repo.root / "sub").symlink_to("real")
    org.release("v5")
    project.write(".ahp/hooks.yaml", org.policy("v5").replace("base.yaml", "sub/base.yaml"))
    assert "has no file sub/base.yaml" in refused(capsys)


@pytest.mark.slow
def test_a_repository_that_is_a_bomb_is_refused(project: Repo, org: Org, capsys: pytest.CaptureFixture[str]) -> None:
    with (org.repo.root / "bomb").open("wb") as file:
        file.write(os.urandom(70 << 20))
    org.release("v2")
    (org.repo.root / "bomb").unlink()
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert "larger than the 64 MiB allowed" in refused(capsys)
    with (org.repo.root / "base.yaml").open("wb") as file:
        file.truncate(300 << 20)  # zeros, which become some hundred kB
    org.repo.git("rm", "-q", "--cached", "bomb")
    org.release("v3")
    project.write(".ahp/hooks.yaml", org.policy("v3"))
    assert "more than the 1048576 allowed" in refused(capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("extends: [other.yaml]\n", "extends packs only, and not 'other.yaml'"),
        ("extends: [{repo: 'https://x.example/y', ref: v1, signers: [a]}]\n", "only the project's .ahp/hooks.yaml"),
        ("rules: {x: {at: pre-commit, block: nonsense(}}\n", "base.yaml:"),
        ("requires: '>=99'\n", "this policy needs ahp"),
        ("\0", "base.yaml"),
    ],
)
def test_a_policy_that_nests_or_does_not_load_is_refused(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    org.release("v2", **{"base.yaml": text, "other.yaml": BASE})
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert why in refused(capsys)


def test_nothing_of_the_repository_runs(project: Repo, org: Org, tmp_path: Path) -> None:
    for hook in ("post-checkout", "post-merge", "reference-transaction", "post-update", "pre-auto-gc"):
        org.repo.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {tmp_path}/ran\n", 0o755)
    org.repo.git("config", "filter.evil.smudge", f"touch {tmp_path}/ran")
    attributes = {".gitattributes": "*.yaml filter=evil ident text eol=crlf\n"}
    org.repo.git("config", "core.hooksPath", "/dev/null")
    org.release("v2", **attributes)
    org.repo.git("config", "--unset", "core.hooksPath")
    (tmp_path / "ran").unlink(missing_ok=True)
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert run(["policy", "update"]) == 0
    assert not (tmp_path / "ran").exists()
    assert b"\r" not in (project.root / ".ahp/vendor/org/base.yaml").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("was", "put", "why"),
    [
        ("name: org", "name: ../evil", "`name` is a name of letters"),
        ("name: org", "name: ..", "`name` is a name of letters"),
        ("path: base.yaml", "path: ../../x.yaml", "`path` is a .yaml file"),
        ("path: base.yaml", "path: .git/x.yaml", "`path` is a .yaml file"),
        ("path: base.yaml", "path: /etc/x.yaml", "`path` is a .yaml file"),
        ("ref: v1", "ref: --upload-pack=x", "`ref` is the name"),
        ("file://", "ext::sh -c touch% x ", "`repo` is https"),
        ("file://", "--upload-pack=x", "`repo` is https"),
        ("file:///", "https://ann:secret@x.example/", "without a password"),
        ("file:///", "http://x.example/", "`repo` is https"),
    ],
)
def test_an_entry_that_escapes_or_starts_something_is_refused(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str], was: str, put: str, why: str
) -> None:
    text = org.policy()
    assert was in text
    project.write(".ahp/hooks.yaml", text.replace(was, put))
    assert why in refused(capsys)


def test_a_link_in_the_place_of_the_folder_is_not_followed(
    project: Repo, org: Org, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(project.root / ".ahp/vendor", elsewhere)
    (project.root / ".ahp/vendor").symlink_to(elsewhere)
    assert "is a symbolic link" in refused(capsys)
    assert (elsewhere / "org/base.yaml").read_text("utf-8") == BASE


def test_a_lock_with_a_name_that_escapes_is_no_lock(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    path = project.root / ".ahp/policy.lock"
    path.write_text(path.read_text("utf-8").replace('"org"', '"../../x"'), encoding="utf-8")
    assert run(["policy", "lint"]) == 2
    assert ".ahp/policy.lock is damaged" in capsys.readouterr().out


def waiver(repository: str) -> str:
    until = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=30)
    held = f"rule: no-secret, subject: '*', reason: a fixture, approver: ann, expires: {until}"
    return f"- {{repository: {repository}, {held}}}\n"


@pytest.mark.slow
def test_the_organisation_waives_its_locked_rule_for_one_repository(
    project: Repo, org: Org, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, (repository, code) in enumerate((("git.example/team/other", 1), ("git.example/team/app", 0)), 2):
        org.release(f"v{number}", **{"waivers.yaml": waiver(repository)})
        project.write(".ahp/hooks.yaml", org.policy(f"v{number}"))
        assert run(["policy", "update"]) == 0
        capsys.readouterr()
        assert run(["policy", "diff"]) == 0
        assert ("the waiver of 'no-secret'" in capsys.readouterr().out) == (code == 0)
        project.add(".ahp")
        project.git("commit", "-qm", "update", env={"AHP_ACTOR": "human:test"})
        project.write("a.txt", f"SECRET {number}\n")
        project.add()
        done = project.run("git", "commit", "-qm", "fixture")
        assert done.returncode == code, done.stderr
        assert (b"waived: no-secret" in done.stderr) == (code == 0)
        project.git("reset", "-q", "--hard")


def test_a_projects_own_waivers_name_no_repository(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write(".ahp/waivers.yaml", waiver("git.example/team/app"))
    assert run(["policy", "lint"]) == 2
    assert "`repository` is for an organisation's waivers" in capsys.readouterr().out


def test_a_fleet_tells_who_is_behind_from_clones_and_bare_mirrors(
    project: Repo, org: Org, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project.git("clone", "-q", "--bare", ".", str(tmp_path / "old.git"))
    org.release("v2", **{"base.yaml": BASE + "# v2\n"})
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert run(["policy", "update"]) == 0
    project.add()
    project.git("commit", "-qm", "v2", env={"AHP_ACTOR": "human:test"})
    (tmp_path / "none").mkdir()
    listing = tmp_path / "list"
    listing.write_text(f"# clones\n{project.root}\nold.git\nnone\n", encoding="utf-8")
    capsys.readouterr()
    assert run(["policy", "fleet", "--from", str(listing), "--format", "json"]) == 1
    told = [(one["ref"], one["state"][:6]) for one in json.loads(capsys.readouterr().out)]
    assert told == [("v2", "newest"), ("v1", "behind"), ("", "no git")]


def test_a_repository_that_is_not_there_leaves_what_is_here(
    project: Repo, org: Org, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move(org.repo.root, tmp_path / "gone")
    assert "what is here stays" in refused(capsys)
    assert run(["policy", "lint"]) == 0


def test_init_joins_the_newest_version_and_shows_whom_it_trusts(
    repo: Repo, org: Org, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"ann {(org.keys / 'ann.pub').read_text('utf-8').strip()}"
    for tag in ("v9", "v10", "draft"):
        org.release(tag, **{"hooks.yaml": BASE + "mode: observe\n", "signers": f"# who\n{line}\n"})
    monkeypatch.chdir(repo.root)
    assert run(["init", "--org", org.url]) == 0
    told = capsys.readouterr().out
    assert "extends org v10" in told and line in told
    assert run(["policy", "lint"]) == 0
    assert run(["install", "git"]) == 0
    repo.add()
    repo.git("commit", "-qm", "begin")
    repo.write("a.txt", "SECRET\n")
    repo.add()
    assert repo.run("git", "commit", "-qm", "observed").returncode == 0  # `mode: observe` is the organisation's
    assert run(["init", "--org", org.url]) == 2
    assert "is there already" in capsys.readouterr().err


def test_init_leaves_nothing_where_the_version_is_signed_by_nobody_that_it_names(
    repo: Repo, org: Org, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    eve = (org.keys / "eve.pub").read_text("utf-8").strip()
    org.release("v2", **{"hooks.yaml": BASE, "signers": f"eve {eve}\n"})
    monkeypatch.chdir(repo.root)
    assert run(["init", "--org", org.url]) == 2
    assert "by no key that `signers` names" in capsys.readouterr().err
    assert not (repo.root / ".ahp/hooks.yaml").exists()
    assert run(["init", "--org", "http://x.example/y"]) == 2
    assert "`repo` is https" in capsys.readouterr().err
