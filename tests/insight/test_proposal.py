"""Edits of a policy file: comments and order stay, nothing else changes, and git applies what is printed."""

from __future__ import annotations

import pytest

from ahp.insight.advice import Advice
from ahp.insight.proposal import Proposal, propose
from ahp.policy import layers
from ahp.policy.sources import FileSource, TextSource
from ahp.system.errors import AhpError
from tests.conftest import Repo

POLICY = """\
version: 1   # ours
extends: [core]
environment: {production: branch.name == 'main'}
# what follows was agreed on
rules:
  size: {at: pre-commit, prompt: files.changed_count > 5}  # five
  "quoted": {at: pre-commit, 'block': files.changed_count > 50}
  lines:
    # the level
    block: files.lines_changed > 500
    at: [pre-commit, pre-push]
  both: {at: pre-commit, prompt: files.changed_count > 7, shadow: false}
hooks:
  pre-push:
    oracles:
      - name: checks
        rules:
          - id: one        # the first
            condition: files.changed_count > 9
            intensity: block
          - {condition: files.changed_count > 8, intensity: {production: block, default: prompt}}
"""


def proposed(text: str, *changes: tuple[str, str]) -> Proposal:
    advice = [Advice(rule, "noisy", "figures", "do", change) for rule, change in changes]
    return propose(TextSource(text, ".ahp/hooks.yaml"), advice)


@pytest.mark.parametrize(
    ("rule", "change", "old", "new"),
    [
        ("size", "raise", "prompt: files.changed_count > 5}", "block: files.changed_count > 5}"),
        ("size", "shadow", "count > 5}  # five", "count > 5, shadow: true}  # five"),
        ("size", "disable", "count > 5}  # five", "count > 5, enabled: false}  # five"),
        ("quoted", "lower", "'block': files", "'prompt': files"),
        ("lines", "lower", "    block: files.lines", "    prompt: files.lines"),
        ("lines", "shadow", "    # the level\n    block", "    # the level\n    shadow: true\n    block"),
        ("both", "shadow", "shadow: false", "shadow: true"),
        ("checks/one", "lower", "intensity: block\n", "intensity: prompt\n"),
        ("checks/one", "shadow", "- id: one ", "- shadow: true\n            id: one "),
        ("checks/2", "shadow", "default: prompt}}", "default: prompt}, shadow: true}"),
    ],
)
def test_only_the_text_that_must_changes(rule: str, change: str, old: str, new: str) -> None:
    proposal = proposed(POLICY, (rule, change))
    assert proposal.left == []
    assert POLICY.count(old) == 1
    assert proposal.text == POLICY.replace(old, new)


@pytest.mark.parametrize(
    ("rule", "change", "why"),
    [
        ("checks/three", "lower", "no rule of this name"),
        ("checks/2", "lower", "depends on the environment; change it by hand"),
        ("checks/one", "disable", "other rules, too; remove it by hand"),
        ("one", "lower", "no rule of this name; it has checks/one"),
        ("size/size", "lower", "no rule of this name; it has size"),
        ("nothing", "raise", "no rule of this name"),
        ("agents/x", "raise", "no rule of this name"),
    ],
)
def test_what_no_edit_of_this_file_can_do_is_said(rule: str, change: str, why: str) -> None:
    proposal = proposed(POLICY, (rule, change))
    assert (proposal.text, proposal.diff()) == (POLICY, "")
    assert why in proposal.left[0][1]


@pytest.mark.parametrize(
    ("rules", "change", "proposes"),
    [
        (
            "rules:  # ours\n  # asked for\n  a: {}",
            "shadow",
            "rules:  # ours\n  change-size: {shadow: true}\n  # asked",
        ),
        ("", "raise", "extends: [core]\nrules:\n  change-size: {level: block}\n"),
        ("rules:\n  change-size: {level: block}  # yes\n  a: {}", "lower", "  change-size: {level: prompt}  # yes\n"),
        ("rules:\n  change-size: {fix: [no]}\n  a: {}", "disable", "  change-size: {fix: [no], enabled: false}\n"),
        ("rules: {a: {}}", "shadow", ""),
    ],
)
def test_a_rule_of_a_pack_is_changed_by_what_this_file_says_of_it(rules: str, change: str, proposes: str) -> None:
    text = f"version: 1\nextends: [core]\n{rules}".replace("{}", "{at: pre-commit, prompt: files.changed_count > 3}")
    proposal = proposed(text, ("change-size", change))
    assert (proposes in proposal.text) if proposes else ("not written line by line" in proposal.left[0][1])


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("size", "prompt: files.changed_count > 5}", 'prompt: "(files.changed_count > 5) and {}"}}'),
        ("lines", "block: files.lines_changed > 500", 'block: "(files.lines_changed > 500) and {}"'),
        ("checks/one", "condition: files.changed_count > 9", 'condition: "(files.changed_count > 9) and {}"'),
    ],
)
def test_a_rule_is_narrowed_to_changes_outside_of_folders(rule: str, old: str, new: str) -> None:
    outside = "any(not f.startswith('docs/') and not f.startswith('a b/') for f in files.changed)"
    advice = Advice(rule, "misplaced", "figures", "do", "narrow", ("docs/", "a b/"))
    proposal = propose(TextSource(POLICY, ".ahp/hooks.yaml"), [advice])
    assert proposal.left == [] and proposal.text == POLICY.replace(old, new.format(outside))
    (left,) = propose(TextSource(POLICY, ".ahp/hooks.yaml"), [advice._replace(folders=("it's/",))]).left
    assert "has a quote" in left[1]


def test_a_rule_of_a_pack_is_narrowed_by_what_this_file_says_of_it() -> None:
    text = "version: 1\nextends: [core]\nrules:\n  a: {at: pre-commit, prompt: files.changed_count > 3}\n"
    advice = Advice("change-size", "misplaced", "figures", "do", "narrow", ("docs/",))
    assert '  change-size: {prompt: "(' in propose(TextSource(text), [advice]).text


LONG = """\
version: 1
hooks:
  pre-commit:
    - name: checks
      rules:
        - {id: one, condition: files.changed_count > 9, intensity: prompt}
  pre-push:
    oracles:
      - name: checks
        rules:
          - {id: one, condition: files.changed_count > 9, intensity: prompt}
"""


def test_a_rule_of_the_longer_form_is_changed_at_each_of_its_triggers() -> None:
    assert proposed(LONG, ("checks/one", "raise")).text == LONG.replace("intensity: prompt", "intensity: block")
    off = proposed(LONG, ("checks/one", "disable"))
    assert off.left == [] and off.text == LONG.replace("- name:", "- enabled: false\n      name:", 1).replace(
        "      - name:", "      - enabled: false\n        name:"
    )


def test_a_rule_that_shares_its_text_with_another_is_left_alone() -> None:
    text = "version: 1\nrules:\n  a: &x {at: pre-commit, block: files.changed_count > 3}\n  b: *x\n"
    proposal = proposed(text, ("a", "lower"))
    assert proposal.text == text and "another rule" in proposal.left[0][1]


def test_advice_without_an_edit_is_passed_over() -> None:
    proposal = proposed(POLICY, ("size", ""))
    assert (proposal.diff(), proposal.left) == ("", [])


def test_git_applies_what_is_proposed(repo: Repo) -> None:
    text = POLICY[: POLICY.index("hooks:")].rstrip("\n")  # no newline at the end
    repo.commit("policy", **{".ahp/hooks.yaml": text})
    advice = [Advice(rule, "noisy", "", "", "shadow") for rule in ("size", "lines", "both")]
    proposal = propose(FileSource(str(repo.root)), advice)
    assert (repo.root / ".ahp/hooks.yaml").read_text() == text
    (repo.root / "p.diff").write_text(proposal.diff())
    repo.git("apply", "p.diff")
    assert (repo.root / ".ahp/hooks.yaml").read_text() == proposal.text
    shadows = [rule.key for rule in layers.load(FileSource(str(repo.root))).rules if rule.shadow]
    assert {"size", "lines", "both"} <= set(shadows)


def test_lines_and_places_are_those_of_git(repo: Repo) -> None:
    rules = '  size: {at: pre-commit, prompt: files.changed_count > 5, message: "a\u2029b"}\n'
    text = "\ufeffversion: 1\nrules:\n" + rules + "  # one\r  # two\n"
    path = repo.root / ".ahp/hooks.yaml"
    repo.commit("policy", **{".ahp/hooks.yaml": "x"})
    path.write_bytes(text.encode())
    proposal = propose(FileSource(str(repo.root)), [Advice("size", "effective", "", "", "raise")])
    assert proposal.left == []
    (repo.root / "p.diff").write_bytes(proposal.diff().encode())
    repo.git("apply", "p.diff")
    assert path.read_bytes() == text.replace("prompt:", "block:").encode()


def test_lines_end_as_the_others_of_the_file(repo: Repo) -> None:
    text = "version: 1\nrules:\n  size:\n    at: pre-commit\n    prompt: files.changed_count > 5\n".replace(
        "\n", "\r\n"
    )
    path = repo.root / ".ahp/hooks.yaml"
    repo.commit("policy", **{".ahp/hooks.yaml": "x"})
    path.write_bytes(text.encode())
    proposal = propose(FileSource(str(repo.root)), [Advice("size", "noisy", "", "", "shadow")])
    (repo.root / "p.diff").write_bytes(proposal.diff().encode())
    repo.git("apply", "p.diff")
    assert path.read_bytes() == text.replace("    at:", "    shadow: true\r\n    at:").encode()


def test_a_key_written_with_escapes_is_left() -> None:
    text = 'version: 1\nrules:\n  size: {at: pre-commit, "pro\\x6dpt": files.changed_count > 5}\n'
    assert "written in another way" in proposed(text, ("size", "raise")).left[0][1]


def test_without_a_policy_file_there_is_nothing_to_change(repo: Repo) -> None:
    with pytest.raises(AhpError, match=r"there is no \.ahp/hooks\.yaml"):
        propose(FileSource(str(repo.root)), [])
