"""Statements of real judgements, read by securesystemslib alone and by ssh-keygen alone, and by nothing of ahp."""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_public_key

from ahp.cli import main
from ahp.hosts import asking
from ahp.hosts.ci import judging, statements
from ahp.policy.judges import judges_of
from ahp.protocol.event import Actor
from ahp.system.version import __version__
from tests.conftest import Repo
from tests.hosts.ci.test_receiving import hook, push

dsse = pytest.importorskip("securesystemslib.dsse", reason="the extra `attest` is not installed")
from securesystemslib.exceptions import VerificationError  # noqa: E402
from securesystemslib.signer import SSlibKey  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")
POLICY = """
version: 1
authority: [release/*]
rules:
  no-todo:
    at: pre-commit
    each: l in diff.added
    block: contains(l.text, 'TODO')
    finding: {file: l.path, line: l.line}
    message: a TODO was added
  size: {at: pre-push, prompt: files.changed_count > 1, message: many}
"""
REFS = statements.REFS
REPOSITORY = "git+https://example.org/team/project"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name, kind in {"judge": "ed25519", "eve": "ed25519", "rsa": "rsa", "ecdsa": "ecdsa"}.items():
        argv = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(argv, check=True)
    (folder / "signers").write_text(f"judge@example.org {(folder / 'judge.pub').read_text('utf-8')}", "utf-8")
    return folder


@pytest.fixture
def work(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A clone as CI makes it; main has a policy."""
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE", "TF_BUILD", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    repo.commit("chore: start", **{".ahp/hooks.yaml": POLICY, "a.txt": "a\n"})
    repo.git("clone", "-q", f"file://{repo.root}", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path / "work")
    return Repo(tmp_path / "work")


def pushed(
    work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, ref: str = "refs/heads/main"
) -> None:
    """The environment of a step of GitHub Actions for a push of HEAD."""
    event = {"ref": ref, "before": before, "after": work.git("rev-parse", "HEAD")}
    told(tmp_path, monkeypatch, "push", event)


def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, event: dict[str, Any]) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({**event, "repository": {"default_branch": "main"}}), "utf-8")
    for variable, value in {"ACTIONS": "true", "EVENT_NAME": name, "EVENT_PATH": str(path)}.items():
        monkeypatch.setenv(f"GITHUB_{variable}", value)


def attested(tmp_path: Path, key: Path) -> bytes:
    """The envelope of the newest revision of what CI is told of here."""
    file = tmp_path / "statement.json"
    assert main.run(["ci", "--attest", str(file), "--key", str(key), "--repository", REPOSITORY]) == 0
    return file.read_bytes().splitlines()[-1]


def by_library(envelope: bytes, public: Path) -> bytes:
    """What securesystemslib alone takes for signed by the key."""
    known = SSlibKey.from_crypto(load_ssh_public_key(public.read_bytes()))
    found = dsse.Envelope.from_dict(json.loads(envelope))
    found.verify([known], 1)
    return bytes(found.payload)


RECIPE = """\
jq -rj .payload $1 | base64 -d > payload && jq -r '.signatures[-1].sig' $1 | base64 -d > signature
(printf 'DSSEv1 28 application/vnd.in-toto+json %d ' $(wc -c < payload); cat payload) |
  ssh-keygen -Y verify -f $2 -I judge@example.org -n ahp-statement -s signature
"""


def by_openssh(envelope: bytes, signers: Path, folder: Path) -> bytes:
    """What ssh-keygen alone takes for signed: by the steps of `RECIPE`, which needs no process for each."""
    found = json.loads(envelope)
    payload = base64.b64decode(found["payload"], validate=True)
    (folder / "signature").write_bytes(base64.b64decode(found["signatures"][-1]["sig"], validate=True))
    argv = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "judge@example.org", "-n", "ahp-statement"]
    pae = b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload)
    done = subprocess.run([*argv, "-s", str(folder / "signature")], input=pae, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.decode("utf-8", "replace"))
    return payload


def about(payload: bytes) -> tuple[str, list[str], str, str]:
    """What a consumer compares with what it expects (slsa.dev, "Verifying source")."""
    made = json.loads(payload)
    (subject,) = made["subject"]
    predicate = made["predicate"]
    refs = subject["annotations"]["sourceRefs"]
    return subject["digest"]["gitCommit"], refs, predicate["resourceUri"], predicate["verificationResult"]


def test_a_push_to_a_protected_branch_gets_a_statement_that_two_tools_verify(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = work.git("rev-parse", "HEAD")
    first = work.commit("feat: b", **{"b.txt": "b\n"})
    head = work.commit("feat: c", **{"c.txt": "c\n"})
    pushed(work, tmp_path, monkeypatch, start)
    envelope = attested(tmp_path, keys / "judge")
    payload = by_library(envelope, keys / "judge.pub")
    assert payload == by_openssh(envelope, keys / "signers", tmp_path)
    assert about(payload) == (head, ["refs/heads/main"], REPOSITORY, "PASSED")
    of_each = [json.loads(one) for one in (tmp_path / "statement.json").read_bytes().splitlines()]
    told = [json.loads(base64.b64decode(one["payload"])) for one in of_each]
    assert [one["subject"][0]["digest"]["gitCommit"] for one in told] == [first, head]
    assert [one["predicate"][statements.JUDGED]["commits"] for one in told] == [[first], [head]]
    made = json.loads(payload)
    predicate = made["predicate"]
    assert (made["_type"], made["predicateType"]) == (statements.STATEMENT, statements.PREDICATE)
    assert predicate["policy"]["uri"] == f"{REPOSITORY}@{start}"
    assert predicate["verifier"] == {"id": "urn:ahp:ci", "version": {"ahp": __version__}}
    assert predicate["verifiedLevels"] == ["SLSA_SOURCE_LEVEL_1", "ORG_SOURCE_AHP_POLICY"]
    judged = predicate[statements.JUDGED]
    assert (judged["target"], judged["tip"], judged["commits"]) == ("refs/heads/main", start, [head])
    assert judged["policies"][0]["commit"] == start
    assert judged["policies"][0]["digest"].removeprefix("sha256:") == predicate["policy"]["digest"]["ahpPolicy"]
    assert judged["found"] == [
        {"commit": None, "rule": "size", "level": "prompt", "total": 1, "exemption": None, "proof": None}
    ]
    assert judged["sources"] == judging.sources_digest()
    assert predicate["timeVerified"] == judged["time"]


BY_IN_TOTO = """
import base64, json, sys
from google.protobuf.json_format import MessageToDict, ParseDict
from in_toto.models._signer import load_public_key_from_file
from in_toto.models.metadata import Metadata
from in_toto_attestation.predicates.vsa.v1 import vsa_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
envelope = Metadata.load(sys.argv[1])
envelope.verify_signature(load_public_key_from_file(sys.argv[2]))
statement = Statement.copy_from_pb(ParseDict(json.loads(envelope.payload), statement_pb2.Statement()))
statement.validate()
told = MessageToDict(statement.pb)["predicate"]
levels = told.pop("verifiedLevels")  # a list to SLSA, and one text to this library
vsa = ParseDict(told, vsa_pb2.VerificationSummary(), ignore_unknown_fields=True)
print(statement.pb.predicate_type, vsa.verification_result, vsa.resource_uri, vsa.verifier.id, *levels)
"""


@pytest.mark.tools
def test_a_statement_verifies_by_the_libraries_of_in_toto_and_fits_their_schemas(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """in-toto's commands take links and layouts alone; its library takes any envelope."""
    command = shutil.which("in-toto-verify")
    if command is None:
        pytest.skip("in-toto is not in build/peers: `make test-tools` installs it")
    start = work.git("rev-parse", "HEAD")
    work.commit("feat: b", **{"b.txt": "b\n"})
    pushed(work, tmp_path, monkeypatch, start)
    statement, good = tmp_path / "one.json", attested(tmp_path, keys / "judge")
    for name in ("judge", "eve"):
        public = load_ssh_public_key((keys / f"{name}.pub").read_bytes())
        (tmp_path / name).write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

    def verified(envelope: bytes, key: str) -> list[str]:
        statement.write_bytes(envelope)
        argv = [str(Path(command).with_name("python")), "-c", BY_IN_TOTO, str(statement), str(tmp_path / key)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return done.stdout.split() if done.returncode == 0 else done.stderr.split()[-1:]

    payload = json.loads(good)["payload"].encode()
    forged = good.replace(payload, base64.b64encode(base64.b64decode(payload).replace(b"PASSED", b"passed")))
    refused = ["in_toto.exceptions.SignatureVerificationError"]
    assert verified(forged, "judge") == verified(good, "eve") == refused
    assert verified(good, "judge") == [statements.PREDICATE, "PASSED", REPOSITORY, "urn:ahp:ci", *statements._LEVELS]


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_the_recipe_of_the_documentation_works(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documentation = (Path(__file__).parents[3] / "docs/ci.md").read_text("utf-8")
    assert RECIPE.replace("$1", "statement.json").replace("$2", "signers").replace("judge@", "ci@") in documentation
    start = work.git("rev-parse", "HEAD")
    work.commit("feat: b", **{"b.txt": "b\n"})
    pushed(work, tmp_path, monkeypatch, start)
    attested(tmp_path, keys / "judge")
    argv = ["sh", "-c", RECIPE, "sh", "statement.json", str(keys / "signers")]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Good" in done.stdout, done.stderr


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_keys_of_other_kinds_sign_as_the_library_has_it(
    kind: str, work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = work.git("rev-parse", "HEAD")
    work.commit("feat: b", **{"b.txt": "b\n"})
    pushed(work, tmp_path, monkeypatch, start)
    signers = tmp_path / "signers"
    signers.write_text(f"judge@example.org {(keys / f'{kind}.pub').read_text('utf-8')}", "utf-8")
    envelope = attested(tmp_path, keys / kind)
    assert by_library(envelope, keys / f"{kind}.pub") == by_openssh(envelope, signers, tmp_path)


@pytest.fixture
def agent(keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An agent that has the keys, of which only the public halves are files then."""
    place = str(tmp_path / "agent")
    with subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        monkeypatch.setenv("SSH_AUTH_SOCK", place)
        subprocess.run(["ssh-add", "-q", str(keys / "judge"), str(keys / "rsa")], check=True, capture_output=True)
        yield
        process.terminate()


@pytest.mark.usefixtures("agent")
def test_an_agent_signs(work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = work.git("rev-parse", "HEAD")
    work.commit("feat: b", **{"b.txt": "b\n"})
    pushed(work, tmp_path, monkeypatch, start)
    for name in ("judge", "rsa", "eve"):
        shutil.copy(keys / f"{name}.pub", tmp_path)
    envelope = attested(tmp_path, tmp_path / "judge.pub")
    assert by_library(envelope, keys / "judge.pub") == by_openssh(envelope, keys / "signers", tmp_path)
    only = json.loads(attested(tmp_path, tmp_path / "rsa.pub"))["signatures"]
    assert [one["keyid"][:7] for one in only] == ["SHA256:"]
    unknown = ["ci", "--attest", str(tmp_path / "none"), "--key", str(tmp_path / "eve.pub"), "--repository", REPOSITORY]
    assert main.run(unknown) == 2 and not (tmp_path / "none").exists()


def test_a_push_that_options_tell_of_is_signed(work: Repo, keys: Path, tmp_path: Path) -> None:
    start = work.git("rev-parse", "HEAD")
    head = work.commit("feat: b", **{"b.txt": "b\n"})
    work.git("update-ref", "refs/remotes/origin/main", "HEAD")
    signed = ["--attest", str(tmp_path / "all"), "--key", str(keys / "judge"), "--repository", REPOSITORY]
    assert main.run(["ci", "--to", head, "--target", "main", *signed]) == 2
    assert main.run(["ci", "--to", head, "--target", "main", "--before", start, *signed]) == 0
    (envelope,) = (tmp_path / "all").read_bytes().splitlines()
    assert about(by_library(envelope, keys / "judge.pub"))[0] == head


def test_a_proposal_and_a_topic_branch_sign_nothing(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = work.git("rev-parse", "HEAD")
    work.git("checkout", "-qb", "topic")
    head = work.commit("feat: b", **{"b.txt": "b\n"})
    request = {"pull_request": {"head": {"sha": head, "ref": "topic"}, "base": {"ref": "main"}}}
    for name, event in {
        "pull_request": request,
        "push": {"ref": "refs/heads/topic", "before": start, "after": head},
    }.items():
        told(tmp_path, monkeypatch, name, event)
        assert main.run(["ci", "--attest", "--key", str(keys / "judge")]) == 0
        assert "no statement is signed" in capsys.readouterr().err
    assert work.git("for-each-ref", "refs/ahp") == ""
    for part in (["--only", "policy"], ["--from", start], ["--target", "main"], []):
        key = ["--key", str(keys / "judge")] if part else []
        assert main.run(["ci", "--attest", "--format", "text", *key, *part]) == 2


def test_what_is_merged_although_it_is_broken_is_stated_so_and_statements_follow_each_other(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = work.git("rev-parse", "HEAD")
    bad = work.commit("feat: bad", **{"b.txt": "TODO\n"})
    head = work.commit("feat: hidden", **{"b.txt": "done\n"})
    pushed(work, tmp_path, monkeypatch, start)
    ref = REFS + head
    assert main.run(["ci", "--attest", "--key", str(keys / "judge")]) == 0
    first = work.git("rev-parse", ref)
    assert main.run(["ci", "--attest", "--key", str(keys / "judge")]) == 0
    assert work.git("rev-parse", f"{ref}^") == first
    payload = by_openssh(work.git("show", f"{ref}:statement.json").encode(), keys / "signers", tmp_path)
    url = work.git("config", "remote.origin.url")
    assert about(payload) == (head, ["refs/heads/main"], f"git+{url}", "FAILED")
    predicate = json.loads(payload)["predicate"]
    assert predicate["verifiedLevels"] == ["FAILED"]
    assert predicate[statements.JUDGED]["found"] == []
    of_bad = by_openssh(work.git("show", f"{REFS}{bad}:statement.json").encode(), keys / "signers", tmp_path)
    (found,) = json.loads(of_bad)["predicate"][statements.JUDGED]["found"]
    assert (found["commit"], found["rule"], found["level"]) == (bad, "no-todo", "block")


@pytest.mark.wings
def test_a_waived_rule_is_claimed_and_the_audit_tells_of_it(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    event = asking.event("pre-commit", "cli", Actor("human"), asking.around(str(work.root)))
    rule = judges_of(event)[0].answers(event).rules["no-todo"]
    soon = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 7 * 86400))
    waiver = (
        f"- {{rule: no-todo, subject: '*', reason: old, approver: ann, expires: {soon}, digest: '{rule.digest}'}}\n"
    )
    start = work.commit("chore: waive", **{".ahp/waivers.yaml": waiver})
    bad = work.commit("feat: bad", **{"b.txt": "TODO\n"})
    pushed(work, tmp_path, monkeypatch, start)
    predicate = json.loads(by_library(attested(tmp_path, keys / "judge"), keys / "judge.pub"))["predicate"]
    (found,) = predicate[statements.JUDGED]["found"]
    assert (found["commit"], found["exemption"], found["proof"]) == (bad, found["exemption"], "claimed")
    assert found["exemption"].startswith("waived: no-todo")
    assert predicate["verificationResult"] == "PASSED"
    assert main.run(["ci", "--attest", "--key", str(keys / "judge"), "--repository", REPOSITORY]) == 0
    capsys.readouterr()

    def audited(*more: str) -> str:
        assert main.run(["report", "--audit", *more]) == 0
        return capsys.readouterr().out

    said = " ".join(audited("--keys", str(keys / "signers")).split())
    assert f"with the move of {bad[:12]} to refs/heads/main" in said and "1 judged as signed statements say" in said
    assert f"of commit {start[:12]}, signed with the key judge@example.org" in said
    assert "waived: no-todo, by ann: old (claimed)" in said
    newest = json.loads(audited("--keys", str(keys / "signers"), "--format", "json"))["commits"][0]
    assert (newest["commit"], newest["judged_here"], newest["judgements"][0]["where"]) == (bad, False, "ci")
    (tmp_path / "others").write_text(f"eve {(keys / 'eve.pub').read_text('utf-8')}", "utf-8")
    for nobody in ([], ["--keys", str(tmp_path / "others")]):
        assert "stated" not in audited(*nobody) and "0 judged here, 3 not; 0 exemptions" in audited(*nobody)
    assert main.run(["report", "--html", "x", "--keys", "y"]) == 2


def test_names_of_strangers_are_inert_in_json_and_statement(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Repo(tmp_path / "repo").git("config", "receive.denyCurrentBranch", "ignore")
    start = work.commit("chore: names", **{".ahp/hooks.yaml": POLICY.replace("release/*", "rel/*")})
    work.git("checkout", "-qb", "rel/\u202egnp\u200b")
    work.git("push", "-q", "origin", "HEAD")
    name = "b\x1b[2J\n::error::x\u202e.txt"
    head = work.commit("feat: \x1b[31mred\u202e\n\n::set-output name=x::y", **{name: "TODO\n"})
    work.git("push", "-q", "origin", "HEAD")
    work.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    ref = "refs/heads/rel/\u202egnp\u200b"
    work.git("push", "-q", "origin", f"{start}:refs/heads/main")
    work.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    pushed(work, tmp_path, monkeypatch, start, ref)
    capsys.readouterr()
    file = tmp_path / "s\x1b[2J\n.json"
    argv = ["ci", "--format", "json", "--attest", str(file), "--key", str(keys / "judge"), "--repository", REPOSITORY]
    assert main.run(argv) == 0
    said = capsys.readouterr()
    for text in (said.out, said.err, file.read_text("utf-8")):
        assert not {"\x1b", "\u202e", "\u200b"} & set(text) and "\n::" not in text
    judged = json.loads(said.out)["judged"]
    assert (judged["target"], judged["head"], judged["commits"], judged["moves"]) == (ref, head, [head], True)
    assert about(by_library(file.read_bytes(), keys / "judge.pub"))[1] == [ref]


@pytest.mark.slow
def test_no_forged_cut_or_replayed_statement_is_taken_for_another(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 attacks, each held by both tools; taken is only what says, to the byte, what was signed of that commit."""
    dice = random.Random(36)
    start = work.git("rev-parse", "HEAD")
    head = work.commit("feat: b", **{"b.txt": "b\n"})
    pushed(work, tmp_path, monkeypatch, start)
    good = attested(tmp_path, keys / "judge")
    other = work.commit("feat: c", **{"c.txt": "c\n"})
    pushed(work, tmp_path, monkeypatch, head)
    next_one = attested(tmp_path, keys / "judge")
    by_eve = attested(tmp_path, keys / "eve")
    expected = (head, ["refs/heads/main"], REPOSITORY, "PASSED")
    signed = base64.b64decode(json.loads(good)["payload"])
    assert about(signed) == expected

    def attack() -> bytes:
        made, kind = json.loads(good), dice.randrange(7)
        if kind == 0:  # a bit of the file
            data, at = bytearray(good), dice.randrange(len(good))
            data[at] ^= 1 << dice.randrange(8)
            return bytes(data)
        if kind == 1:  # cut
            return good[: dice.randrange(len(good))]
        if kind == 2:  # the words of another commit, ref, repository or result, under the signatures of this one
            old, new = dice.choice([(head, other), ("main", "next"), ("example.org", "evil.org"), ("PASSED", "FAILED")])
            made["payload"] = base64.b64encode(signed.replace(old.encode(), new.encode())).decode()
        elif kind == 3:  # signatures of another statement, or of somebody else
            made["signatures"] = json.loads(dice.choice([next_one, by_eve]))["signatures"]
        elif kind == 4:  # replayed: the whole of another one
            return dice.choice([next_one, by_eve])
        elif kind == 5:  # another type of payload, or none to sign
            made["payloadType"] = dice.choice(["application/json", "", PAYLOAD + " "])
            made["payload"] = base64.b64encode(signed + b" " * dice.randrange(2)).decode()
            made["signatures"] = made["signatures"][: dice.randrange(2)]
        else:  # a byte of what is signed
            data, at = bytearray(signed), dice.randrange(len(signed))
            data[at] = (data[at] + dice.randrange(1, 256)) % 256
            made["payload"] = base64.b64encode(bytes(data)).decode()
        return json.dumps(made).encode()

    def taken(verify: Any, envelope: bytes) -> bool:
        try:
            payload = verify(envelope)
            return about(payload) == expected
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, VerificationError):
            return False

    def library(envelope: bytes) -> bytes:
        return by_library(envelope, keys / "judge.pub")

    def openssh(envelope: bytes) -> bytes:
        return by_openssh(envelope, keys / "signers", tmp_path)

    assert taken(library, good) and taken(openssh, good)
    forged = 0
    for _ in range(500):
        envelope = attack()
        for verify in (library, openssh):
            if taken(verify, envelope):
                assert verify(envelope) == signed  # what is round the signed bytes says nothing
        forged += not (taken(library, envelope) or taken(openssh, envelope))
    assert forged > 300


PAYLOAD = statements.PAYLOAD


@pytest.fixture
def server(work: Repo, keys: Path, tmp_path: Path) -> Repo:
    """A server that signs, which the clone pushes to."""
    folder = tmp_path / "server.git"
    work.git("clone", "-q", "--bare", str(work.root), str(folder))
    bare = Repo(folder)
    work.git("remote", "set-url", "origin", f"file://{folder}")
    work.git("fetch", "-q", "origin")
    bare.git("config", "ahp.attestKey", str(keys / "judge"))
    bare.git("config", "ahp.repository", REPOSITORY)
    hook(bare)
    return bare


@pytest.mark.slow
def test_a_server_signs_what_its_protected_branches_get(work: Repo, server: Repo, keys: Path, tmp_path: Path) -> None:
    start = work.git("rev-parse", "HEAD")
    assert push(work, "HEAD:refs/heads/release/1")[0] == 0  # there is nothing before it that could judge
    head = work.commit("feat: b", **{"b.txt": "b\n"})
    code, said = push(work, "HEAD:main", "HEAD:refs/heads/topic", "HEAD:release/1")
    assert code == 0, said
    (ref,) = server.git("for-each-ref", "--format=%(refname)", "refs/ahp").split("\n")
    assert ref == f"refs/ahp/statements/{head}"
    made = [server.git("show", f"{one}:statement.json").encode() for one in (f"{ref}^", ref)]
    told = [about(by_openssh(one, keys / "signers", tmp_path)) for one in made]
    refs = [["refs/heads/main"], ["refs/heads/release/1"]]
    assert sorted(told) == [(head, names, REPOSITORY, "PASSED") for names in refs]
    predicate = json.loads(by_library(made[0], keys / "judge.pub"))["predicate"]
    assert predicate["verifier"]["id"] == "urn:ahp:pre-receive"
    assert predicate[statements.JUDGED]["policies"][0]["commit"] == start
    work.git("fetch", "-q", "origin", "refs/ahp/statements/*:refs/ahp/statements/*")
    work.git("commit", "-q", "--allow-empty", "-m", "feat: more")
    code, said = push(work, "--force", f"HEAD:{ref}")
    assert code == 1 and "takes none" in said


@pytest.mark.slow
def test_the_first_push_to_a_server_without_a_policy_gets_no_statement(work: Repo, server: Repo) -> None:
    """Nothing there could judge it; what comes after it is judged by the policy that it brought, and signed."""
    for ref in server.git("for-each-ref", "--format=%(refname)").split():
        server.git("update-ref", "-d", ref)
    work.git("update-ref", "-d", "HEAD")
    clean = POLICY.replace("contains(l.text, 'TODO')", "l.path == 'b.txt' and contains(l.text, 'TODO')")
    work.commit("chore: start", **{".ahp/hooks.yaml": clean})
    code, said = push(work, "HEAD:main")
    assert code == 0, said
    assert server.git("for-each-ref", "refs/ahp") == ""
    head = work.commit("feat: b", **{"b.txt": "b\n"})
    code, said = push(work, "HEAD:main")
    assert code == 0, said
    assert server.git("for-each-ref", "--format=%(refname)", "refs/ahp") == f"refs/ahp/statements/{head}"


@pytest.mark.slow
def test_a_refused_push_gets_no_statement_and_one_that_cannot_be_signed_is_refused(work: Repo, server: Repo) -> None:
    start = work.git("rev-parse", "HEAD")
    work.commit("feat: bad", **{"b.txt": "TODO\n"})
    assert push(work, "HEAD:main")[0] == 1
    work.git("reset", "-q", "--hard", start)
    work.commit("feat: good", **{"b.txt": "b\n"})
    server.git("config", "ahp.attestKey", "/nowhere/key")
    code, said = push(work, "HEAD:main")
    assert code == 1 and "the key /nowhere/key is not there" in said
    server.git("config", "--unset", "ahp.repository")
    code, said = push(work, "HEAD:main")
    assert code == 1 and "git config ahp.repository" in said
    assert server.git("rev-parse", "main") == start
    assert server.git("for-each-ref", "refs/ahp") == ""


def test_without_the_extra_it_says_what_to_install(
    work: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = work.git("rev-parse", "HEAD")
    work.commit("feat: b", **{"b.txt": "b\n"})
    pushed(work, tmp_path, monkeypatch, start)
    hidden = "import sys; sys.modules['securesystemslib'] = None; from ahp.cli.main import main; main()"
    argv = [sys.executable, "-c", hidden, "ci", "--attest", "--key", str(keys / "judge")]
    done = subprocess.run(argv, cwd=work.root, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "securesystemslib; fix: " in done.stderr and "attest" in done.stderr
