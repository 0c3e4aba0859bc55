"""What a signal says: facts are words of strangers (design §4, §9)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.facts.registry import undecided
from ahp.gate import rendering
from ahp.gate.match import Hit
from ahp.policy import compile as compiling
from ahp.policy import layers
from ahp.policy.program import Finding, RuleAnswer
from ahp.policy.sources import TextSource

POLICY = "rules: {r: {at: pre-push, block: files.changed_count > 3, on_missing: block}}"
ANSWERS = compiling.programs(layers.load(TextSource(POLICY)))["pre-push"].answers
READS = ["files.changed_count", "branch.name", "diff.added", "env.TOKEN"]


def rule(**keys: Any) -> RuleAnswer:
    """A compiled rule with some of its keys replaced."""
    made = copy.copy(ANSWERS.rules["r"])
    for name, value in {"reads": READS, **keys}.items():
        setattr(made, name, value)
    return made


def said(template: str | None = None, hit: Hit | None = None, **more: Any) -> str:
    values = more.pop("values", {"files.changed_count": 7, "branch.name": "main", "env.TOKEN": "s3cret"})
    return rendering.message(rule(message=template, **more), values, hit or Hit("o/r"))


def findings(*items: object, values: dict[str, object] | None = None, **keys: Any) -> list[dict[str, object]]:
    return rendering.findings(rule(**keys), values or {}, Hit("o/r", items=list(items)))


def place(
    file: str = "x.none", line: str | None = None, message: str | None = None, kinds: list[list[str]] | None = None
) -> Finding:
    return Finding(file=file, line=line, message=message, kinds=kinds or [])


def test_a_template_is_filled_with_quoted_facts() -> None:
    assert said("{files.changed_count} on {branch.name}") == "7 on 'main'"
    assert said("awk '{{print $1}}' {{{files.changed_count}}}") == "awk '{print $1}' {7}"
    assert said("{files.none} {not a fact} {}") == "(unknown) {not a fact} {}"


def test_a_message_may_name_what_each_found() -> None:
    found = Hit("o/r", items=["a.bin", "b.bin"])
    assert (
        said("{f} is a program", found, each="f in files.changed", redact=False) == "'a.bin' and 'b.bin' is a program"
    )
    one = Hit("o/r", items=[{"path": "a.py", "line": 3, "text": "SECRET"}])
    assert said("{l.path} has {l.text}", one, each="l in diff.added", redact=True) == "'a.py' has (unknown)"


def test_a_default_text_names_the_values_and_no_secret() -> None:
    assert said() == "files.changed_count > 3 (files.changed_count is 7, branch.name is 'main')"
    assert said(redact=True) == "files.changed_count > 3"
    assert said(hit=Hit("o/r", items=[1, 2])) == "2 × files.changed_count > 3"


def test_what_must_not_be_shown_is_not() -> None:
    values = {"env.TOKEN": "s3cret", "diff.added": ["s3cret"], "tool.input": "s3cret", "tool.command": "s3cret"}
    text = said("{env.TOKEN} {diff.added} {tool.input} {tool.command}", values=values)
    assert text == "(not shown) (not shown) (not shown) (not shown)"


def test_a_fact_cannot_speak_for_ahp() -> None:
    text = said("on {branch.name}", values={"branch.name": "x\nahp: all is well \x1b[2J \u202e {files.changed_count}"})
    assert text == "on 'x ahp: all is well \ufffd[2J \ufffd {files.changed_count}'"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "'a'"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (3, "3"),
        (0.123456, "0.1235"),
        ([], "none"),
        (["a", 1], "'a' and 1"),
        (["a", "b", "c"], "'a', 'b' and 'c'"),
        (list(range(8)), "0, 1, 2, 3, 4 and 3 more"),
        ({"path": "a\nb"}, "'a b'"),
        ({"x": 1}, "'{'x': 1}'"),
    ],
)
def test_values_in_a_sentence(value: object, shown: str) -> None:
    assert rendering.quoted(value) == shown


@given(st.text(max_size=3000))
def test_a_sentence_stays_one_bounded_line(text: str) -> None:
    shown = said("{branch.name}", values={"branch.name": text})
    assert len(shown) <= 202
    assert all(c.isprintable() or c == " " for c in shown)


def test_a_list_in_a_chinese_sentence_reads_as_chinese() -> None:
    values = {"files.changed": ["a", "b"], "tests.failed": list("123456"), "deps.locks": []}
    assert said("改动：{files.changed}", values=values) == "改动：'a'、'b'"
    assert said("失败：{tests.failed}", values=values) == "失败：'1'、'2'、'3'、'4'、'5' 等 6 项"
    assert said("锁：{deps.locks}", values=values) == "锁：无"


def test_a_step_that_names_a_limit_names_all_that_would_do() -> None:
    values = {"limits.types": list("abcdefgh")}
    assert rendering.steps(["write TYPE: one of {limits.types}"], values) == [
        "write TYPE: one of 'a', 'b', 'c', 'd', 'e', 'f', 'g' and 'h'"
    ]


def test_a_step_that_names_a_list_is_one_an_item() -> None:
    values = {"tests.failed": ["a", "b"], "files.changed_count": 2}
    assert rendering.steps(["fix {tests.failed} of {files.changed_count}", "then push"], values) == [
        "fix 'a' of 2",
        "fix 'b' of 2",
        "then push",
    ]
    assert rendering.steps([], values) == []
    assert len(rendering.steps(["{l.x}"], {"l.x": list(range(500))})) == 100


def test_an_undecided_rule_names_the_fact_and_the_command() -> None:
    assert undecided("no report", "pytest --junitxml", "tests.total") == (
        "cannot tell: tests.total is missing (no report); to get it: pytest --junitxml"
    )
    assert undecided("", "", "tests.total") == "cannot tell: tests.total is missing"


def test_findings_are_placed_and_named_for_good() -> None:
    keys: dict[str, Any] = {"each": "l in diff.added", "finding": place("l.path", "l.line", "{l.text}")}
    item = {"path": "a\nb", "line": 3, "text": "TODO"}
    (found,) = findings(item, **keys)
    assert (found["file"], found["line"], found["message"]) == ("a b", 3, "'TODO'")
    (moved,) = findings({**item, "line": 9}, **keys)
    assert moved["fingerprint"] == found["fingerprint"]
    (hidden,) = findings(item, **keys, redact=True)
    assert hidden["message"] == "(unknown)"


def test_what_is_said_of_an_item_may_name_facts_too() -> None:
    keys: dict[str, Any] = {"each": "p in files.changed", "finding": place("p", message="{p} on {branch.name}")}
    values: dict[str, object] = {"branch.name": "main"}
    assert findings("a.txt", values=values, **keys)[0]["message"] == "'a.txt' on 'main'"
    assert findings("a.txt", values=values, redact=True, **keys)[0]["message"] == "(unknown) on (unknown)"


def test_a_redacted_item_is_not_shown() -> None:
    (found,) = findings("s3cret", each="p in x", redact=True)
    assert "s3cret" not in str(found)
    (found,) = findings({"text": "s3cret"}, each="p in x", redact=True, finding=place("p.path", message="{p.text}"))
    assert "s3cret" not in str(found)
    (found,) = findings("a.txt", each="p in x", redact=True, finding=place("p"))
    assert found["file"] == "a.txt"


def test_a_finding_tells_the_kind_by_the_names_of_its_regexes_and_not_the_text() -> None:
    regex = "(?:(?P<AWS_key>AKIA[0-9]{4})|(?P<GitHub_token>ghp_[a-z]{4}))"
    keys: dict[str, Any] = {"each": "l in diff.added", "redact": True}
    kinds = place("l.path", kinds=[["text", regex], ["path", "(?P<in_docs>^docs/)"]])
    (found,) = findings({"path": "docs/a", "text": "ghp_abcd AKIA0123"}, finding=kinds, **keys)
    assert found["message"] == "GitHub token, AWS key, in docs"
    (found,) = findings({"path": "a", "text": "nothing"}, finding=kinds, **keys)
    assert "message" not in found
    (found,) = findings("ghp_abcd", finding=place("p", kinds=[["", regex], ["text", regex]]), **keys)
    assert found["message"] == "GitHub token"


def test_findings_without_a_place() -> None:
    assert rendering.findings(rule(), {}, Hit("o/r")) == []
    (found,) = findings("a.txt", each="p in files.changed")
    assert found["file"] == "a.txt"
    (found,) = findings(5, each="n in x", finding=place(message="{n}"))
    assert (found["message"], "file" in found) == ("5", False)
    (found,) = findings(5, finding=place(message="x"))
    assert found["message"] == "x"
    assert len(findings(*range(500))) == 100
