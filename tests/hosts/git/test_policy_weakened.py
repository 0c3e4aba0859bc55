"""Pack `core` about a change of the policy, through the installed hooks (authority §2.6)."""

from __future__ import annotations

import pytest

from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
extends: [core]
limits: {max_files: 10, ours: 'ACME_(?:live|test)_[0-9a-f]{24}|SHOP-[A-Z]{12}'}
rules:
  our-keys: {at: pre-commit, each: l in diff.added, block: "matches(l.text, limits.ours)"}
"""
AGENT = {"CLAUDECODE": "1"}


@pytest.fixture
def adopted(gated: Gated) -> Gated:
    """A repository that has committed its policy."""
    (gated.root / ".git" / "info" / "exclude").unlink()
    gated.policy(POLICY)
    gated.add()
    assert gated.say("commit", "-q", "-m", "adopt ahp") == (0, "")
    return gated


@pytest.mark.slow
def test_a_person_is_asked_to_look_again_and_goes_on(adopted: Gated) -> None:
    adopted.policy(POLICY.replace("10", "20"))
    code, said = adopted.say("commit", "-q", "-a", "-m", "more files")
    assert code == 0
    assert "ahp: commit warned by policy-weakened" in said
    assert "in force for others once it is on 'main'" in said
    assert "limits.max_files: 10 became 20" in said


@pytest.mark.slow
def test_an_agent_is_refused_and_not_told_how_to_get_round(adopted: Gated) -> None:
    adopted.policy(POLICY.replace("10", "20"))
    code, said = adopted.say("commit", "-q", "-a", "-m", "more files", env=AGENT)
    assert code == 1
    assert said.startswith("ahp blocked: policy-needs-a-person") and "no-verify" not in said
    assert "Or, if your user wants it, they run in a terminal: ahp respond " in said
    adopted.git("reset", "-q")
    adopted.write("a.txt")
    adopted.add("a.txt")
    assert adopted.say("commit", "-q", "-m", "a", env=AGENT)[0] == 0


@pytest.mark.parametrize(
    "new",
    [
        POLICY.replace("10", "5"),
        "# the team's policy\n" + POLICY,
        POLICY.replace("{12}'", "{12}|DESK-[0-9]{8}'"),
        POLICY.replace("our-keys", "keys-of-ours"),
    ],
)
@pytest.mark.slow
def test_a_policy_that_is_as_strict_is_not_mentioned(adopted: Gated, new: str) -> None:
    adopted.policy(new)
    assert adopted.say("commit", "-q", "-a", "-m", "stricter", env=AGENT) == (0, "")


@pytest.mark.slow
def test_fewer_kinds_of_keys_are_weaker(adopted: Gated) -> None:
    adopted.policy(POLICY.replace("|SHOP-[A-Z]{12}'", "'"))
    code, said = adopted.say("commit", "-q", "-a", "-m", "fewer", env=AGENT)
    assert code == 1 and "our-keys" in said and "cannot be compared" not in said


def test_an_agent_cannot_commit_a_waiver(adopted: Gated) -> None:
    adopted.write(
        ".ahp/waivers.yaml", "- {rule: no-secrets, subject: '*', reason: r, approver: ann, expires: 2026-01-01}\n"
    )
    adopted.add()
    code, said = adopted.say("commit", "-q", "-m", "excuse", env=AGENT)
    assert code == 1 and "waiver of 'no-secrets'" in said
