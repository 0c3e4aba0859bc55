"""What a judgement says, signed, for anybody who has the judge's public key: the evidence of a server and of CI.

An in-toto Statement v1 with SLSA's verification summary of a source revision (slsa.dev, "Source requirements"), in an
envelope of DSSE with two signatures by one SSH key over the same bytes (PAE): a raw one, which securesystemslib
verifies, and one of OpenSSH (PROTOCOL.sshsig), which `ssh-keygen -Y verify` does. A key in hardware makes this alone.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

from ahp.hosts.ci import signatures
from ahp.hosts.ci.report import Judged
from ahp.protocol.text import one_line, without_credentials
from ahp.system import environ, files, installed, process
from ahp.system.errors import AhpError
from ahp.system.git import Repository

REFS = "refs/ahp/statements/"
FILE = "statement.json"
NAMESPACE = "ahp-statement"
PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
VERIFIER = "urn:ahp:"
"""What `verifier.id` begins with: `ci` or `pre-receive` follows."""
PREDICATE = "https://slsa.dev/verification_summary/v1"
JUDGED = "urn:ahp:judged:v1"
"""The field of the predicate that holds what `ahp ci --format json` calls `judged`."""
# What git and signatures alone make true. History and continuity are what the platform keeps.
_LEVELS = ["SLSA_SOURCE_LEVEL_1", "ORG_SOURCE_AHP_POLICY"]
_SIGN, _SIGNED = 13, 14  # SSH_AGENTC_SIGN_REQUEST, SSH_AGENT_SIGN_RESPONSE (draft-ietf-sshm-ssh-agent)
_TIMEOUT = 60.0  # s
_AT_ONCE = 1000  # names on one command line


def address_of(repo: Repository) -> str:
    """What a clone's origin is called in a statement, as SPDX has it: `git+https://…`. Raises AhpError."""
    url = without_credentials(repo.config("remote.origin.url") or "")
    if "://" not in url:
        raise AhpError("the address of this repository is not known as a URL; fix: --repository git+https://HOST/PATH")
    return f"git+{url}"


def of_each(repo: Repository, judged: Judged, repository: str, judge: str) -> dict[str, bytes]:
    """By revision, oldest first, the statement that `judge` ("ci" or "pre-receive") makes of it, in ASCII.

    The revisions are those that the move adds to the first-parent line of a ref of `repository`; each has what was
    found of the commits that it brought there, of the range, and the result of the whole move. Raises GitError.
    """
    known = [f"^{judged.tip}"] if judged.tip and repo.commit_id(judged.tip) else []
    listed = repo.run("rev-list", "--parents", judged.head, *known).decode().splitlines()
    parents = {commit: above for commit, *above in map(str.split, listed)}
    line, at = [], judged.head
    while at in parents:
        line.append(at)
        at = parents[at][0] if parents[at] else ""
    brought_by: dict[object, str] = {}
    for revision in reversed(line):
        left = [revision]
        while left:
            if (one := left.pop()) in parents and one not in brought_by:
                brought_by[one] = revision
                left += parents[one]
    told: dict[str, tuple[list[str], list[dict[str, object]]]]
    told = {one: ([], []) for one in reversed(line or [judged.head])}  # a branch that is moved back has no new one
    for commit in judged.commits:
        told[brought_by.get(commit, judged.head)][0].append(commit)
    for finding in judged.found:
        for one in told if finding["commit"] is None else [brought_by.get(finding["commit"], judged.head)]:
            told[one][1].append(finding)
    parts = {one: judged._replace(commits=commits, found=found) for one, (commits, found) in told.items()}
    return {one: _statement(one, part, repository, judge) for one, part in parts.items()}


def _statement(commit: str, judged: Judged, repository: str, judge: str) -> bytes:
    by = judged.policies[0]
    digest = {"gitCommit": by["commit"], "ahpPolicy": by["digest"].removeprefix("sha256:")}
    predicate = {
        "verifier": {"id": VERIFIER + judge, "version": {"ahp": judged.version}},
        "timeVerified": judged.time,
        "resourceUri": repository,
        "policy": {"uri": f"{repository}@{by['commit']}", "digest": digest},
        "verificationResult": "PASSED" if judged.passed else "FAILED",
        "verifiedLevels": _LEVELS if judged.passed else ["FAILED"],
        "slsaVersion": "1.2",
        JUDGED: judged._asdict(),
    }
    subject = [{"digest": {"gitCommit": commit}, "annotations": {"sourceRefs": [judged.target]}}]
    return _encoded({"_type": STATEMENT, "subject": subject, "predicateType": PREDICATE, "predicate": predicate})


def sign(payloads: Mapping[str, bytes], key: str) -> dict[str, bytes]:
    """The envelope of each payload, signed by the SSH key in the file `key`: a private one, or a public one of an
    agent's. Raises AhpError.
    """
    raw, signed = _raw(key), {}
    with tempfile.TemporaryDirectory(prefix="ahp-") as folder:
        names = [os.path.join(folder, str(number)) for number in range(len(payloads))]
        for name, payload in zip(names, payloads.values(), strict=True):
            with open(name, "xb") as file:
                file.write(_pae(payload))
        for first in range(0, len(names), _AT_ONCE):
            argv = [signatures.program(), "-Y", "sign", "-q", "-n", NAMESPACE, "-f", key]
            told = process.capture([*argv, *names[first : first + _AT_ONCE]], timeout=_TIMEOUT)
            if told.code:
                why = one_line(told.err.decode("utf-8", "replace").strip(), 300)
                raise AhpError(f"the key {one_line(key)} does not sign: {why}")
        for name, (commit, payload) in zip(names, payloads.items(), strict=True):
            armoured = files.read(f"{name}.sig") or b""
            made = [*raw(_pae(payload)), (signatures.signer(armoured), armoured)]
            listed = [{"keyid": by, "sig": base64.b64encode(one).decode()} for by, one in made]
            told_of = {"payload": base64.b64encode(payload).decode(), "payloadType": PAYLOAD, "signatures": listed}
            signed[commit] = _encoded(told_of)
    return signed


def keep(repo: Repository, envelopes: Mapping[str, bytes]) -> None:
    """Puts each envelope after those that `REFS` has of its commit already. Raises GitError, also where one of these
    refs would not go forward.
    """
    refs = [REFS + commit for commit in envelopes]
    asked = "".join(f"{ref}^0\n" for ref in refs).encode()
    there = repo.run("cat-file", "--batch-check", stdin=asked).splitlines()
    stream = []
    for ref, known, envelope in zip(refs, there, envelopes.values(), strict=True):
        after = b"" if known.endswith(b" missing") else f"from {ref}^0\n".encode()
        head = f"commit {ref}\ncommitter ahp <ahp@localhost> now\ndata 10\nstatement\n\n".encode()
        stream += [head, after, b"M 100644 inline %b\ndata %d\n%b\n" % (FILE.encode(), len(envelope), envelope)]
    repo.run("fast-import", "--quiet", "--date-format=now", stdin=b"".join(stream))


class Keys:
    """The keys that somebody trusts to judge: a line each, `NAME TYPE KEY`, as in ssh-keygen's ALLOWED SIGNERS."""

    def __init__(self, text: bytes) -> None:
        """Raises AhpError for a line that is something else."""
        try:
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives.serialization import load_ssh_public_key
            from securesystemslib.signer import SSlibKey
        except ImportError:
            raise _without_extra() from None
        self._text = text
        self._known: dict[str, tuple[str, SSlibKey | None]] = {}
        for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                name, kind, key = line.split()[:3]
                self._known[signatures.fingerprint(base64.b64decode(key))] = name, None
                if not kind.startswith("sk-"):
                    public = SSlibKey.from_crypto(load_ssh_public_key(f"{kind} {key}".encode()))
                    self._known[public.keyid] = name, public
            except (ValueError, UnsupportedAlgorithm):
                raise AhpError(f"line {number} of the keys is not NAME TYPE KEY: {one_line(line)}") from None
        if not self._known:
            raise AhpError("there is no key among the keys, so that nothing could be trusted")

    def opened(self, envelope: bytes) -> tuple[str, Any]:
        """The name of the key that signed an envelope, and the statement in it. Raises ValueError where none did."""
        from securesystemslib.exceptions import UnverifiedSignatureError
        from securesystemslib.signer import Signature

        try:
            made = json.loads(envelope)
            payload = base64.b64decode(made["payload"], validate=True)
            for one in made["signatures"] if made["payloadType"] == PAYLOAD else ():
                name, public = self._known.get(one["keyid"], ("", None))
                signature = base64.b64decode(one["sig"], validate=True)
                try:
                    if public is not None:
                        public.verify_signature(Signature(public.keyid, signature.hex()), _pae(payload))
                    elif name:  # a key in hardware, or of an agent: some 10 ms
                        asked = (_pae(payload), signature, self._text, time.time())
                        name = signatures.principal(*asked, NAMESPACE)
                    if name:
                        return name, json.loads(payload)
                except (UnverifiedSignatureError, signatures.NotApproved):
                    continue
        except (LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"no envelope of a statement: {error}") from None
        raise ValueError("no trusted key signed it")


def _without_extra() -> AhpError:
    return AhpError(f"statements are signed with securesystemslib; fix: {installed.command('attest')}")


def _encoded(value: object) -> bytes:
    # ASCII: a name with what moves a cursor or turns the order is inert wherever it is shown.
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _pae(payload: bytes) -> bytes:
    """What is signed (DSSE v1, "Signature Definition")."""
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)


def _raw(key: str) -> Callable[[bytes], list[tuple[str, bytes]]]:
    """Makes the signature that securesystemslib verifies, with the id that it gives the key; none by a key in hardware,
    nor by an agent's that is not Ed25519. Raises AhpError, also when it signs.
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key
        from securesystemslib.exceptions import UnverifiedSignatureError
        from securesystemslib.signer import CryptoSigner, Signature, SSlibKey
    except ImportError:
        raise _without_extra() from None
    data = files.read(key)
    if data is None:
        raise AhpError(f"the key {one_line(key)} is not there")

    def of_agent(pae: bytes) -> list[tuple[str, bytes]]:
        try:
            made = _by_agent(base64.b64decode(data.split()[1]), pae)
            known.verify_signature(Signature(known.keyid, made.hex()), pae)
        except (ValueError, UnverifiedSignatureError) as error:
            raise AhpError(f"the key {one_line(key)} makes no raw signature: {one_line(error, 300)}") from None
        return [(known.keyid, made)]

    try:
        if data.startswith(b"-----BEGIN"):
            signer = CryptoSigner(load_ssh_private_key(data, None))
            return lambda pae: [((made := signer.sign(pae)).keyid, bytes.fromhex(made.signature))]
        if isinstance(public := load_ssh_public_key(data), Ed25519PublicKey):
            known = SSlibKey.from_crypto(public)
            return of_agent
    except UnsupportedAlgorithm:
        pass
    except (ValueError, TypeError) as error:
        raise AhpError(f"the key {one_line(key)} makes no raw signature: {one_line(error, 300)}") from None
    return lambda pae: []


def _by_agent(key: bytes, data: bytes) -> bytes:
    """The signature by the agent at SSH_AUTH_SOCK. Raises AhpError, and ValueError for an answer that is none."""
    request = bytes([_SIGN]) + b"".join(len(one).to_bytes(4, "big") + one for one in (key, data)) + bytes(4)
    try:
        with socket.socket(socket.AF_UNIX) as agent, agent.makefile("rb") as answers:
            agent.settimeout(_TIMEOUT)
            agent.connect(environ.current().get("SSH_AUTH_SOCK", ""))
            agent.sendall(len(request).to_bytes(4, "big") + request)
            answer = signatures.Reader(answers.read(int.from_bytes(answers.read(4), "big")))
    except OSError as error:
        raise AhpError(f"the agent at SSH_AUTH_SOCK does not answer: {error.strerror or error}") from None
    if answer.take(1)[0] != _SIGNED:
        raise ValueError("the agent refused")
    signature = signatures.Reader(answer.text())
    signature.text()  # its kind, which the key says
    return signature.text()
