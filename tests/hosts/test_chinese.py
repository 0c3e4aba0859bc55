"""Verdicts in Chinese: the catalog has every line that a person can read of one, and keeps the rest as it is."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ahp.facts import registry
from ahp.hosts import chinese, verdict_text
from ahp.protocol import signals
from ahp.protocol.event import Actor
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from tests.conftest import PROJECT
from tests.hosts.test_verdict_text import signal, verdict

PACKS = sorted(path for path in (PROJECT / "ahp/policy/packs").glob("*.yaml") if path.stem != "tickets-zh")
CATALOG = tomllib.loads((PROJECT / "ahp/hosts/zh.toml").read_text("utf-8"))
KEYS = [re.sub(r"\{[=#]?\}", "\0", key) for table in CATALOG.values() for key in table]
CHINESE = {"LC_ALL": "zh_CN.UTF-8"}
HUMAN, AGENT = Actor("human"), Actor("agent", "claude")
HAN = re.compile("[\u4e00-\u9fff]")
# Modules that make sentences of a verdict, and what of theirs no person reads there.
SPEAKING = (
    *("gate/actions", "gate/answer", "gate/candidate", "gate/escalation", "gate/fixing", "gate/of_commits"),
    *("gate/recording", "gate/skips", "gate/waivers", "gate/weighing", "journal/recovery", "journal/skips"),
    *("policy/succession", "policy/targets", "system/remainder", "hosts/git/pre_commit", "hosts/git/push_command"),
)
UNREAD = {
    "told of another ref of the same push": "why a rule is not in the verdict: JSON has that",
    "said before of the same": "the same",
    "the action is refused, so it is not changed": "the same",
    "its action changes nothing: all is as it would have it": "the same",
    "its fixer runs only where the commit is made": "the same",
    "git commit --amend, an older one: git rebase -i --rebase-merges ": "a command",
    " $(git commit-tree": "a command",
    "git remote set-branches ": "a command",
    " && git remote set-head ": "a command",
}


def told(line: str) -> str:
    return chinese.translated(line)


@pytest.mark.parametrize("table", CATALOG)
def test_every_template_keeps_its_places(table: str) -> None:
    for english, translation in CATALOG[table].items():
        assert re.sub(r"\{[=#]?\}", "", english).strip(), "it would match everything"
        assert len(re.findall(r"\{[=#]?\}", english)) == translation.count("{}"), english
        assert not re.search(r"\{[=#]\}", translation) and translation.isprintable() and english.isprintable(), english
        assert HAN.search(translation) or english in ("ahp: {=}", "{}: {=}"), english


def texts(node: object) -> Iterator[str]:
    """The messages and fixes of a pack."""
    if isinstance(node, list):
        for one in node:
            yield from texts(one)
    for key, value in node.items() if isinstance(node, dict) else ():
        if key in ("message", "fix", "resolution", "suggestions", "description"):
            yield from (one for one in ([value] if isinstance(value, str) else value) if isinstance(one, str))
        yield from texts(value) if not isinstance(value, str) else ()
        if key in ("suggestions", "fix"):
            yield from (one["description"] for one in value if isinstance(one, dict))


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.stem)
def test_every_message_and_fix_of_a_pack_is_in_the_catalog(path: Path) -> None:
    found = list(texts(yaml.safe_load(path.read_bytes())))
    assert found
    for template in found:
        number = 0

        def value(match: re.Match[str]) -> str:
            nonlocal number
            number += match.group() not in ("{{", "}}")
            return match.group()[0] if match.group() in ("{{", "}}") else f"'value {number}'"

        english = re.sub(r"\{\{|\}\}|\{[^{}]+\}", value, template)
        words = re.sub(r"'value \d+'", "", english)
        if not re.search("[a-z]{2}", words) or re.match(r"(ahp|monoco) issue start ", words):
            continue  # only values, or a command
        assert HAN.search(told(english)), english
        assert re.findall(r"'value \d+'", told(english)) == [f"'value {n + 1}'" for n in range(number)], english


def test_the_tickets_read_as_in_the_chinese_pack() -> None:
    english, own = (
        yaml.safe_load((PROJECT / f"ahp/policy/packs/{name}.yaml").read_bytes()) for name in ("tickets", "tickets-zh")
    )
    for trigger, group in own["hooks"].items():
        for oracle, said in zip(english["hooks"][trigger]["oracles"], group["oracles"], strict=True):
            by_id = {rule["id"]: rule for rule in oracle["rules"]}
            for rule in said["rules"]:
                one, two = (re.sub(r"\{[^{}]+\}", "'x'", each["message"]) for each in (by_id[rule["id"]], rule))
                assert told(one) == two


def literals(tree: ast.AST) -> Iterator[str]:
    """The pieces of text in a module that read like a sentence, without docstrings and what an error says."""
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Expr):
            passed.add(node.value)
        if isinstance(called, ast.Name) and called.id == "AhpError":
            passed.update(ast.walk(node))
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and node not in passed else None
        if isinstance(text, str) and " " in text and len(re.findall("[A-Za-z]{2,}", text)) > 2 and "[" not in text:
            yield text


@pytest.mark.parametrize("name", SPEAKING)
def test_every_sentence_of_the_gate_is_in_the_catalog(name: str) -> None:
    found = literals(ast.parse((PROJECT / f"ahp/{name}.py").read_bytes()))
    known = [text for text in found if text not in UNREAD]
    commands = re.compile(r" ?(git [a-z-]+|ahp \w+) ?(-\S+ )*$")
    lacking = [text for text in known if not any(commands.sub("", text).strip(" ;:,.().`'") in key for key in KEYS)]
    assert lacking == []


def reasons() -> Iterator[str]:
    """Why facts are missing, as the modules of `ahp.facts` and `ahp.system` say it, with X for each value."""
    for path in [*(PROJECT / "ahp/facts").glob("*.py"), *(PROJECT / "ahp/system").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Absent", "Unknown"):
                for given in node.args[:1]:
                    if isinstance(given, ast.Constant):
                        yield str(given.value)
                    if isinstance(given, ast.JoinedStr):
                        parts = [p.value if isinstance(p, ast.Constant) else "X" for p in given.values]
                        yield "".join(map(str, parts)).replace("X X the change", "X after the change")
    yield from (why for name in registry.NAMESPACES if (why := registry.namespace(name).past))


def test_every_reason_why_a_fact_is_missing_is_in_the_catalog() -> None:
    found = [text for text in reasons() if len(re.findall("[a-z]{2,}", text)) > 1]
    assert len(found) > 90
    assert [text for text in found if not HAN.search(told(text))] == []


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("intensity", ["block", "control", "prompt", "aid"])
def test_every_head_is_chinese(trigger: str, intensity: str) -> None:
    payload = {"message": "a private key", "modifications": []}
    for origin in ("committed", "pushed", "working"):
        one = verdict(signal(intensity, payload, origin=origin), trigger=trigger)
        one.working = "sha256:w"
        head, said = told(verdict_text.for_person(one, False)).split("\n")
        assert re.fullmatch(r"ahp: (Issue )?[^a-z]+，规则 oracle/rule(（[^a-z]+）)? ?\(12345678\)", head), head
        assert said == "  有私钥"


def test_a_whole_signal() -> None:
    steps = [f"name it in .gitignore: {n}" for n in range(4)] + ["name it in .gitignore"] * 3
    one = signal(
        "block",
        signals.blocking("a file is larger than 5 bytes (and 2 more commits)", steps, True),
        overridable=True,
        findings=[{"file": "a b.py", "line": 3, "message": "key of a service"}, {"commit": "abc", "message": "x"}],
        findings_total=12,
    )
    assert told(verdict_text.for_person(verdict(one), True)) == (
        "\x1b[31m✗\x1b[0m ahp: 提交被拒绝，规则 oracle/rule (12345678)\n  有文件超过 5 字节（另有 2 个提交）\n"
        "  a b.py:3: 某个服务的密钥\n  abc: x\n  另有 10 处\n"
        "  - name it in .gitignore: 0\n  - name it in .gitignore: 1\n  - name it in .gitignore: 2\n"
        "  - name it in .gitignore: 3\n  - 写进 .gitignore\n  - 另有 2 条：ahp explain 12345678\n"
        '  放行一次，并说明原因：ahp respond 12345678 proceed_with_risk --reason "…"'
    )


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        ("warning 1 of 2; then it is refused", "（第 1 次警告，共 2 次；之后拒绝）"),
        ("warning 2 of 2; the next one is refused", "（第 2 次警告，共 2 次；下一次拒绝）"),
        ("warning 1; the next one is changed", "（第 1 次警告；下一次改写）"),
        ("warning 1 of 2; acknowledged", "（第 1 次警告，共 2 次；已确认）"),
        ("warning 3", "（第 3 次警告）"),
        ("change 1 of 2; then it is refused", "（第 1 次改写，共 2 次；之后拒绝）"),
        ("refused after 1 warning", "（已警告 1 次，现在拒绝）"),
        ("refused after 3 warnings", "（已警告 3 次，现在拒绝）"),
        ("its modification was rejected", "（改写没有被接受）"),
    ],
)
def test_what_stands_around_a_text_is_looked_up_before_the_text(standing: str, expected: str) -> None:
    assert told(f"  our own words: 'x' ({standing})") == f"  our own words: 'x'{expected}"
    subject = "the subject does not begin with a known type: 'x (warning 1)'"
    assert told(f"  {subject} ({standing})") == f"  标题没有以已知的类型开头：'x (warning 1)'{expected}"
    assert told(f"  {subject}; this changes only the policy, so it may go on ({standing})").endswith(
        f"'x (warning 1)'；只改动了策略，因此放行{expected}"
    )


def test_a_missing_fact_is_told_with_its_reason_and_its_command() -> None:
    missing = registry.undecided("there is no JUnit XML report (a.xml)", "pytest --junitxml=a.xml", "tests.total")
    assert told(missing) == "无法判定：缺少 tests.total（没有 JUnit XML 报告（a.xml））；获取：pytest --junitxml=a.xml"
    assert told(registry.undecided("", "", "tests.total")) == "无法判定：缺少 tests.total"


def test_batches_fixers_and_notes() -> None:
    batches = {"target": "batch_size", "original": 3, "updated": 2, "batches": [["a", "b"], ["c"]], "reason": "r"}
    fixed = {"target": "index", "original": "1", "updated": "2", "files": ["a", "b"], "reason": "r"}
    one = verdict(signal("control", signals.controlling([batches], True)), notes=("unrecorded: no room",))
    assert told(verdict_text.for_person(one, False)).split("\n") == [
        *("ahp: 提交建议拆分，规则 oracle/rule (12345678)", "  r"),
        *("  2 批，每批最多 2 个文件，第一批：a, b, …", "ahp: 没有记录：no room"),
    ]
    one = verdict(signal("control", signals.controlling([fixed], True)))
    assert told(verdict_text.for_person(one, False)).endswith("\n  已修正并暂存：a, b")


def test_what_the_catalog_does_not_have_stays_as_it_is() -> None:
    for line in ("", "  ", "  fix the header", "  - ask ann", "  a:  b", "ahp", "  迁移脚本应当单独提交", "  merge it"):
        assert told(line) == line


@given(st.text(max_size=300), st.sampled_from(["", "; `a` changed b", "ahp: ", " (warning 1 of 2; ", ": ", "{}"]))
def test_a_line_of_a_stranger_brings_nothing_that_moves_a_cursor(text: str, more: str) -> None:
    line = one_line(text + more * 60, 1000)
    for said in (line, f"  - {line}", f"ahp: commit refused by {line}", f"{line} (warning 1)"):
        assert all(c.isprintable() for c in told(said)), said
        assert len(told(said)) <= 2 * len(said) + 40


def test_text_in_text_ends_somewhere() -> None:
    line = "a private key" + "; `a` changed b" * 60
    assert told(line).startswith("a private key; `a` changed b;") and told(line).endswith("；`a` 修改了 b")


@pytest.mark.parametrize(
    ("env", "actor", "is_chinese"),
    [
        (CHINESE, HUMAN, True),
        ({"LANG": "zh_TW.UTF-8"}, HUMAN, True),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "de_AT.UTF-8"}, HUMAN, True),
        ({"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, HUMAN, False),
        ({"LC_ALL": "", "LANG": "en_GB.UTF-8"}, HUMAN, False),
        ({}, HUMAN, False),
        (CHINESE, AGENT, False),
        (CHINESE, Actor("ci", "github"), False),
    ],
)
def test_only_a_person_with_a_chinese_locale_reads_chinese(env: dict[str, str], actor: Actor, is_chinese: bool) -> None:
    one = verdict(signal("block", signals.blocking("a private key", [], True)))
    assert bool(HAN.search(verdict_text.text(one, actor, env))) is is_chinese
    assert bool(HAN.search(verdict_text.translated("ahp: go on?", actor, env))) is is_chinese
