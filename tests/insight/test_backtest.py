"""`ahp replay` on records: what is decided, what is not, and what nobody knows."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given

from ahp.insight.backtest import Backtest, Change, replay
from ahp.policy import layers
from ahp.policy.rule import Policy, rule_digest
from ahp.policy.sources import TextSource
from ahp.system import clock
from tests.examples import examples

from .random_log import records_of, steps, write

OLD = """\
version: 1
limits: {most: 5}
rules:
  size: {at: pre-commit, prompt: files.changed_count > limits.most}
  names: {at: pre-commit, block: "'a' in files.changed"}
  shell: {at: pre-tool-use, block: "'curl' in tool.command"}
"""
START = 1_767_225_600.0


def policy(text: str) -> Policy:
    return layers.load(TextSource("version: 1\n" + text.replace("version: 1\n", "")))


class Log:
    """Records of one policy's evaluations."""

    def __init__(self, text: str = OLD) -> None:
        self.policy = policy(text)
        rules = [[r.trigger, r.key, dict(r.intensity), rule_digest(r, self.policy)] for r in self.policy.rules]
        stamp = clock.iso(START)
        self.records: list[dict[str, Any]] = [
            {
                "timestamp": stamp,
                "kind": "policy",
                "digest": "sha256:old",
                "origin": "committed",
                "commit": "c0ffee",
                "rules": rules,
            }
        ]

    def asked(self, facts: dict[str, Any], *said: tuple[str, str], **more: Any) -> None:
        """One evaluation at which the rules `said` spoke at these levels."""
        n = len(self.records)
        about = {"timestamp": clock.iso(START + n), "hook": "pre-commit", "host": "git", "attempt": f"t{n}"}
        about |= {"subject": "main", "actor": "human:ann", "policy": "sha256:old"}
        marks = more.pop("marks", {})
        for rule, level in said:
            told = {
                "kind": "signal",
                "id": f"{n}-{rule}",
                "rule": rule,
                "declared": level,
                "intensity": level,
                "facts": facts,
            }
            self.records.append({**about, **told, **marks, **more})
        if more.get("hook") != "pre-tool-use":
            self.records.append({**about, "kind": "verdict", "decision": "x", "facts": facts, **more})

    def calls(self, many: int) -> None:
        call = {"hook": "pre-tool-use", "actor": "agent:x", "session": "s", "policy": "sha256:old", "calls": many}
        self.records.append({"timestamp": clock.iso(START), "kind": "count", "calls": [call]})

    def replayed(self, text: str, readable: bool = False, since: float | None = None) -> Backtest:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "signals.jsonl").write_text("".join(json.dumps(r) + "\n" for r in self.records))
            return replay(folder, policy(text), self.read if readable else lambda record: None, since=since)

    def read(self, record: Mapping[str, object]) -> Policy | None:
        return self.policy if record.get("commit") == "c0ffee" else None


def changes(done: Backtest) -> list[tuple[str, str, str, int]]:
    return [(one.rule, one.before, one.after, one.count) for one in done.changes]


def test_the_same_policy_changes_nothing() -> None:
    log = Log()
    log.asked({"files.changed_count": 9}, ("size", "prompt"), ("names", "block"))
    log.asked({"files.changed_count": 1})
    done = log.replayed(OLD)
    assert changes(done) == [] and done.judged == 2 and (done.refused, done.refuses) == (1, 1)


def test_a_rule_that_asks_otherwise_is_asked_about_the_logged_facts() -> None:
    log = Log()
    for count in (3, 6, 9, 9):
        log.asked({"files.changed_count": count}, *([("size", "prompt")] if count > 5 else []))
    done = log.replayed(OLD.replace("most: 5", "most: 8"))
    assert changes(done) == [("size", "prompt", "silent", 1)]
    (example,) = done.changes[0].examples
    assert (example.hook, example.subject, example.told) == ("pre-commit", "main", "files.changed_count = 6")
    assert changes(log.replayed(OLD.replace("most: 5", "most: 2"))) == [("size", "silent", "prompt", 1)]


def test_blocks_gained_come_first_and_blocks_lost_second() -> None:
    log = Log(OLD + "  lines: {at: pre-commit, block: files.insertions > 100}\n")
    log.asked({"files.changed_count": 9, "files.insertions": 200}, ("size", "prompt"), ("lines", "block"))
    text = OLD.replace("prompt: files", "block: files")
    text += "  lines: {at: pre-commit, prompt: files.insertions > 100}\n"
    done = log.replayed(text + "  more: {at: pre-commit, prompt: files.insertions > 1}\n")
    assert changes(done) == [
        ("size", "prompt", "block", 1),
        ("lines", "block", "prompt", 1),
        ("more", "silent", "prompt", 1),
    ]
    assert [one.weight for one in done.changes] == [0, 1, 2] and done.decided == done.changes


def test_a_fact_that_the_log_lacks_is_undecided_and_named() -> None:
    log = Log()
    log.asked({"files.changed_count": 9}, ("size", "prompt"))
    log.asked({"files.changed_count": 1})
    done = log.replayed(OLD.replace("in files.changed", "in files.added"))
    assert changes(done) == [("names", "silent", "undecided", 2)]
    assert done.missing == {"names": ["files.added"]} and done.decided == []


@pytest.mark.parametrize(
    ("hook", "condition", "more"),
    [
        ("pre-commit", "actor.kind == 'agent'", {"actor": "agent:claude"}),
        ("pre-commit", "actor.kind == 'agent'", {"actor": "agent"}),
        ("pre-commit", "actor.name == 'claude'", {"actor": "agent:claude"}),
        ("pre-commit", "actor.name == ''", {"actor": "ci"}),
        ("task-complete", "session.id == 's-1' and session.agent == 'x'", {"actor": "agent:x", "session": "s-1"}),
        ("pre-tool-use", "actor.name == 'x' and tool.name == 'shell'", {"actor": "agent:x"}),
        ("pre-push", "branch.name == 'a/b'", {"target": "refs/heads/a/b"}),
        ("pre-push", "branch.target == '' and push.is_tag", {"target": "refs/tags/v1"}),
        ("pre-push", "push.ref == 'refs/heads/a' and push.is_delete", {"target": "refs/heads/a", "head": "0" * 40}),
    ],
)
def test_a_fact_that_the_record_tells_by_its_keys_is_known(hook: str, condition: str, more: dict[str, str]) -> None:
    log = Log("rules: {s: {at: pre-tool-use, prompt: tool.name == 'shell'}}\n")
    said = [("s", "prompt")] if hook == "pre-tool-use" else []
    log.asked({"tool.name": "shell"} if said else {}, *said, hook=hook, **more)
    text = f'rules: {{a: {{at: {hook}, prompt: "%s"}}}}\n'
    (gained,) = [one for one in log.replayed(text % condition).changes if one.rule == "a"]
    assert (gained.before, gained.after, gained.count) == ("silent", "prompt", 1)
    assert gained.examples[0].told
    assert [one.rule for one in log.replayed(text % f"not ({condition})").changes] == ["s"] * bool(said)


@pytest.mark.parametrize(
    ("hook", "path", "condition", "more"),
    [
        ("pre-commit", "branch.name", "branch.name == 'main'", {"subject": "main"}),  # or the one that is rebased
        ("pre-commit", "actor.kind", "actor.kind == 'human'", {"actor": "robot:x"}),
        ("pre-commit", "actor.verified", "actor.verified", {"actor": "ci:github"}),
        ("pre-push", "push.ref", "push.ref == 'refs/*'", {"target": "refs/*"}),  # what --mirror deletes
        ("pre-push", "push.is_delete", "push.is_delete", {"target": "refs/heads/a"}),
        ("task-complete", "session.id", "session.id == ''", {}),
    ],
)
def test_a_fact_that_a_key_does_not_tell_for_certain_is_undecided(
    hook: str, path: str, condition: str, more: dict[str, str]
) -> None:
    log = Log()
    log.asked({}, hook=hook, **more)
    done = log.replayed(f'rules: {{a: {{at: {hook}, prompt: "{condition}"}}}}\n')
    assert changes(done) == [("a", "silent", "undecided", 1)] and done.missing == {"a": [path]}


@pytest.mark.parametrize("condition", ["has(tests.failed_count)", "default(tests.failed_count, 0) > 0"])
def test_what_was_absent_is_not_told_from_what_was_not_logged(condition: str) -> None:
    log = Log()
    log.asked({})
    done = log.replayed(OLD + f"  t: {{at: pre-commit, block: '{condition}'}}\n")
    assert changes(done) == [("t", "silent", "undecided", 1)]


def test_what_decides_without_the_missing_fact_decides() -> None:
    log = Log()
    log.asked({"files.changed_count": 1})
    text = OLD + "  t: {at: pre-commit, block: \"files.changed_count > 3 and 'a' in files.added\"}\n"
    assert changes(log.replayed(text)) == []


def test_another_level_is_decided_without_facts_where_the_old_policy_can_be_read() -> None:
    log = Log()
    log.asked({}, ("names", "block"))
    log.asked({})
    text = OLD.replace("names: {at: pre-commit, block", "names: {at: pre-commit, prompt")
    assert changes(log.replayed(text, readable=True)) == [("names", "block", "prompt", 1)]
    assert [one.after for one in log.replayed(text).changes] == ["undecided", "undecided"]


def test_the_old_policy_must_be_the_one_that_the_log_describes() -> None:
    log = Log()
    log.asked({}, ("names", "block"))
    log.policy = policy("rules:\n  names: {at: pre-commit, prompt: \"'a' in files.changed\"}\n")
    text = OLD.replace("names: {at: pre-commit, block", "names: {at: pre-commit, prompt")
    assert [one.after for one in log.replayed(text, readable=True).changes] == ["undecided"]


def test_a_policy_that_is_described_again_with_its_commit_can_be_read_from_then_on() -> None:
    log = Log()
    committed = log.records.pop()
    log.records.append({**committed, "origin": "working", "commit": None})
    log.asked({}, ("names", "block"))
    log.records.append(committed)
    log.asked({}, ("names", "block"))
    text = OLD.replace("names: {at: pre-commit, block", "names: {at: pre-commit, prompt")
    told = [("names", "block", "prompt", 1), ("names", "block", "undecided", 1)]
    assert changes(log.replayed(text, readable=True)) == told


def test_a_filter_that_is_false_or_open_is_heeded() -> None:
    log = Log()
    log.asked({"files.changed_count": 9, "files.insertions": 3}, ("size", "prompt"))
    oracle = "hooks: {{pre-commit: {{oracles: [{{name: o, when: {}, rules: [{{id: a, {}, intensity: block}}]}}]}}}}\n"
    condition = "condition: files.changed_count > 3"
    assert changes(log.replayed(OLD + oracle.format("files.insertions > 9", condition))) == []
    assert changes(log.replayed(OLD + oracle.format("files.insertions > 1", condition))) == [
        ("o/a", "silent", "block", 1)
    ]
    done = log.replayed(OLD + oracle.format("files.deletions > 1", condition))
    assert changes(done) == [("o/a", "silent", "undecided", 1)] and done.missing == {"o/a": ["files.deletions"]}
    never = "condition: files.changed_count > 30"
    assert changes(log.replayed(OLD + oracle.format("files.deletions > 1", never))) == []


def test_a_rule_about_each_item_needs_the_list_unless_it_asked_the_same_then() -> None:
    text = OLD + "  keys: {at: pre-commit, each: p in files.changed, prompt: p == 'a', finding: {file: p}}\n"
    log = Log(text)
    log.asked({}, ("keys", "prompt"))
    done = log.replayed(text.replace("p == 'a'", "p == 'b'"))
    assert changes(done) == [("keys", "prompt", "undecided", 1)] and done.missing == {"keys": ["files.changed"]}
    assert changes(log.replayed(text.replace("prompt: p", "block: p"), readable=True)) == [
        ("keys", "prompt", "block", 1)
    ]


def test_a_rule_that_is_gone_watches_or_is_only_observed_says_nothing() -> None:
    log = Log()
    log.asked({"files.changed_count": 9}, ("size", "prompt"))
    gone = OLD.replace("  size: {at: pre-commit, prompt: files.changed_count > limits.most}\n", "")
    watching = OLD.replace("limits.most}", "limits.most, shadow: true}")
    for text in (gone, watching, OLD + "mode: observe\n"):
        assert changes(log.replayed(text)) == [("size", "prompt", "silent", 1)], text
    back = Log(watching)
    back.asked({"files.changed_count": 9}, ("size", "prompt"), marks={"shadow": True})
    assert changes(back.replayed(OLD)) == [("size", "silent", "prompt", 1)]


def test_ladders_waivers_and_overrides_are_left_aside() -> None:
    log = Log()
    log.asked({"files.changed_count": 9}, ("size", "prompt"), marks={"intensity": "block"})
    log.asked({"files.changed_count": 9}, ("size", "prompt"), marks={"waived": "w"})
    assert changes(log.replayed(OLD)) == []


def test_what_was_dropped_as_refined_matched_and_what_was_undecided_still_is() -> None:
    log = Log()
    log.asked({}, dropped=[{"rule": "names", "why": "refined by x"}], skipped=[{"rule": "size", "why": "?"}])
    done = log.replayed(OLD)
    assert changes(done) == [("names", "silent", "block", 1)]  # no rule of this policy speaks for it
    log = Log()
    log.asked({"files.changed_count": 9}, skipped=[{"rule": "size", "why": "?"}])
    assert changes(log.replayed(OLD.replace("most: 5", "most: 8"))) == [("size", "undecided", "prompt", 1)]


def test_what_matched_and_was_not_delivered_has_its_own_level() -> None:
    log = Log()
    dropped = [{"rule": "size", "why": "said before of the same"}]
    log.asked({"files.changed_count": 9}, ("names", "block"), dropped=dropped)
    assert changes(log.replayed(OLD)) == []
    louder = OLD.replace("prompt: files", "block: files")
    assert changes(log.replayed(louder)) == [("size", "prompt", "block", 1)]
    assert changes(log.replayed(OLD.replace("most: 5", "most: 10"))) == [("size", "prompt", "silent", 1)]
    for levels in ({}, {"default": "allow"}, {"default": [1]}, "prompt"):  # none that anybody could have heard
        log.records[0]["rules"][0][2] = levels
        assert changes(log.replayed(OLD)) == [("size", "silent", "prompt", 1)]


def test_the_silence_of_a_rule_that_had_no_level_there_tells_nothing() -> None:
    rule = "{id: a, condition: files.changed_count > 3, intensity: {production: block, default: %s}}"
    text = "environment: {production: branch.name == 'main'}\n"
    text += "hooks: {pre-commit: {oracles: [{name: o, rules: [" + rule + "]}]}}\n"
    log = Log(text % "allow")
    log.asked({"files.changed_count": 9}, environment="development")
    log.asked({"files.changed_count": 9}, ("o/a", "block"), environment="production")
    log.asked({}, ("o/a", "block"), environment="production")
    log.asked({}, environment="production")
    assert changes(log.replayed(text % "allow", readable=True)) == []
    assert changes(log.replayed(text % "prompt", readable=True)) == [("o/a", "silent", "prompt", 1)]


OF_COMMITS = """\
rules:
  size: {at: pre-commit, prompt: files.changed_count > 5}
  names: {at: [pre-commit, pre-push], block: "'a' in files.changed"}
  subject: {at: commit-msg, block: "'x' in commit.subject"}
"""


def test_what_a_push_told_of_its_commits_is_what_their_rules_say_at_commits() -> None:
    log = Log(OF_COMMITS)
    push: dict[str, Any] = {"hook": "pre-push", "marks": {"commits": ["c1"]}}
    push["dropped"] = [{"rule": "size", "why": "said before of the same"}]
    push["skipped"] = [{"rule": "subject", "why": "not decidable here"}]
    log.asked({}, ("names", "block"), **push)
    log.asked({}, ("subject", "block"), hook="pre-push", marks={"commits": ["c1"]})
    log.asked({}, ("names", "block"), hook="pre-push")  # of the range
    assert changes(log.replayed(OF_COMMITS)) == []
    softer = OF_COMMITS.replace("block: \"'x'", "prompt: \"'x'")
    told = [("subject", "block", "prompt", 1)]
    assert changes(log.replayed(softer, readable=True)) == told
    gone = OF_COMMITS.replace("size: {at: pre-commit, prompt: files.changed_count > 5}", "").replace("  \n", "")
    assert changes(log.replayed(gone)) == [("size", "prompt", "silent", 1)]
    done = log.replayed(OF_COMMITS.replace("'x' in", "'y' in"))
    assert changes(done) == [("subject", "block", "undecided", 1)]
    assert done.missing == {"subject": ["the facts of each commit"]} and done.decided == []


def test_a_rule_that_refines_silences_the_one_it_speaks_for() -> None:
    rules = "{id: a, condition: files.changed_count > 3, intensity: block}%s"
    oracle = f"hooks: {{pre-commit: {{oracles: [{{name: o, rules: [{rules}]}}]}}}}\n"
    log = Log(oracle % "")
    log.asked({"files.changed_count": 9}, ("o/a", "block"))
    more = ", {id: b, condition: files.changed_count > 3 and files.changed_count < 20, intensity: prompt}"
    assert changes(log.replayed(oracle % more)) == [("o/a", "block", "silent", 1), ("o/b", "silent", "prompt", 1)]


def test_a_rule_that_is_spoken_for_still_speaks_for_others() -> None:
    files = "files.changed_count > 3"
    rules = [
        f"{{id: all, condition: {files}, intensity: block}}",
        f"{{id: least, condition: \"{files} and branch.name == 'main' and files.insertions > 0\", intensity: prompt}}",
        f"{{id: some, condition: \"{files} and branch.name == 'main'\", intensity: prompt, refines: all}}",
    ]
    oracle = f"hooks: {{pre-commit: {{oracles: [{{name: o, rules: [{', '.join(rules)}]}}]}}}}\n"
    log = Log()
    log.asked({"files.changed_count": 9, "branch.name": "main", "files.insertions": 1})
    assert changes(log.replayed(oracle)) == [("o/least", "silent", "prompt", 1)]


def test_a_level_by_environment_needs_to_know_the_environment() -> None:
    text = "environment: {production: branch.name == 'main'}\n" + OLD
    rule = "{id: a, condition: files.changed_count > 3, intensity: {production: block, default: prompt}}"
    levels = f"hooks: {{pre-commit: {{oracles: [{{name: o, rules: [{rule}]}}]}}}}\n"
    log = Log(text)
    log.asked({"files.changed_count": 9}, ("size", "prompt"), environment="production")
    assert changes(log.replayed(text + levels, readable=True)) == [("o/a", "silent", "block", 1)]
    done = log.replayed(text + levels)
    assert changes(done) == [("o/a", "silent", "undecided", 1)] and done.missing == {"o/a": ["the environment"]}
    assert changes(log.replayed(text + levels.replace("production: block", "production: prompt"))) == [
        ("o/a", "silent", "prompt", 1)
    ]


def test_what_a_level_hangs_on_is_named_of_a_rule_that_asks_the_same_too() -> None:
    rule = "{id: a, condition: files.changed_count > 3, intensity: {production: %s, default: prompt}}"
    text = "environment: {production: %s}\nhooks: {pre-commit: {oracles: [{name: o, rules: [" + rule + "]}]}}\n"
    log = Log(text % ("branch.name == 'main'", "block"))
    log.asked({}, ("o/a", "block"), environment="production")
    done = log.replayed(text % ("repo.is_shallow or branch.name == 'old'", "block"), readable=True)
    assert changes(done) == [("o/a", "block", "undecided", 1)] and done.missing == {"o/a": ["the environment"]}


def test_a_limit_by_environment_is_that_of_the_environment() -> None:
    text = "limits: {most: {production: 3, default: 5}}\nenvironment: {production: branch.name == 'main'}\n"
    text += "rules: {size: {at: pre-commit, prompt: files.changed_count > limits.most}}\n"
    log = Log(text)
    log.asked(
        {"files.changed_count": 4, "limits.most": 3, "branch.name": "main"},
        ("size", "prompt"),
        environment="production",
    )
    log.asked({"files.changed_count": 4, "limits.most": 5, "branch.name": "x"}, environment="default")
    larger = text.replace("production: 3", "production: 4")
    assert changes(log.replayed(larger, readable=True)) == [("size", "prompt", "silent", 1)]
    log.asked({"files.changed_count": 4, "limits.most": 5})
    assert log.replayed(larger, readable=True).missing == {"size": ["the environment"]}


def test_tool_calls_without_facts_are_unknown() -> None:
    log = Log()
    log.calls(40)
    log.asked({"tool.command": "curl x"}, ("shell", "block"), hook="pre-tool-use")
    done = log.replayed(OLD.replace("'curl' in", "'wget' in"))
    assert done.calls == {"shell": 40}
    assert changes(done) == [("shell", "block", "silent", 1)]
    log.asked({"files.changed_count": 1})  # a tool call is over where something else is asked
    assert changes(log.replayed(OLD.replace("'curl' in", "'wget' in"))) == changes(done)
    assert log.replayed(OLD).calls == {} and changes(log.replayed(OLD)) == []
    log.records.insert(0, log.records.pop(1))  # counted before the policy was described, as the first calls are
    assert log.replayed(OLD).calls == {} and changes(log.replayed(OLD)) == []


def test_evaluations_by_policies_that_are_not_described_are_counted_apart() -> None:
    log = Log()
    log.asked({"files.changed_count": 9}, ("size", "prompt"), policy="sha256:other")
    done = log.replayed("rules: {}\n")
    assert (done.judged, done.skipped, changes(done)) == (0, 1, [])


def test_since_asks_of_what_came_later() -> None:
    log = Log()
    for _ in range(3):
        log.asked({"files.changed_count": 9}, ("size", "prompt"))
    assert log.replayed("rules: {}\n", since=START + 4).judged == 1


def test_hostile_facts_are_no_facts() -> None:
    log = Log()
    log.asked({"files.changed_count": [9]})
    log.asked(["x"])  # type: ignore[arg-type]
    log.asked({"files.changed_count": 1}, ("size", "\a"))  # no level
    assert [one.after for one in log.replayed(OLD.replace("most: 5", "most: 8")).changes] == ["undecided"]


@examples(60, *HealthCheck)
@given(steps)
def test_no_log_makes_it_fail(told: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "ahp", records_of(told), told)
        done = replay(folder + "/ahp", policy(OLD))
    assert all(isinstance(one, Change) and one.count >= len(one.examples) > 0 for one in done.changes)
