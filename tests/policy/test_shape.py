from __future__ import annotations

import re

import pytest

from ahp import __version__
from ahp.policy import shape
from ahp.policy.problems import SHOWN_PROBLEMS, Place, PolicyError, Problem
from ahp.policy.shape import RawFile
from ahp.system import installed

from .conftest import Errors


def read(text: str) -> RawFile:
    return shape.read(text.encode(), "f", "project")


def refused(text: str) -> str:
    """What is told of a text: at once where nothing of it can be read, else beside what could."""
    try:
        told = read(text).problems
    except PolicyError as error:
        return str(error)
    assert told
    return str(PolicyError(told))


def test_an_empty_file_is_a_policy_without_rules() -> None:
    raw = read("# nothing\n")
    assert raw.model.rules == {}
    assert raw.place("rules") == raw.key_place("rules") == raw.text_place("rules") == Place("f")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a", "f:1:1: a policy is a mapping of keys, not ['a']"),
        ("rule: {}", "f:1:1: unknown key `rule`; did you mean `rules`?"),
        ("rules: {a: {at: x, blok: y}}", "f:1:20: unknown key `blok`; did you mean `block`?"),
        ("rules: {a: {at: x, condition: y}}", "unknown key `condition`; here the level has the condition: `block: …`"),
        ("rules: {a: {level: warn}}", "'warn' is no `level`; it is called `prompt`"),
        ("escalation: {ladder: [prompt, error]}", "'error' is no `ladder`; it is called `block`"),
        ("rules: {a: {hint: x}}", "unknown key `hint`; it is called `fix`"),
        ("facts: {lint: {command: [ruff]}}", "unknown key `command`; it is called `run`"),
        ("rules: [{id: a, at: x}]", "in place of `- id: NAME` write `NAME:`"),
        ("rules: {a: {locked: no}}", "`locked` is true or false, not 'no'\n    write: locked: false"),
        ("facts: {lint: {run: ruff check '*.py' .}}", 'write: run: [ruff, check, "*.py", .]'),
        ("hooks: {pre-push: [{name: o, rule: []}]}", "unknown key `rule`; did you mean `rules`?"),
        ("hooks: {pre-push: {orcales: []}}", "unknown key `orcales`; did you mean `oracles`?"),
        ("rules: {a: {action: {type: set, target: a, val: 1}}}", "unknown key `val`; did you mean `value`?"),
        ("rules: {a: {action: {type: replace, target: a, pattern: b, wit: c}}}", "did you mean `with`?"),
        ("version: 2", "f:1:10: 2 is no `version`"),
        ("version: x", "'x' is no `version`"),
        ('version: "1.0"', "f:1:10: '1.0' is no `version`\n    write: version: 1"),
        ("mode: enforced", "f:1:7: 'enforced' is no `mode`; did you mean `enforce`?"),
        ("mode: zzz", "valid are enforce, observe"),
        ("hooks: {pre-push: [{name: o, rules: [{condition: a, intensity: blck}]}]}", "did you mean `block`?"),
        ("rules: {a: {severity: hi}}", "'hi' is no `severity`; did you mean `high`?"),
        ("rules: {a: {on_missing: [x]}}", "`on_missing`"),
        ("rules: {a: {action: {type: splt}}}", "'splt' is no `type`; valid are"),
        ("rules: {a: {action: {target: x}}}", "`action` is a mapping with a `type`"),
        ("rules: {a: {action: {type: clamp, target: x}}}", "`clamp` needs `min` or `max`"),
        ("rules: {a: {action: {type: clamp, target: x, min: 3, max: 1}}}", "`min` is above `max`"),
        ("rules: {a: {action: {type: split_suggestion, max_batch: 0}}}", "`max_batch` is at least 1, not 0"),
        ("rules: {a: {action: {type: split_suggestion, max_batch: 999999}}}", "`max_batch` is at most 100000"),
        ("rules: {a: {action: {type: split_suggestion}}}", "`action` needs `max_batch`"),
        ("rules: {a: {block: true}}", "f:1:20: `block` is a condition, that is a text, not True"),
        ("rules: {a: {block: [x]}}", "`block` is a condition, that is a text, not ['x']"),
        ("rules: {a: {block: 1}}", "`block` is a condition, that is a text, not 1"),
        ("rules: {a: {when: 1}}", "`when` is a condition"),
        ("rules: {a: {when: {}}}", "`when`: an empty mapping filters nothing"),
        ("rules: {a: {when: {'a b': 1}}}", "'a b' is no fact path"),
        ("rules: {a: {when: {a.b: [[1]]}}}", "the values of `a.b` are texts, numbers, true or false"),
        ("rules: {a: {block: ''}}", "`block`"),
        ("rules: {a: {message: {x: y}}}", "`message` is a text, not {'x': 'y'}"),
        ("rules: {a: {locked: yes}}", "`locked` is true or false, not 'yes'"),
        ("rules: {a: {priority: high}}", "`priority` is a whole number, not 'high'"),
        ("rules: {a: {priority: 1.5}}", "`priority` is a whole number, not 1.5"),
        ("rules: {a: }", "`a` is empty; it needs a mapping"),
        ("rules: {a: off}", "write: a: {enabled: false}"),
        ("rules: {a: false}", "write: a: {enabled: false}"),
        ("rules: [a]", "`rules` is a mapping of ids, not a list"),
        ("rules: {a: {suggestions: x}}", "`suggestions` is a list, not 'x'"),
        ("rules: {a: {block: x, prompt: y}}", "two levels, `block` and `prompt`; a rule has one"),
        ("extends: [1]", "`extends` is a text, not 1"),
        ("hooks: {pre-push: 1}", "`pre-push` is a mapping, not 1"),
        ("hooks: {pre-push: {oracles: [{rules: []}]}}", "needs `name`"),
        ("hooks: {pre-push: [{name: 'a b'}]}", "f:1:27: `name` is a name of letters, digits and `_.-`, not 'a b'"),
        ("rules: {'a b': {at: x}}", "f:1:9: 'a b' is no name; use letters, digits"),
        ("environment: {'': x}", "'' is no name"),
        ("escalation: {after: 0}", "`after` is at least 1, not 0"),
        ("escalation: {ladder: []}", "`ladder`"),
        ("escalation: {ladder: [block, prompt]}", "the ladder climbs"),
        ("escalation: {forget_after: 14}", "a duration is a number with a unit"),
        ("facts: {lint: {run: ruff}}", "`run` is a list, not 'ruff'"),
        ("facts: {lint: {parse: json}}", "`lint`: needs `run`"),
        ("reports: {coverage_threshold: 101}", "`coverage_threshold` is at most 100"),
        ("requires: 1", "`requires` is text like"),
        ("requires: abc", "`requires` is text like"),
    ],
)
def test_wrong_shapes_say_what_is_wrong_and_where(text: str, said: str) -> None:
    assert said in refused(text)


def test_a_command_whose_quote_is_not_closed_is_not_split() -> None:
    assert "write:" not in refused("facts: {lint: {run: a 'b}}")


def test_a_condition_that_is_a_boolean_is_shown_as_text() -> None:
    assert refused("rules:\n  a:\n    block: true\n").endswith('write: block: "true"')


def test_a_text_that_yaml_read_as_a_mapping_is_shown_quoted() -> None:
    said = refused("rules:\n  a:\n    message: {files.changed_count}\n")
    assert said.endswith('write: message: "{files.changed_count}"')


def test_all_errors_come_at_once_in_order() -> None:
    said = refused("rul: 1\nmode: x\nrules:\n  a: {blok: 1, at: 2}\n  b: 3\n")
    assert re.findall(r"^f:(\d+):", said, re.MULTILINE) == ["1", "2", "4", "4", "5"]


def test_thousands_of_problems_are_not_all_printed() -> None:
    error = PolicyError([Problem(Place("f", line), "wrong") for line in range(1, SHOWN_PROBLEMS + 12)])
    assert str(error).endswith("… and 11 more")
    assert len(error.problems) == SHOWN_PROBLEMS + 11


@pytest.mark.parametrize("wanted", [">=0.1", ">=0.1, <99", f"=={__version__}", ">0.0.1", "<=99"])
def test_a_requirement_that_holds_is_passed(wanted: str) -> None:
    assert read(f"requires: '{wanted}'").model.requires == wanted


def test_a_requirement_is_read_before_anything_else_and_gives_the_upgrade_command() -> None:
    said = refused("requires: '>=99.1'\nsome_future_key: 1\n")
    assert said.startswith(f"f:1:11: this policy needs ahp >=99.1, this is {__version__}")
    assert said.endswith(installed.upgrade(">=99.1"))
    assert "future" not in said


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ("\"issue.type in ['fix']\"", "issue.type in ['fix']"),
        ("{issue.type: [feature, fix]}", "issue.type in ['feature', 'fix']"),
        ("{files.changed_count: '> 10'}", "(files.changed_count > 10)"),
        ("{files.changed_count: 'not in [1, 2]'}", "(files.changed_count not in [1, 2])"),
        ("{issue.stage: done, branch.is_default: true}", "issue.stage == 'done' and branch.is_default == true"),
        ("{issue.stage: null}", "issue.stage is None"),
        ("{coverage.current: 1.5}", "coverage.current == 1.5"),
        ("{issue.title: isolated}", "issue.title == 'isolated'"),
    ],
)
def test_filters_become_one_condition(when: str, text: str) -> None:
    assert read(f"rules: {{a: {{when: {when}}}}}").model.rules["a"].when == text


def test_short_spellings_become_the_long_ones() -> None:
    model = read(
        "rules: {a: {at: pre-push, fix: x, suggestions: [y, {type: t, description: z}]}}\n"
        "hooks: {pre-push: [{name: o, rules: [{condition: c, intensity: block}]}]}\n"
        "facts: {f: {run: [x], extract: {n: len(output)}, timeout: 500ms}}\n"
        "escalation: {forget_after: 2h}\n"
    ).model
    rule = model.rules["a"]
    assert (rule.at, rule.fix) == (["pre-push"], ["x"])
    assert [(s.type, s.description) for s in rule.suggestions] == [("best_practice", "y"), ("t", "z")]
    assert model.hooks["pre-push"].oracles[0].rules[0].intensity == {"default": "block"}
    assert model.facts["f"].extract["n"].type == "int"
    assert model.facts["f"].timeout == 0.5
    assert model.escalation is not None and model.escalation.forget_after == 7200.0


def test_hostile_keys_and_values_stay_on_one_short_line() -> None:
    said = refused('"' + "k\\n" * 500 + '": 1')
    assert said.count("\n") == 0 and len(said) < 300
    said = str(Problem(Place("f"), "no trigger is called `a\n\x1b[31m\u202eb`" + "x" * 5000))
    assert said.isprintable() and len(said) <= 1000


def test_mistakes_of_shape_hide_none_of_conditions(errors: Errors) -> None:
    found = errors(
        "rules:\n"
        "  a: {at: pre-commit, block: files.chnaged_count > 3, sverity: low}\n"
        "  b: {at: pre-comit, block: 3}\n"
        "  c: {at: pre-commit, prompt: branch.nam == 'x'}\n"
        "unknown: 1\n"
    )
    said = [line.split(": ", 1)[1] for line in found]
    assert [line.split(";")[0] for line in said[:4]] == [
        "'files' has no fact 'chnaged_count'",
        "unknown key `sverity`",
        "`block` is a condition, that is a text, not 3",
        "'branch' has no fact 'nam'",
    ]
    assert said[4].startswith("unknown key `unknown`")
