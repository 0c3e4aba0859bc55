"""Each format against its published schema, with texts from people who mean harm."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from ahp.hosts.ci import judging, outputs
from ahp.hosts.ci.change import change_of
from ahp.hosts.ci.outputs import FORMATS
from ahp.hosts.ci.report import Place, Report, Result, RuleText, report, result, rule_text
from ahp.policy.program import RuleAnswer
from ahp.protocol.signals import Signal, blocking
from ahp.system import git
from tests.conftest import Repo
from tests.examples import examples

SCHEMAS = Path(__file__).parents[2] / "data" / "schemas"
SARIF = jsonschema.Draft4Validator(json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text("utf-8")))
GITLAB = jsonschema.Draft7Validator(json.loads((SCHEMAS / "codeclimate.json").read_text("utf-8")))
JUNIT = xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))

HOSTILE = [
    "a\n::error file=x::owned",
    "::set-output name=x::y",
    "##[command]rm -rf /",
    "a ##vso[task.setvariable variable=x]y",
    "##teamcity[buildStatus status='SUCCESS']",
    "\x1b[2J\x1b]8;;http://evil.example\x07click\x1b]8;;\x07",
    "\x9b31mC1",
    "\u202egnp.exe",
    "]]></failure></testcase><testcase name='fake'/>",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1)) ![](http://evil.example/p.png) @everyone | `",
    "%0A::error::x",
    "\ud800 lone \x00 nul \ufffe",
    "--- \n+++ end",
    "https://user:secret@example.org/x",
    "a" * 5000,
]


def signal(message: str, findings: list[dict[str, object]]) -> Signal:
    header: dict[str, object] = {"id": "1" * 8, "intensity": "block"}
    context: dict[str, object] = {"findings": findings, "findings_total": len(findings) + 2}
    return Signal(header, context, blocking(message, [message], True))


def hostile(*texts: str) -> Report:
    made = []
    for number, text in enumerate(texts):
        found: list[dict[str, object]] = [
            {"file": text, "line": 3, "message": text, "fingerprint": "f", "commit": "c" * 40},
            {"file": text, "line": 4, "message": text, "fingerprint": "f", "commit": text},
        ]
        made.append(result(signal(text, found), f"rule-{number}", [text]))
        made.append(result(signal(text, []), f"rule-{number}", [text], excused=text))
    rules = [RuleText("rule-0", "block", texts[0], texts[0], texts[0], 7), RuleText("quiet", "prompt", "", "", "", 0)]
    return report(texts[0], 1, rules, made, list(texts))


def check(told: Report) -> dict[str, str]:
    """Every format's text, each valid by its schema."""
    texts = {name: write(told) for name, write in FORMATS.items()}
    assert SARIF.is_valid(json.loads(texts["sarif"])), next(SARIF.iter_errors(json.loads(texts["sarif"])))
    for entry in json.loads(texts["gitlab"]):
        GITLAB.validate(entry)
    JUNIT.validate(texts["junit"].partition("\n")[2])
    json.loads(texts["json"])
    return texts


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_only_text_in_every_format(text: str) -> None:
    told = hostile(text, "plain")
    texts = _only_text(told)
    commands = [line for line in texts["github"].splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == 4  # two places of either rule; what is excused is none
    suite = ET.fromstring(texts["junit"]).find("testsuite")  # what was just written here
    assert suite is not None
    assert [case.get("name") for case in suite.iter("testcase")] == ["rule-0", "quiet", "rule-1"]


def _only_text(told: Report) -> dict[str, str]:
    """Every format's text, of which no reader takes anything for more than text."""
    texts = {**check(told), "summary": outputs.summary(told)}
    for name, written in texts.items():
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", written), name
        assert "secret" not in written
    for line in texts["text"].splitlines():
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)
        assert not re.match(r"(---|\+\+\+|~~~) ", line)
    commands = [line for line in texts["github"].splitlines() if line.lstrip().startswith("::")]
    assert all(
        re.match(r"::(error|warning|notice) (file=[^,:\n]+,)?(line=\d+,)?title=ahp%3A [\w-]+::", c) for c in commands
    )
    head, _, code = texts["summary"].partition("\n\n")
    assert head.startswith("### ahp: ") and all(line.startswith("    ") for line in code.splitlines())
    return texts


def test_names_and_messages_of_real_commits_are_only_text_in_every_format(repo: Repo) -> None:
    policy = """version: 1
rules:
  lines: {at: pre-commit, each: l in diff.added, block: "'TODO' in l.text", finding: {file: l.path}}
  subject: {at: commit-msg, block: "'bad' in commit.message", message: "{commit.message} {commit.author}"}
  branch: {at: pre-push, prompt: branch.name != '', message: "{branch.name} {files.changed}"}
"""
    repo.commit("start", **{".ahp/hooks.yaml": policy})
    repo.git("checkout", "-q", "-b", "x]]></failure><script>&|`@everyone%0A\u202e")
    for text in HOSTILE[:-2]:
        plain = text.replace("\0", "").encode("utf-8", "surrogatepass")
        folder = os.fsencode(repo.root)
        name = plain.replace(b"/", b"_")[:200]
        with open(folder + b"/" + name, "wb") as file:
            file.write(b"TODO " + plain + b"\n")
        repo.git("add", "-A")
        author = os.fsdecode(plain.replace(b"\n", b" ").replace(b"<", b"").replace(b">", b"")) + " <a@example.org>"
        repo.git("commit", "-q", "--author", author, "-F", "-", stdin=b"bad " + plain)
    where = git.discover(str(repo.root), dict(os.environ))
    with judging.scratch() as folder_of_policies:
        change = change_of(where, None, lambda branch, commit: False, target="main")
        question = judging.Question(change, "a\n::error::x")
        told = judging.judge(where, question, {}, folder_of_policies, lambda done, total: None)
    assert {one.rule for one in told.results} == {"lines", "subject", "branch"}
    _only_text(told)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
@examples(60)
def test_any_text_leaves_every_format_valid(texts: list[str]) -> None:
    check(hostile(*texts))


def place(number: int) -> Place:
    return Place(f"src/f {number}.py", number + 1, "", "c" * 40, f"print{number}")


RULE = RuleText("no-secrets", "block", "no secrets", "take it out", ".ahp/hooks.yaml", 12)
BLOCK = Result("no-secrets", "block", "2 secrets", ["take it out"], [place(0), place(1)], 5)
PROMPT = Result("size", "prompt", "12 files in one change", [], [], 0)
WAIVED = Result("size", "block", "12 files", [], [], 0, excused="waived by ann until 2027-01-01: import")
REPORT = report(
    "3 commits bound for main", 1, [RULE, RuleText("fine", "aid", "x", "", "", 0)], [PROMPT, BLOCK, WAIVED], ["n"]
)


def test_sarif_places_findings_and_puts_the_placeless_at_their_rule() -> None:
    (run,) = json.loads(FORMATS["sarif"](REPORT))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["size", "no-secrets", "fine"]
    first, second, third, waived = run["results"]
    at = first["locations"][0]["physicalLocation"]
    assert (first["ruleId"], first["level"]) == ("no-secrets", "error")
    assert (at["artifactLocation"]["uri"], at["region"]["startLine"]) == ("src/f%200.py", 1)
    assert first["partialFingerprints"] == {"primaryLocationLineHash": "print0"}
    assert second["ruleIndex"] == 1
    assert third["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == ".ahp/hooks.yaml"
    assert third["level"] == "warning"
    assert waived["suppressions"][0]["justification"] == WAIVED.excused
    assert run["invocations"][0]["exitCode"] == 1


def test_what_is_in_no_file_of_the_repository_names_none() -> None:
    """The rule of a pack, and the message of a commit or a tag that a rule on `push.messages` finds."""
    rule = RuleAnswer(
        **dict.fromkeys(RuleAnswer.fields)
        | {"position": "pack core:107:5", "intensity": {"default": "block"}, "message": "m", "resolution": []}
    )
    found: list[dict[str, object]] = [{"file": "commit 0123456789", "message": "a token"}, {"file": "tag v1"}]
    told = report("r", 1, [rule_text("words", rule)], [result(signal("m", found), "words", [])], [])
    assert [(one.file, one.message) for one in told.results[0].places] == [
        ("", "commit 0123456789: a token"),
        ("", "tag v1"),
    ]
    (run,) = json.loads(check(told)["sarif"])["runs"]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]}
    assert uris == {entry["location"]["path"] for entry in json.loads(FORMATS["gitlab"](told))} == {".ahp/hooks.yaml"}


def test_sarif_stays_below_the_limits_of_github_and_says_what_it_leaves_out() -> None:
    many = Result("size", "prompt", "m", [], [place(n) for n in range(6000)], 6000)
    text = FORMATS["sarif"](report("r", 1, [], [many, BLOCK], []))
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == 5000
    assert run["results"][0]["ruleId"] == "no-secrets"
    notes = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert "1002 of 6002 results are left out: GitHub stores 5000 of a run" in notes


def test_findings_of_one_fingerprint_are_told_apart() -> None:
    twin = place(0)
    told = report("r", 1, [], [Result("r", "block", "m", [], [twin, twin], 2)], [])
    entries = json.loads(FORMATS["gitlab"](told))
    assert [entry["fingerprint"] for entry in entries] == ["r:print0", "r:print0-2"]


def test_junit_has_a_case_a_rule_failed_skipped_or_passed() -> None:
    suite = ET.fromstring(FORMATS["junit"](REPORT)).find("testsuite")  # what was just written here
    assert suite is not None
    cases = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert cases == {"no-secrets": ["failure"], "fine": [], "size": ["skipped", "system-out"]}
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")


def test_junit_tells_that_nothing_could_be_judged() -> None:
    text = FORMATS["junit"](report("main..topic", 2, [], [], ["this clone is shallow; fix: git fetch --unshallow"]))
    JUNIT.validate(text.partition("\n")[2])
    error = ET.fromstring(text).find("testsuite/testcase/error")  # what was just written here
    assert error is not None and error.get("message") == "this clone is shallow; fix: git fetch --unshallow"


def test_github_gets_an_annotation_a_place_what_refuses_first() -> None:
    many = Result("size", "prompt", "m", [], [place(n) for n in range(14)], 14)
    lines = FORMATS["github"](report("r", 0, [], [many, BLOCK], [])).splitlines()
    assert sum(line.startswith("::warning ") for line in lines) == 14
    assert lines[0].startswith(
        "::error file=src/f 0.py,line=1,title=ahp%3A no-secrets::2 secrets (commit cccccccccccc)%0A"
    )


def test_github_marks_a_range_that_could_not_be_judged_as_an_error() -> None:
    told = report("the range could not be judged", 2, [], [], ["this clone is shallow; fix: git fetch\n::warning::x"])
    assert FORMATS["github"](told).splitlines() == [
        "::error title=ahp%3A not judged::this clone is shallow; fix: git fetch ::warning::x",
        "ahp: the range could not be judged",
    ]


def test_the_summary_ends_before_githubs_limit() -> None:
    many = [Result(f"r{n}", "block", "m" * 900, ["s" * 400] * 9, [place(n)] * 90, 90) for n in range(300)]
    text = outputs.summary(report("r", 1, [], many, []))
    assert len(text.encode()) <= outputs.SUMMARY_BYTES
    assert text.endswith("The rest is left out: a summary has at most 1 MiB.\n")
    assert "refused" in text


def test_the_text_is_short_and_ends_with_what_was_judged() -> None:
    assert FORMATS["text"](REPORT).splitlines() == [
        "ahp: refused by no-secrets",
        "  2 secrets",
        "  src/f 0.py:1: commit cccccccccccc",
        "  src/f 1.py:2: commit cccccccccccc",
        "  and 3 more",
        "  - take it out",
        "ahp: warned by size",
        "  12 files in one change",
        "ahp: size excused: waived by ann until 2027-01-01: import",
        "  12 files",
        "ahp: n",
        "ahp: 3 commits bound for main",
    ]
