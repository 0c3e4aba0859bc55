"""What `ahp policy lint` says of `.ahp/approvers`."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from ahp.policy import approvers

NOW = 1_800_000_000.0  # January 2027


def key(kind: str) -> str:
    parts = [kind.encode(), b"k" * 32, *([b"ssh:"] if kind.startswith("sk-") else [])]
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return f"{kind} {base64.b64encode(body).decode()}"


HARD, SOFT = key("sk-ssh-ed25519@openssh.com"), key("ssh-ed25519")


def said(text: str, software_keys: bool = False) -> list[str]:
    return [str(one) for one in approvers.advise(text.encode("utf-8", "surrogateescape"), software_keys, NOW)]


pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")


def test_a_good_file_needs_no_advice() -> None:
    assert said(f'# who may\n\nann@x.org {HARD} ann\r\n"a b",bob@x.org valid-before="20280101Z" {HARD}\n') == []
    assert said(f'ann@x.org namespaces="git,file",valid-after="202601010000" {SOFT}', software_keys=True) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("broken line", "this line approves for nobody: "),
        (f"a b c {HARD}", "this line approves for nobody: "),
        (HARD, "this line approves for nobody: "),
        (f'"ann {HARD}', "invalid line"),
        (f"ann nooption {HARD}", "unknown key option"),
        (f"ann valid-before {HARD}", "unknown key option"),
        (f'ann valid-before="soon" {HARD}', 'invalid "valid-before" time'),
        ("ann ssh-ed25519 ???", "invalid key"),
        ("ann ssh-ed25519 AAAA", "invalid key"),
        (f"ann ssh-rsa {SOFT.split()[1]}", "invalid key"),
        (f"*@x.org {HARD}", "'*@x.org' is a pattern: reports would tell it in place of the person who approved"),
        (f"ann,!eve {HARD}", "'!eve' is a pattern"),
        (f"ann cert-authority {HARD}", "`cert-authority`: whoever this key certifies approves"),
        (
            f"ann {SOFT}",
            "a key of the type 'ssh-ed25519' does not count: the policy does not say `software_keys: true`",
        ),
        (f'ann namespaces="file" {HARD}', "its namespaces are without `git`"),
        (f'ann valid-before="20260101" {HARD}', "the key is not valid any more"),
        (f"\x1b[2J\u202e* {HARD}", "is a pattern"),
    ],
)
def test_what_is_broken_wide_or_idle_is_told_at_its_line(line: str, what: str) -> None:
    (told,) = said(f"# a comment\n{line}\n")
    assert told.startswith(".ahp/approvers:2:1: ") and what in told
    assert told.isprintable()


def test_ssh_keygen_passes_over_the_lines_that_are_called_broken_and_no_others(tmp_path: Path) -> None:
    run = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "k")]
    subprocess.run(run, check=True)
    (tmp_path / "m").write_text("m\n")
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", tmp_path / "k", "-n", "git", tmp_path / "m"], check=True)
    mine = " ".join((tmp_path / "k.pub").read_text().split()[:2])
    lines = [
        f"ann {mine}",
        f'"a b" {mine}',
        f'ann namespaces="git",valid-after="20200101" {mine}',
        f"ann,bob {mine} words",
    ]
    lines += [f"ann x {mine}", f'"ann {mine}', "ann ssh-ed25519 AAAA", "ann", f'ann valid-before="2030" {mine}', mine]
    for line in lines:
        (tmp_path / "approvers").write_text(f"{line}\n")
        find = ["ssh-keygen", "-Y", "find-principals", "-f", tmp_path / "approvers", "-s", tmp_path / "m.sig"]
        reads = subprocess.run(find, capture_output=True).returncode == 0
        assert reads is not any("approves for nobody" in one for one in said(line, software_keys=True)), line
