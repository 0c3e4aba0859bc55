from __future__ import annotations

from pathlib import Path

import pytest

from ahp.conditions import reference
from ahp.gate.decide import decide
from ahp.policy import compile as compiling
from ahp.policy.rule import rule_digest
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event, Workspace
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, jsontext

from .conftest import Load
from .test_validate import DESIGN, SEED

RULES = """
mode: observe
timezone: UTC
env_allow: [TEAM]
limits: {few: 3, size: {production: 1, default: 2}}
environment: {production: branch.is_default}
escalation: {ladder: [prompt, block]}
reports: {tests: [junit.xml], coverage_threshold: 80}
approvers: .ahp/approvers
facts: {lint: {run: [ruff], extract: {n: len(output)}, parse: json}}
hooks:
  pre-push:
    when: push.is_new
    oracles:
      - name: o
        type: kind
        priority: 3
        rules:
          - {id: a, condition: files.changed_count > limits.size, intensity: {production: block, default: prompt}}
          - id: b
            each: f in files.changes
            condition: f.bytes > limits.few and lint.n > 0
            intensity: control
            action: {type: run, command: [fix, it], directory: sub}
            finding: {file: f.path}
            suggestions: [one, {type: follow_up, description: two}]
            resolution: ["look at {files.changed}"]
            message: "{files.changed_count} of {f.path}"
          - {id: c, condition: env.TEAM == 'x' and push.is_force, intensity: prompt}
          - {id: d, condition: push.is_force, intensity: block, shadow: true, ci: range, ask: true}
"""


def test_a_program_holds_what_the_gate_needs(load: Load) -> None:
    program = compiling.programs(load(RULES), "/root", [("/root/x", None)], "/home", "/user")["pre-push"]
    data = program.data
    assert (data["trigger"], data["mode"], data["root"], data["user"]) == ("pre-push", "observe", "/root", "/user")
    assert (data["sources"], program.path) == ([["/root/x", None]], "/home/pre-push")
    assert data["reads"] == {
        "env": ["TEAM"],
        "files": ["changed_count", "changes"],
        "limits": ["size"],
        "lint": ["n"],
        "push": ["is_force", "is_new"],
    }
    assert data["slots"] == sorted(data["slots"])
    assert [(r["key"], r["when"], r["costly"], r["each"] and r["each"][0]) for r in data["rules"]] == [
        ("o/a", 0, False, None),
        ("o/b", 0, True, "f"),
        ("o/c", 0, False, None),
        ("o/d", 0, False, None),
    ]
    assert (len(data["whens"]), data["costly"], data["escalates"]) == (1, ["lint"], True)
    settings = data["settings"]
    assert settings["limits"] == {"few": 3, "size": {"production": 1, "default": 2}}
    assert [name for name, _ in settings["environment"]] == ["production"]
    assert settings["reports"] == {"tests": ["junit.xml"], "coverage_threshold": 80}
    assert (settings["env_allow"], settings["timezone"]) == (["TEAM"], "UTC")
    assert settings["commands"]["lint"]["extract"] == {"n": {"value": "len(output)", "type": "int"}}


@pytest.mark.parametrize(("trigger", "late"), [("pre-tool-use", ["checklist", "issue"]), ("pre-issue-submit", [])])
def test_a_tool_call_reads_tickets_only_where_nothing_else_decides(trigger: str, late: list[str], load: Load) -> None:
    condition = "checklist.total > 0 and default(issue.stage, '') == 'draft'"
    policy = load(
        f"rules: {{a: {{at: {trigger}, block: \"{condition}\"}}, b: {{at: {trigger}, block: branch.name == 'x'}}}}"
    )
    data = compiling.programs(policy)[trigger].data
    assert (data["costly"], [rule["costly"] for rule in data["rules"]]) == (late, [bool(late), False])


def test_answers_hold_words_and_actions(load: Load) -> None:
    answers = compiling.programs(load(RULES))["pre-push"].answers
    a, b, c, d = (answers["rules"][f"o/{name}"] for name in "abcd")
    assert a["intensity"] == {"production": "block", "default": "prompt"}
    assert (a["rule"], a["oracle"], a["type"], a["priority"], a["when"]) == ("a", "o", "kind", 3, "push.is_new")
    assert (a["escalate"], a["on_missing"], a["reversible"], a["severity"]) == (True, "prompt", True, "medium")
    assert b["action"] == {"type": "run", "command": ["fix", "it"], "directory": "sub", "timeout": 60.0}
    assert b["reversible"] is False
    assert b["suggestions"] == [
        {"type": "best_practice", "description": "one"},
        {"type": "follow_up", "description": "two"},
    ]
    assert b["finding"] == {"file": "f.path", "line": None, "message": None}
    assert b["shows"] == ["files.changed", "files.changed_count"]
    assert c["refines"] == {}
    assert (d["shadow"], d["ci"], d["ask"], d["escalate"]) == (True, "range", True, False)
    assert answers["escalation"] == {"ladder": ["prompt", "block"], "after": 1, "forget_after": 1209600.0}
    assert answers["notes"]
    assert a["position"].startswith("hooks.yaml:19:")


def test_every_trigger_has_a_program_that_json_holds(load: Load) -> None:
    for text in (SEED, DESIGN, RULES, "extends: [core]", ""):
        programs = compiling.programs(load(text))
        assert list(programs) == list(TRIGGERS)
        for program in programs.values():
            assert jsontext.decode(jsontext.encode(program.data)) == program.data
            assert jsontext.decode(jsontext.encode(program.answers)) == program.answers


def test_the_digest_follows_what_judges_not_where_it_was_read(load: Load) -> None:
    first = compiling.programs(load(SEED), "/a")["pre-push"].data["policy"]
    assert first == compiling.programs(load(SEED), "/b")["pre-commit"].data["policy"]
    assert first != compiling.programs(load(SEED.replace("> 20", "> 21")), "/a")["pre-push"].data["policy"]
    assert first != compiling.programs(load(SEED + "mode: observe\n"), "/a")["pre-push"].data["policy"]


def test_a_rules_digest_is_bound_to_its_meaning_not_its_words(load: Load) -> None:
    text = "limits: {n: %s}\nrules: {a: {at: [pre-commit, pre-push], prompt: files.changed_count > limits.n%s}}"

    def digests(*values: str) -> set[str]:
        policy = load(text % values)
        return {rule_digest(rule, policy) for rule in policy.rules}

    first = digests("3", "")
    assert len(first) == 1
    assert digests("3", ", message: hello, severity: low") == first
    assert digests("4", "") != first
    assert digests("3", ", on_missing: block") != first
    assert digests("3", ", when: branch.is_default") != first


def policy_at(root: Path, text: str) -> Event:
    """An event of pre-commit in a folder with this policy, which nobody has compiled yet."""
    (root / ".ahp").mkdir()
    (root / ".ahp" / "hooks.yaml").write_text(text)
    where = Workspace(str(root), str(root / "git"), {})
    return Event("pre-commit", "test", Actor("human"), where, clock.monotonic() + 600, "dry")


def test_a_policy_of_a_thousand_rules_is_compiled_within_the_event_that_it_judges(tmp_path: Path) -> None:
    short = [f"  s{n}: {{at: pre-commit, block: files.changed_count > {1000 + n}}}" for n in range(500)]
    long = [
        f"        - {{id: l{n}, condition: files.changed_count > {n} and branch.name == 'b{n}', intensity: prompt}}"
        for n in range(500)
    ]
    head = ["hooks:", "  pre-commit:", "    - name: o", "      rules:"]
    event = policy_at(tmp_path, "\n".join(["rules:", *short, *head, *long]))
    event.given = {"files": {"changed_count": 1005}, "branch": {"name": "b7"}}
    said = [str(signal.context["rule"]) for signal in decide(event).signals]
    assert sorted(said) == ["o/l7", "s0", "s1", "s2", "s3", "s4"]


def test_no_hook_asks_the_reference_evaluator(load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def asked(*arguments: object) -> None:
        raise AssertionError("comparing evaluators takes as long as it takes; no commit waits for it")

    monkeypatch.setattr(reference, "disagreement", asked)
    assert decide(
        policy_at(
            tmp_path, SEED + "  pre-commit: [{name: o, rules: [{condition: branch.is_default, intensity: block}]}]\n"
        )
    )
