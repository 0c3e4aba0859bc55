"""Commits signed with real SSH keys, held against the approvers of a policy."""

from __future__ import annotations

import base64
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from ahp.hosts.ci import signatures
from ahp.hosts.ci.signatures import NotApproved, approval
from ahp.system.errors import AhpError
from tests.conftest import Repo

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")
DAY = 86_400.0


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the key pairs `ann` and `eve`."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ann", "eve"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True
        )
    return folder


def public(keys: Path, name: str) -> str:
    return " ".join((keys / f"{name}.pub").read_text("utf-8").split()[:2])


def signed(repo: Repo, key: Path, *more: str) -> bytes:
    """A commit object that the key signed."""
    (repo.root / "a").write_text(f"{time.time_ns()}\n", encoding="utf-8")
    repo.git("add", "a")
    repo.git(*more, "-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "commit", "-qS", "-m", "a: it")
    return raw(repo)


def raw(repo: Repo) -> bytes:
    return subprocess.run(["git", "cat-file", "commit", "HEAD"], cwd=repo.root, check=True, capture_output=True).stdout


def why(commit: bytes, approvers: str, now: float | None = None, software: bool = True) -> str:
    with pytest.raises(NotApproved) as caught:
        approval(commit, approvers.encode(), time.time() if now is None else now, software)
    return str(caught.value)


def test_an_approvers_signature_counts(repo: Repo, keys: Path) -> None:
    commit = signed(repo, keys / "ann")
    approvers = f"# who may\neve@example.org {public(keys, 'eve')}\nann@example.org {public(keys, 'ann')}\n"
    assert approval(commit, approvers.encode(), time.time(), True) == "ann@example.org"


def test_a_software_key_needs_the_policys_leave(repo: Repo, keys: Path) -> None:
    commit = signed(repo, keys / "ann")
    assert "the policy asks for a hardware key" in why(commit, f"ann {public(keys, 'ann')}\n", software=False)


def test_somebody_elses_key_does_not_count(repo: Repo, keys: Path) -> None:
    commit = signed(repo, keys / "eve")
    assert "by no key that .ahp/approvers names" in why(commit, f"ann {public(keys, 'ann')}\n")
    assert "by no key that .ahp/approvers names" in why(commit, "")
    assert "by no key that .ahp/approvers names" in why(commit, "nonsense\n")


def test_a_key_that_expired_signs_nothing_however_old_the_commit_claims_to_be(
    repo: Repo, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z")
    commit = signed(repo, keys / "ann")
    approvers = f'ann valid-before="20210101" {public(keys, "ann")}\n'
    assert "valid now" in why(commit, approvers)
    at_that_time = time.mktime((2020, 6, 1, 0, 0, 0, 0, 0, 0))
    assert approval(commit, approvers.encode(), at_that_time, True) == "ann"
    assert "valid now" in why(commit, f'ann valid-after="21000101" {public(keys, "ann")}\n')


def test_the_clock_is_read_in_universal_time(repo: Repo, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    commit = signed(repo, keys / "ann")
    noon = 1_600_000_000.0
    stamp = time.strftime("%Y%m%d%H%MZ", time.gmtime(noon + 120))
    approvers = f'ann valid-before="{stamp}" {public(keys, "ann")}\n'.encode()
    assert approval(commit, approvers, noon, True) == "ann"
    with pytest.raises(NotApproved):
        approval(commit, approvers, noon + 240, True)


def test_a_key_for_files_approves_no_commit(repo: Repo, keys: Path) -> None:
    commit = signed(repo, keys / "ann")
    assert "by no key" in why(commit, f'ann namespaces="file" {public(keys, "ann")}\n')
    payload, _ = signatures.split(commit)
    made = subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", str(keys / "ann")],
        input=payload,
        capture_output=True,
        check=True,
    ).stdout
    assert "made for something else than git" in why(carrying(payload, made), f"ann {public(keys, 'ann')}\n")


def carrying(payload: bytes, *armoured: bytes) -> bytes:
    head, _, message = payload.partition(b"\n\n")
    for one in armoured:
        head += b"\ngpgsig " + one.rstrip(b"\n").replace(b"\n", b"\n ")
    return head + b"\n\n" + message


def test_a_signature_of_one_commit_is_none_of_another(repo: Repo, keys: Path) -> None:
    first = signed(repo, keys / "ann")
    repo.commit("a: other", b="1\n")
    other = raw(repo)
    _, signature = signatures.split(first)
    assert signature
    forged = carrying(signatures.split(other)[0], signature)
    assert "by no key" in why(forged, f"ann {public(keys, 'ann')}\n")
    changed = first.replace(b"a: it", b"a: it too")
    assert "by no key" in why(changed, f"ann {public(keys, 'ann')}\n")


def test_a_signature_in_the_message_is_only_text(repo: Repo, keys: Path) -> None:
    commit = signed(repo, keys / "ann")
    payload, signature = signatures.split(commit)
    assert "not signed" in why(payload + b"\ngpgsig " + signature, f"ann {public(keys, 'ann')}\n")


def test_two_signatures_are_none(repo: Repo, keys: Path) -> None:
    payload, signature = signatures.split(signed(repo, keys / "ann"))
    approvers = f"ann {public(keys, 'ann')}\n"
    assert approval(carrying(payload, signature), approvers.encode(), time.time(), True) == "ann"
    assert "several signatures" in why(carrying(payload, signature, signature), approvers)


def test_gits_configuration_does_not_say_who_signed(repo: Repo, keys: Path, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ann {public(keys, 'eve')}\n", encoding="utf-8")
    repo.git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    repo.git("config", "gpg.ssh.program", "/bin/true")
    assert "by no key" in why(
        signed(repo, keys / "eve", "-c", "gpg.ssh.program=ssh-keygen"), f"ann {public(keys, 'ann')}\n"
    )


@pytest.mark.parametrize(
    ("armoured", "told"),
    [
        (b"-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----", "not one by an SSH key"),
        (b"-----BEGIN SSH SIGNATURE-----\n!!\n-----END SSH SIGNATURE-----", "cannot be read"),
        (b"-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----", "cannot be read"),
        (b"-----BEGIN SSH SIGNATURE-----\n" + b"A" * 70_000, "not one by an SSH key"),
    ],
)
def test_what_is_no_ssh_signature(armoured: bytes, told: str) -> None:
    assert told in why(carrying(b"tree 1\n\nmessage\n", armoured), "")


def text(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def blob(key: bytes, made_by: bytes, tail: bytes) -> bytes:
    body = b"SSHSIG\0\0\0\1" + text(text(key)) + text(b"git") + text(b"") + text(b"sha512")
    body += text(text(made_by) + text(b"s" * 64) + tail)
    return b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(body) + b"\n-----END SSH SIGNATURE-----"


HARDWARE = b"sk-ssh-ed25519@openssh.com"


@pytest.mark.parametrize(
    ("armoured", "told"),
    [
        (blob(HARDWARE, HARDWARE, b"\0" + b"\0\0\0\7"), "signed without being touched"),
        (blob(HARDWARE, b"ssh-ed25519", b"\1" + b"\0\0\0\7"), "of another kind than its key"),
        (blob(HARDWARE, HARDWARE, b""), "cannot be read"),
        (blob(HARDWARE, HARDWARE, b"\1" + b"\0\0\0\7"), "by no key"),
    ],
)
def test_a_hardware_key_has_to_be_touched(armoured: bytes, told: str) -> None:
    assert told in why(carrying(b"tree 1\n\nmessage\n", armoured), "", software=False)


def test_without_ssh_keygen_nothing_is_approved(repo: Repo, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = signed(repo, keys / "ann")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(AhpError, match="ssh-keygen, which is not on PATH"):
        approval(commit, b"", time.time(), True)
