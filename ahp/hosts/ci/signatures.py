"""Who signed a commit, by ahp's own reading: an approver's SSH key, at the judge's clock (authority §6).

git's configuration takes no part: it would say whose keys count, which program checks, and when a key was valid. The
format of the signature is OpenSSH's PROTOCOL.sshsig, that of the approvers ssh-keygen's ALLOWED SIGNERS; the checking
is ssh-keygen's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import shutil
import tempfile
import time

from ahp.protocol.text import one_line
from ahp.system import environ, process
from ahp.system.errors import AhpError

NAMESPACE = "git"
BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"
_HEADERS = (b"gpgsig", b"gpgsig-sha256")
_PRESENT = 0x01  # of a hardware key's flags: somebody touched it
_LONGEST = 64 * 1024
_TIMEOUT = 10.0


class NotApproved(AhpError):
    """No approver's signature: the text says why, as half a sentence."""


def split(commit: bytes) -> tuple[bytes, bytes]:
    """What was signed of a commit object, and the signature, b"" where it has none.

    As git does it (commit.c, parse_signed_commit): the signed text is all but the signatures' headers. Raises
    NotApproved for a commit of several signatures, of which another reader might take another.
    """
    head, blank, message = commit.partition(b"\n\n")
    kept: list[bytes] = []
    signatures: list[list[bytes]] = []
    within: list[bytes] | None = None
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        if line.startswith(b" "):
            (kept if within is None else within).append(line if within is None else line[1:])
        elif name in _HEADERS:
            within = [value]
            signatures.append(within)
        else:
            within = None
            kept.append(line)
    if len(signatures) > 1:
        raise NotApproved("it carries several signatures")
    return b"\n".join(kept) + blank + message, b"\n".join(signatures[0]) if signatures else b""


def approval(commit: bytes, approvers: bytes, now: float, software_keys: bool) -> str:
    """The approver among `approvers`, the text of `.ahp/approvers`, whose signature the commit object carries.

    `now` is the judge's clock, in seconds since the epoch; the commit's own dates are its author's to choose. Raises
    NotApproved, and AhpError where ssh-keygen cannot be run.
    """
    payload, armoured = split(commit)
    if not armoured:
        raise NotApproved("it is not signed")
    key = _key_type(armoured)
    if not key.startswith("sk-") and not software_keys:
        raise NotApproved(f"it is signed by a key of the type {one_line(key)}, and the policy asks for a hardware key")
    return principal(payload, armoured, approvers, now, NAMESPACE)


def fingerprint(key: bytes) -> str:
    """What ssh-keygen calls a public key in the wire format, `SHA256:…`."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def signer(armoured: bytes) -> str:
    """The fingerprint of the key that a signature says it is of. Raises ValueError."""
    return fingerprint(_opened(armoured).text())


def _opened(armoured: bytes) -> Reader:
    """A signature from its public key on. Raises ValueError."""
    body = armoured[len(BEGIN) :].partition(_END)[0]
    blob = Reader(base64.b64decode(b"".join(body.split()), validate=True))
    if blob.take(len(_MAGIC)) != _MAGIC or blob.number() != 1:
        raise ValueError("not the magic and version of PROTOCOL.sshsig")
    return blob


def _key_type(armoured: bytes) -> str:
    """The type of the signing key. Raises NotApproved for what is no SSH signature over a git object, and for a
    hardware key that nobody touched.
    """
    if not armoured.startswith(BEGIN) or len(armoured) > _LONGEST:
        raise NotApproved("its signature is not one by an SSH key")
    try:
        blob = _opened(armoured)
        key = Reader(blob.text()).text().decode("ascii")
        namespace = blob.text()
        blob.text()  # reserved
        blob.text()  # the hash's name
        signature = Reader(blob.text())
        made_by = signature.text().decode("ascii")
        signature.text()
        present = not key.startswith("sk-") or bool(signature.take(1)[0] & _PRESENT)
    except (ValueError, binascii.Error, UnicodeDecodeError):
        raise NotApproved("its signature cannot be read") from None
    if namespace != NAMESPACE.encode():
        raise NotApproved("its signature was made for something else than git")
    if made_by.startswith("sk-") != key.startswith("sk-"):
        raise NotApproved("its signature is of another kind than its key")
    if not present:
        raise NotApproved("its hardware key signed without being touched")
    return key


def program() -> str:
    """The path of ssh-keygen. Raises AhpError."""
    found = process.find("ssh-keygen", environ.current())
    if found is None:
        raise AhpError("signatures are made and checked by ssh-keygen, which is not on PATH: install OpenSSH's client")
    return found


def principal(
    payload: bytes, armoured: bytes, approvers: bytes, now: float, namespace: str, named: str = ".ahp/approvers names"
) -> str:
    """Who of `approvers` signed the payload, for `namespace`, with a key that is valid `now`. Raises NotApproved, which
    says who has `named` the keys, and AhpError where ssh-keygen cannot be run.
    """
    env = {**environ.scrubbed(environ.current()), "TZ": "UTC", "LC_ALL": "C"}  # the time is read in the zone of TZ
    keygen = program()
    folder = tempfile.mkdtemp(prefix="ahp-")
    try:
        signers, signature = os.path.join(folder, "approvers"), os.path.join(folder, "signature")
        for path, data in ((signers, approvers), (signature, armoured + b"\n")):
            with open(path, "xb") as file:
                file.write(data)
        at = f"-Overify-time={time.strftime('%Y%m%d%H%M%S', time.gmtime(now))}"
        shared = ["-f", signers, "-s", signature, at]
        asked = process.capture(
            [keygen, "-Y", "find-principals", *shared], timeout=_TIMEOUT, env=env, stdin=payload, limit=_LONGEST
        )
        # One line a principal; a name with a blank is quoted in the file, never here.
        for name in asked.out.decode("utf-8", "replace").splitlines() if asked.code == 0 else ():
            told = process.capture(
                [keygen, "-Y", "verify", *shared, "-n", namespace, "-I", name],
                timeout=_TIMEOUT,
                env=env,
                stdin=payload,
                limit=_LONGEST,
            )
            if told.code == 0:
                return one_line(name)
    finally:
        shutil.rmtree(folder)
    raise NotApproved(f"its signature is by no key that {named} and that is valid now")


class Reader:
    """The fields of a binary text in the SSH wire format (RFC 4251 §5). Raises ValueError past the end."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, length: int) -> bytes:
        part = self.data[self.at : self.at + length]
        if len(part) != length:
            raise ValueError("cut")
        self.at += length
        return part

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def text(self) -> bytes:
        return self.take(self.number())
