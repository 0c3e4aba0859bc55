"""What the core pack says and does not say, judged with the production evaluator."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ahp.conditions.evaluate import build, build_each
from ahp.gate import rendering
from ahp.gate.match import Hit
from ahp.policy import compile as compiling
from ahp.policy import layers
from ahp.policy.program import Program
from ahp.policy.sources import TextSource


@cache
def programs() -> dict[str, Program]:
    return compiling.programs(layers.load(TextSource("extends: [core]")))


def hits(trigger: str, **facts: Any) -> list[str]:
    """The rules of the pack that match; facts by path with `__` for a dot, all others quiet."""
    quiet: dict[str, Any] = {
        "actor.kind": "human",
        "branch.is_default": False,
        "diff.added": [],
        "content.after_text": {},
        "generated.paths": [],
        "files.added": [],
        "files.binary": [],
        "files.changed_count": 1,
        "files.deleted": [],
        "files.changes": [],
        "files.lines_changed": 1,
        "ignored.paths": [],
        "policy.weakenings": [],
        "push.is_delete": False,
        "push.is_force": False,
        "push.is_new": False,
        "push.messages": [],
    }
    values = {**quiet, **{name.replace("__", "."): value for name, value in facts.items()}}
    program = programs()[trigger]
    slots = {path: index for index, path in enumerate(program.slots)}
    given = [values[path] for path in program.slots]
    found = []
    for rule in program.rules:
        if rule.items is not None:
            items, doubt = build_each(rule.items, rule.plan, rule.var, slots)(given)
            assert doubt is None
            found += [rule.key] if items else []
        elif build(rule.plan, slots)(given):
            found.append(rule.key)
    return found


def line(text: str) -> list[dict[str, Any]]:
    return [{"path": "a.py", "line": 3, "text": text}]


@pytest.mark.parametrize("trigger", ["pre-commit", "pre-push", "pre-tool-use", "pre-merge-commit"])
def test_an_ordinary_change_hears_nothing(trigger: str) -> None:
    assert hits(trigger, diff__added=line("x = 1"), files__changed_count=50, files__lines_changed=2000) == []


def test_the_default_branch_is_pushed_to_by_review_only() -> None:
    assert hits("pre-push", branch__is_default=True) == ["protect-main"]
    assert hits("pre-push", push__is_force=True) == []
    assert hits("pre-push", branch__is_default=True, push__is_force=True) == ["protect-main", "no-force-push"]
    assert hits("pre-push", branch__is_default=True, push__is_delete=True) == ["keep-main"]


@pytest.mark.parametrize("facts", [{"files__changed_count": 51}, {"files__lines_changed": 2001}])
def test_a_large_commit_is_asked_about(facts: dict[str, int]) -> None:
    assert hits("pre-commit", **facts) == ["change-size"]


SECRETS = [
    "AKIA" + "ABCDEFGHIJ234567",
    "key='ASIA" + "ABCDEFGHIJ234567'",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 14,
    "glpat-" + "a1B2c" * 4,
    "xoxb-" + "1234567890-abc",
    "https://hooks.slack.com/services/" + "T0ABC/B0DEF/" + "x1Y2" * 6,
    "sk_live_" + "a1B2" * 5,
    "AIza" + "a1B2c" * 7,
    "sk-ant-" + "api03-" + "a1B2" * 6,
    "sk-proj-" + "a1B2" * 6,
    "npm_" + "a1B2" * 9,
    "pypi-AgEIcHlwaS5vcmc" + "a1B2" * 6,
    "SG." + "a1B2c" * 4 + "." + "a1B2c" * 8,
    "sk_test_" + "a1B2" * 5,
    "sk-" + "a1B2c" * 4 + "T3BlbkFJ" + "a1B2c" * 4,
    "aws_secret_access_key = '" + "a1B2/c3D4+" * 4 + "'",
    "AccountKey=" + "a1B2/" * 17 + "a==",
    "123456789:AA" + "a1B2c3D4e5F" * 3,
    "glsa_" + "a1B2" * 8,
    "AGE-SECRET-KEY-1" + "A1B2" * 14,
]


@pytest.mark.parametrize("secret", SECRETS, ids=range(len(SECRETS)))
@pytest.mark.parametrize("trigger", ["pre-commit", "pre-tool-use"])
def test_well_known_tokens_are_found(trigger: str, secret: str) -> None:
    assert hits(trigger, diff__added=line(f"token = {secret}")) == ["no-secrets"]


def test_each_token_is_told_by_its_kind() -> None:
    answers = programs()["pre-commit"].answers
    assert answers is not None
    rule = answers.rules["no-secrets"]
    found = rendering.findings(rule, {}, Hit(rule.id, items=[item for secret in SECRETS for item in line(secret)]))
    assert [one.get("message") for one in found] == [
        *("AWS access key id", "AWS access key id", "GitHub token", "GitHub token", "GitLab token", "Slack token"),
        *("Slack webhook", "Stripe key", "Google API key", "Anthropic API key", "OpenAI API key"),
        *("token of a service", "PyPI token", "SendGrid API key", "Stripe key", "OpenAI API key"),
        *("AWS secret access key", "Azure key", "Telegram bot token", "token of a service", "age secret key"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "AKIA...",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxx",
        "sk-learn and sk-test",
        "-----BEGIN PUBLIC KEY-----",
        "xAKIA" + "ABCDEFGHIJ234567X",
    ],
)
def test_what_only_looks_like_a_token_is_not(text: str) -> None:
    assert hits("pre-commit", diff__added=line(text)) == []


@pytest.mark.parametrize("text", ["<<<<<<< HEAD", ">>>>>>> topic", "||||||| merged"])
def test_merge_markers_are_found(text: str) -> None:
    assert hits("pre-commit", diff__added=line(text)) == ["no-merge-markers"]
    assert hits("pre-merge-commit", diff__added=line(text)) == ["no-merge-markers"]
    assert hits("pre-commit", diff__added=line("=======")) == []


def test_large_and_binary_files_are_found() -> None:
    change = {"path": "a.bin", "old_path": None, "status": "added", "insertions": 0, "deletions": 0, "lines": None}
    assert hits("pre-commit", files__changes=[{**change, "bytes": 5_000_000}]) == []
    assert hits("pre-commit", files__changes=[{**change, "bytes": 5_000_001}]) == ["large-files"]
    assert hits("pre-commit", files__binary=["lib/a.so"]) == ["binary-files"]
    assert hits("pre-commit", files__binary=["lib/a.so"], files__deleted=["lib/a.so"]) == []
    assert hits("pre-commit", files__binary=["docs/a.png", "docs/P.PNG", "img/Proposal.JPG"]) == []
    assert hits("pre-commit", files__binary=["gradle/wrapper/gradle-wrapper.jar"]) == []


@pytest.mark.parametrize(
    ("path", "size", "asked"),
    [
        ("tests/data/a.zst", 100_000, False),
        ("playground/a.wasm", 900, False),
        ("tests/data/a.zst", 100_001, True),
        ("src/a.zst", 900, True),
    ],
)
def test_small_binary_files_that_tests_are_given_pass(path: str, size: int, asked: bool) -> None:
    change = {"path": path, "status": "added", "insertions": 0, "deletions": 0, "bytes": size}
    found = hits("pre-commit", files__binary=[path], files__changes=[change])
    assert found == (["binary-files"] if asked else [])


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        (
            {"path": "a.py", "status": "modified", "insertions": 5, "deletions": 5},
            False,
        ),  # something renamed everywhere
        ({"path": "a.py", "status": "modified", "insertions": 6, "deletions": 5}, True),
        ({"path": "b/a.py", "old_path": "a.py", "status": "renamed", "insertions": 0, "deletions": 0}, False),
        ({"path": "a.py", "status": "added", "insertions": 1, "deletions": 0}, True),
        ({"path": "vendor/a.go", "status": "added", "insertions": 90, "deletions": 0}, False),
    ],
)
def test_many_files_are_asked_about_where_they_could_be_commits_of_their_own(
    change: dict[str, Any], asked: bool
) -> None:
    found = hits("pre-commit", files__changed_count=51, files__changes=[{"bytes": 1, **change}] * 51)
    assert found == (["change-size"] if asked else [])


def test_what_tools_write_is_no_large_change() -> None:
    lock = {"path": "web/pnpm-lock.yaml", "status": "modified", "insertions": 1500, "deletions": 900, "bytes": 1}
    code = {**lock, "path": "a.py"}
    assert hits("pre-commit", files__lines_changed=2400, files__changes=[lock]) == []
    assert hits("pre-commit", files__lines_changed=4800, files__changes=[lock, code]) == ["change-size"]
    assert hits("pre-commit", files__lines_changed=2400, files__changes=[code], generated__paths=["a.py"]) == []
    built = {**lock, "path": "dist/axios.js"}
    assert hits("pre-commit", files__lines_changed=2400, files__changes=[built]) == []
    assert hits("pre-commit", files__lines_changed=2400, files__changes=[{**built, "status": "added"}]) == [
        "change-size"
    ]


def test_every_rule_says_how_to_mend_it() -> None:
    for program in programs().values():
        for answer in program.answers.rules.values():
            assert answer.resolution and answer.suggestions and answer.message


def test_a_private_key_among_thousands_of_heads_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each head looks at the three lines after it, and not at all that were added."""
    from ahp.conditions import logic

    asked: list[int] = []
    chunks = logic._chunks
    monkeypatch.setattr(logic, "_chunks", lambda items: asked.append(len(items)) or chunks(items))
    head = "-----BEGIN RSA PRIVATE KEY-----"
    lines = [{"path": "a", "line": n, "text": head} for n in range(1, 4001)]
    assert "no-private-keys" not in hits("pre-commit", diff__added=lines)
    assert len(asked) > 4000 and sum(asked) < 30 * len(lines)
    body = {"path": "a", "line": 4001, "text": "MIIEpAIBAAKCAQEAvRQyXbUGVgyp4m2LsZ7mWBAn"}
    assert "no-private-keys" in hits("pre-commit", diff__added=[*lines, body])
