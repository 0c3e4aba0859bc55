"""`commit` tells what git knows at each point of making a commit: real hooks show what they are given."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import commit
from ahp.system import commits
from ahp.system.history import CommitView

ALL = [f"commit.{field}" for field in commit.NAMESPACE.schema]
KNOWN_BEFORE = ["commit.author", "commit.author_email", "commit.is_merge"]
COMMITTER = ["commit.committer", "commit.committer_email"]


@pytest.fixture
def seen(repo: Any, tmp_path: Path) -> Any:
    """`seen(hook, *git arguments)` → (environment, draft) that git gave the hook."""

    def run(hook: str, *arguments: str, env: dict[str, str] | None = None) -> tuple[dict[str, str], bytes]:
        out = tmp_path / hook
        script = repo.root / ".git" / "hooks" / hook
        script.write_text(f'#!/bin/sh\nenv -0 > "{out}.env"\n[ -z "$1" ] || cp "$1" "{out}.msg"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        subprocess.run(["git", *arguments], cwd=repo.root, env={**os.environ, **(env or {})}, check=True)
        script.unlink()
        pairs = [item.partition("=") for item in Path(f"{out}.env").read_bytes().decode().split("\0") if item]
        draft = Path(f"{out}.msg")
        return {name: value for name, _, value in pairs}, draft.read_bytes() if draft.exists() else b""

    return run


def test_before_the_message_only_author_and_merge_are_known(repo: Any, make_event: Any, gather: Any, seen: Any) -> None:
    env, _ = seen("pre-commit", "commit", "-q", "--allow-empty", "-m", "x", "--author", "Ann B <ann@example.org>")
    facts = gather(make_event(env=env), *ALL)
    assert facts["commit.author"] == "Ann B <ann@example.org>"
    assert facts["commit.author_email"] == "ann@example.org"
    assert facts["commit.is_merge"] is False
    assert facts["missing"]["commit.subject"] == ("the message is not written yet", "ask at commit-msg")


def test_without_a_hook_git_says_who_the_author_will_be(make_event: Any, gather: Any) -> None:
    facts = gather(make_event(), *KNOWN_BEFORE)
    assert facts["commit.author"] == "Test Person <person@example.org>"


def test_a_message_given_on_the_command_line_keeps_its_hashes(
    repo: Any, make_event: Any, gather: Any, seen: Any
) -> None:
    text = "Feat(core)!: add x\n\n#12 is mended\n\nRefs: #12\nSigned-off-by: A <a@b>"
    env, draft = seen("commit-msg", "commit", "-q", "--allow-empty", "-m", text)
    facts = gather(make_event("commit-msg", env=env, draft=draft), *ALL)
    assert facts["commit.message"] == repo.git("log", "-1", "--format=%B") == text + "\n"
    assert facts["commit.subject"] == "Feat(core)!: add x"
    assert (facts["commit.type"], facts["commit.scope"], facts["commit.is_breaking"]) == ("feat", "core", True)
    assert facts["commit.body"].startswith("#12 is mended")
    assert facts["commit.trailers"] == ["Refs: #12", "Signed-off-by: A <a@b>"]


@pytest.mark.parametrize(
    "config",
    [{}, {"commit.cleanup": "scissors"}, {"commit.cleanup": "whitespace"}, {"core.commentChar": ";"}],
    ids=str,
)
def test_what_an_editor_showed_is_cleaned_as_git_cleans_it(
    repo: Any, make_event: Any, gather: Any, seen: Any, tmp_path: Path, config: dict[str, str]
) -> None:
    for name, value in config.items():
        repo.git("config", name, value)
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("a.txt", "2\n")
    repo.add()
    editor = tmp_path / "editor"
    shown = "subject\\n\\n\\n# a\\n; b\\n  \\n"
    editor.write_text(f'#!/bin/sh\n{{ printf "{shown}"; cat "$1"; }} > "$1.new"; mv "$1.new" "$1"\n')
    editor.chmod(0o755)
    env, draft = seen("commit-msg", "commit", "-q", "--verbose", env={"GIT_EDITOR": str(editor)})
    facts = gather(make_event("commit-msg", env=env, draft=draft), "commit.message")
    assert facts["commit.message"] == repo.run("git", "log", "-1", "--format=%B").stdout.decode()[:-1]


def test_cleanup_from_the_configuration_reaches_messages_nobody_edited(
    repo: Any, make_event: Any, gather: Any, seen: Any
) -> None:
    repo.git("config", "commit.cleanup", "strip")
    env, draft = seen("commit-msg", "commit", "-q", "--allow-empty", "-m", "subject\n\n#1\nbody")
    facts = gather(make_event("commit-msg", env=env, draft=draft), "commit.message")
    assert facts["commit.message"] == "subject\n\nbody\n"


def test_an_empty_draft_has_an_empty_subject(make_event: Any, gather: Any) -> None:
    facts = gather(make_event("commit-msg", draft=b"# only comments\n"), *ALL)
    assert facts["commit.subject"] == facts["commit.message"] == facts["commit.type"] == ""
    assert facts["commit.trailers"] == []


def test_bytes_that_are_not_utf8_survive(make_event: Any, gather: Any) -> None:
    facts = gather(make_event("commit-msg", draft=b"caf\xe9\n", env={"GIT_EDITOR": ":"}), "commit.subject")
    assert facts["commit.subject"] == "caf\udce9"


def test_breaking_change_in_the_body_counts(make_event: Any, gather: Any) -> None:
    event = make_event("commit-msg", draft=b"feat: x\n\nBREAKING CHANGE: y\n")
    assert gather(event, "commit.is_breaking") == {"commit.is_breaking": True}


def test_a_merge_is_known_while_it_is_made(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("base")
    repo.git("checkout", "-qb", "side")
    repo.commit("side", s="1")
    repo.git("checkout", "-q", "main")
    repo.commit("main", m="1")
    assert gather(make_event("pre-merge-commit"), "commit.is_merge") == {"commit.is_merge": True}
    repo.git("merge", "--no-commit", "--no-ff", "-q", "side")
    assert gather(make_event("commit-msg"), "commit.is_merge") == {"commit.is_merge": True}
    repo.git("commit", "-qm", "Merge it\n\nReviewed-by: B")
    event = make_event("post-commit")
    event.view = CommitView(event.repo, "HEAD")
    facts = gather(event, *ALL)
    assert facts["commit.is_merge"] is True
    assert facts["commit.author"] == "Test Person <person@example.org>"
    assert facts["commit.message"] == "Merge it\n\nReviewed-by: B\n"
    assert facts["commit.trailers"] == ["Reviewed-by: B"]


def test_the_committer_is_known_before_and_after(repo: Any, make_event: Any, gather: Any, seen: Any) -> None:
    named = {"GIT_COMMITTER_NAME": "Bea", "GIT_COMMITTER_EMAIL": "bea@example.org"}
    env, _ = seen("pre-commit", "commit", "-q", "--allow-empty", "-m", "x", env=named)
    event = make_event("post-commit")
    event.view = CommitView(event.repo, "HEAD")
    for one in (make_event(env={**env, **named}), event):
        assert [*gather(one, *COMMITTER).values()] == ["Bea <bea@example.org>", "bea@example.org"]
    assert gather(make_event(), "commit.committer") == {"commit.committer": "Test Person <person@example.org>"}


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")
def test_a_signature_is_known_once_the_commit_is_made(repo: Any, make_event: Any, gather: Any, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    assert "after this hook" in gather(make_event("commit-msg"), "commit.signed")["missing"]["commit.signed"][0]
    sign = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}.pub", "commit", "-q", "--allow-empty", "-S")
    repo.git(*sign, "-m", "one")
    first = repo.head()
    repo.git("commit", "-q", "--allow-empty", "-m", "two\n\ngpgsig -----BEGIN SSH SIGNATURE-----")
    for name, signed in ((first, True), ("HEAD", False)):
        event = make_event("post-commit")
        event.view = CommitView(event.repo, name)
        assert gather(event, "commit.signed") == {"commit.signed": signed}
    two, one = commits.commits(make_event().repo)
    assert (one.is_signed, two.is_signed) == (True, False) and one.committer == "Test Person <person@example.org>"


def signed_by(repo: Any, folder: Path) -> tuple[str, str]:
    """The fingerprint and the line of the public key by which HEAD is signed from now on."""
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    told = subprocess.run(["ssh-keygen", "-lf", str(key)], check=True, capture_output=True, text=True).stdout
    ssh = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}.pub")
    repo.git(*ssh, "commit", "-q", "--allow-empty", "-S", "-m", "one")
    return told.split()[1], Path(f"{key}.pub").read_text()


SIGNATURE = ("commit.signature.valid", "commit.signature.key", "commit.signature.by")


def of_head(make_event: Any, gather: Any) -> list[object]:
    event = make_event("post-commit")
    event.view = CommitView(event.repo, "HEAD")
    return [*gather(event, *SIGNATURE).values()]


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")
def test_a_signature_is_valid_by_the_keys_of_the_person_not_of_the_repository(
    repo: Any, make_event: Any, gather: Any, tmp_path: Path
) -> None:
    repo.commit("none")
    assert of_head(make_event, gather) == [False, "", ""]
    missing = gather(make_event("commit-msg"), *SIGNATURE)["missing"]
    assert {why for why, _ in missing.values()} == {"a commit is signed when git makes it, after this hook"}
    key, public = signed_by(repo, tmp_path)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"bea@example.org {public}")
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\nexec ssh-keygen "$@"\n')
    program.chmod(0o755)
    for name in ("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program"):
        repo.git("config", name, str(program))
    repo.git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    repo.git("config", "log.showSignature", "true")  # git would print its words before the verdict
    assert of_head(make_event, gather) == [False, key, ""]  # it fits, and nobody trusts its key
    repo.git("config", "--global", "gpg.ssh.allowedSignersFile", str(allowed))
    assert of_head(make_event, gather) == [True, key, "bea@example.org"]
    assert not (tmp_path / "ran").exists()
    changed = repo.git("cat-file", "commit", "HEAD").replace("\none", "\ntwo")
    repo.git("reset", "-q", "--soft", repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=changed.encode()))
    assert of_head(make_event, gather) == [False, "", ""]  # it does not fit


@pytest.mark.skipif(not shutil.which("gpg"), reason="GnuPG is not installed")
def test_an_openpgp_signature_is_valid_by_a_key_that_gpg_trusts(
    repo: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as home:  # gpg's socket needs a short path
        monkeypatch.setenv("GNUPGHOME", home)
        name = "Bea <bea@example.org>"
        made = ("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "0")
        subprocess.run(made, check=True, capture_output=True)
        repo.git("-c", "user.signingkey=bea@example.org", "commit", "-q", "--allow-empty", "-S", "-m", "one")
        valid, key, who = of_head(make_event, gather)
        assert (valid, len(str(key)), who) == (True, 40, name)
        subprocess.run(["gpgconf", "--kill", "all"], check=False)
    assert of_head(make_event, gather) == [False, "", ""]  # gpg does not have the key


def test_a_commit_without_a_message(repo: Any, make_event: Any, gather: Any) -> None:
    repo.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    event = make_event("post-commit")
    event.view = CommitView(event.repo, "HEAD")
    facts = gather(event, "commit.message", "commit.subject", "commit.is_merge")
    assert facts == {"commit.message": "", "commit.subject": "", "commit.is_merge": False}


def test_outside_a_repository_there_is_no_commit(make_event: Any, gather: Any) -> None:
    facts = gather(make_event(repo=None, view=None), "commit.author")
    assert facts["missing"]["commit.author"][0] == "there is no repository"
