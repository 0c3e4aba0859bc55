"""The pack `tickets`: one oracle for each row of seed 002 §4.2, on a real repository."""

from __future__ import annotations

import json

import pytest

from ahp.cli.main import run
from ahp.hosts.issue import move
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from tests.conftest import Repo
from tests.tickets.memory import draft, place

PATH = place("FEAT-0001")
JUNIT = '<testsuite tests="1"><testcase name="a" classname="m">{}</testcase></testsuite>'


@pytest.fixture
def lab(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    files = {PATH: draft("FEAT-0001", "FEAT-0002"), place("FEAT-0002"): draft("FEAT-0002", "FEAT-0001")}
    repo.commit("first", **{".ahp/hooks.yaml": "version: 1\nextends: [tickets]\n", **files})
    monkeypatch.chdir(repo.root)
    return repo


def told(verdict: Verdict | None) -> list[tuple[object, str, object]]:
    assert verdict is not None
    return [(s.header["type"], s.intensity, str(s.context["rule"]).partition("/")[2]) for s in verdict.signals]


def test_an_issue_meets_every_oracle_of_its_life(lab: Repo) -> None:
    refused = move("start", "FEAT-0001")
    assert told(refused.before) == [("dependency-check", "block", "unmet")]
    lab.write(PATH, draft("FEAT-0001"))
    assert told(move("start", "FEAT-0001").after) == [("context-loaded", "aid", "context")]

    refused = move("submit", "FEAT-0001")
    assert ("quality-gate", "block", "open-boxes") in told(refused.before)
    text = (lab.root / PATH).read_text()
    boxes = "".join(f"- [x] {name}\n" for name in "bcdefghi") + "- [ ] j\n## Review\n- [ ] read it\n"
    lab.write(PATH, text.replace("[ ]", "[x]") + boxes)
    lab.write("reports/junit.xml", JUNIT.format("<failure/>"))
    assert ("quality-gate", "block", "failed-tests") in told(move("submit", "FEAT-0001").before)
    for number in range(20):
        lab.write(f"{number}.py")
    lab.write("reports/junit.xml", JUNIT.format(""))
    passed = move("submit", "FEAT-0001")
    kinds = {(intensity, rule) for _, intensity, rule in told(passed.before)}
    assert {("prompt", "nearly-done"), ("control", "large")} <= kinds
    assert told(passed.after) == [("review-triggered", "aid", "review")]

    refused = move("close", "FEAT-0001")
    assert told(refused.before) == [
        ("completion-verify", "block", "unaccepted"),
        ("completion-verify", "block", "open-review"),
    ]
    lab.write(PATH, (lab.root / PATH).read_text().replace("[ ]", "[x]"))
    assert told(move("close", "FEAT-0001").after) == [("retrospective", "aid", "look-back")]


@pytest.mark.parametrize("how", ["deleted", "stale"])
def test_a_red_report_that_goes_away_or_ages_keeps_the_block_until_the_tests_pass(lab: Repo, how: str) -> None:
    lab.commit("mine", **{PATH: draft("FEAT-0001").replace("[ ]", "[x]"), "src/m.py": "x = 1\n"})
    move("start", "FEAT-0001")
    assert told(move("submit", "FEAT-0001").before) == []  # nobody ever had a report
    lab.write("junit.xml", JUNIT.format("<failure/>"))
    assert told(move("submit", "FEAT-0001").before) == [("quality-gate", "block", "failed-tests")]
    if how == "deleted":
        (lab.root / "junit.xml").unlink()
    else:
        lab.write("src/m.py", "x = 1\n# e\n")
    assert told(move("submit", "FEAT-0001").before) == [("quality-gate", "block", "failed-tests")]
    assert b"mended" not in (lab.root / ".git/ahp/signals.jsonl").read_bytes()
    lab.write("junit.xml", JUNIT.format(""))
    assert not move("submit", "FEAT-0001").denied


@pytest.mark.parametrize("solution", ["wontfix", "cancelled"])
def test_a_ticket_is_given_up_with_its_boxes_open(lab: Repo, solution: str) -> None:
    lab.write(PATH, draft("FEAT-0001"))
    move("start", "FEAT-0001")
    assert not move("close", "FEAT-0001", solution).denied


@pytest.mark.parametrize(
    ("box", "rule"), [("- [~] b", "cancelled-boxes"), ("", "removed-boxes"), ("<!-- - [ ] b -->", "removed-boxes")]
)
def test_boxes_that_were_argued_away_are_asked_about(lab: Repo, box: str, rule: str) -> None:
    text = draft("FEAT-0001").replace("[ ]", "[x]")
    lab.commit("boxes", **{PATH: text + "- [ ] b\n"})
    move("start", "FEAT-0001")
    assert ("quality-gate", "block", "open-boxes") in told(move("submit", "FEAT-0001").before)
    started = (lab.root / PATH).read_text()
    lab.write(PATH, started.replace("- [ ] b", box))
    assert told(move("submit", "FEAT-0001").before) == [("quality-gate", "prompt", rule)]


@pytest.mark.slow
@pytest.mark.parametrize(("criticality", "floor"), [("low", 0), ("medium", 70), ("high", 85), ("critical", 90)])
def test_the_floor_of_coverage_is_that_of_the_issues_criticality(criticality: str, floor: int, lab: Repo) -> None:
    lab.commit("mine", **{PATH: draft("FEAT-0001").replace("[ ]", "[x]") + "\n"})
    lab.write(PATH, (lab.root / PATH).read_text().replace("files: []", f"criticality: {criticality}\nfiles: []"))
    move("start", "FEAT-0001")
    for percent in (floor, max(floor - 1, 0)):
        measured = {"covered_lines": percent, "num_statements": 100, "covered_branches": 0, "num_branches": 0}
        lab.write("coverage.json", json.dumps({"totals": measured}))
        moved = move("submit", "FEAT-0001")
        assert (("quality-gate", "prompt", "low-coverage") in told(moved.before)) is (percent < floor)


def test_a_new_policy_speaks_the_language_of_the_tickets(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    repo.commit("first", **{PATH: draft("FEAT-0001").replace("A thing", "登录").replace("draft", "doing")})
    assert run(["init"]) == 0
    assert "packs core, tickets-zh" in capfd.readouterr().out
    repo.git("checkout", "-q", "-b", "FEAT-0001-login")
    assert run(["issue", "submit", "FEAT-0001"]) == 1
    assert "Checklist 未完成" in capfd.readouterr().err


def test_the_pack_has_an_oracle_for_every_row_of_the_protocols_table() -> None:
    import yaml

    from ahp.policy.sources import PACKS

    with open(f"{PACKS}/tickets.yaml", encoding="utf-8") as file:
        hooks = yaml.safe_load(file)["hooks"]
    types = {name: {oracle["type"] for oracle in hook["oracles"]} for name, hook in hooks.items()}
    assert types == {
        "pre-issue-start": {"dependency-check"},
        "post-issue-start": {"context-loaded"},
        "pre-tool-use": {"permission-check"},
        "post-tool-use": {"result-analysis"},
        "pre-issue-submit": {"quality-gate"},
        "post-issue-submit": {"review-triggered"},
        "pre-issue-close": {"completion-verify"},
        "post-issue-close": {"retrospective"},
    }
    for name, hook in hooks.items():
        used = {rule["intensity"] for oracle in hook["oracles"] for rule in oracle["rules"]}
        assert used <= set(TRIGGERS[name].advised)
