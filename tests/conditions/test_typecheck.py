"""What the checker finds when a policy is read, where, and what it says."""

from __future__ import annotations

import json

import pytest

from ahp.conditions.evaluate import build, build_each
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check, check_each
from ahp.system.place import Place
from tests.conditions.cases import run

SCHEMA = Schema(
    {
        "files.changed": {"type": "list[str]"},
        "files.changed_count": {"type": "int", "min": 0},
        "files.changes": {"type": "list[record]", "fields": {"path": {"type": "str"}, "lines": {"type": "int"}}},
        "branch.name": {"type": "str", "nullable": True},
        "tool.name": {"type": "str", "enum": ["shell", "write"]},
        "tool.input": {"type": "map"},
        "tests.failed": {"type": "int", "optional": True},
        "environment": {"type": "str"},
        "issue.review.total": {"type": "int", "optional": True},
        "limits.globs": {"type": "list[str]"},
        "limits.word": {"type": "str"},
        "b.flag": {"type": "bool"},
        "out": {"type": "any"},
    }
)

REFUSED = [
    ("file.changed_count > 1", "name", 1, "'files'"),
    ("files.changedCount > 1", "name", 1, "'changed_count'"),
    ("b.flag and files.chnaged_count > 1", "name", 12, "'changed_count'"),
    ("files.zzz > 1", "name", 1, "changed"),
    ("changed_count > 1", "name", 1, "did you mean 'files.changed_count'?"),
    ("filesChanged == []", "name", 1, "did you mean 'files.changed'?"),
    ("name == 'x'", "name", 1, "did you mean 'branch.name' or 'tool.name'?"),
    ("len(moved.files) > 0", "name", 5, "write content.after_text[c.path], with c in files.changes"),
    ("any(files.changed, 'a')", "type", 1, "not 2 write any(… for x in LIST)"),
    ("[][0] == 'a'", "type", 1, "has no items"),
    ("b.flag[0] == 1", "type", 1, "has no items"),
    ("issue.review.totl > 1", "name", 1, "'total'"),
    ("length(files.changed) > 1", "name", 1, "'len'"),
    ("[1, 2][5] + 1 > 2", "type", 1, "no value"),
    ("files.changed.some(b.flag)", "name", 1, "any(… for x in files.changed)"),
    ("(1 if (zzz and b.flg) else 2) + 1 > 2", "name", 8, "unknown name"),
    ("files.changed.length() > 1", "name", 1, "len(files.changed)"),
    ("branch.name.length > 1", "name", 1, "len(branch.name)"),
    ("branch.name.startsWith('a')", "name", 1, "branch.name.startswith()"),
    ("branch.name.strip == 'a'", "name", 1, "strip()"),
    ("branch.name.includes('a')", "name", 1, "contains(branch.name"),
    ("startswith(branch.name, 'a')", "name", 1, "text.startswith"),
    ("exists(f in files.changed, f == 'a')", "name", 1, "write any(… for x in LIST)"),
    ("files.changed.exists(b.flag)", "name", 1, "write any(… for x in files.changed)"),
    ("exists(branch.name)", "name", 1, "did you mean 'has'?"),
    ("matches(branch.name, '*.py')", "pattern", 22, "glob(…, '*.py')"),
    ("nothing_like_it(1)", "name", 1, "functions are"),
    ("branch.name.zzzzzz()", "name", 1, "no method"),
    ("b.flag AND b.flag", "syntax", 8, "cannot stand here write 'and'"),
    ("b.flag LIKE 'x'", "syntax", 8, "write matches(text, 'regex'), or for paths glob("),
    ("NULL == null", "name", 1, "'null'"),
    ("len > 1", "name", 1, "len("),
    ("len(1) > 1", "type", 5, "needs a text"),
    ("b.flag && b.flag", "syntax", 8, "'and'"),
    ("b.flag || b.flag", "syntax", 8, "'or'"),
    ("!b.flag", "syntax", 1, "'not'"),
    ("files.changed_count = 1", "syntax", 21, "'=='"),
    ("files.changed_count === 1", "syntax", 21, "'=='"),
    ("files.changed_count <> 1", "syntax", 21, "'!='"),
    ("branch.name =~ 'x'", "syntax", 13, "matches("),
    ("files.changed_count ** 2 > 1", "syntax", 21, "powers"),
    ("files.changed_count >", "syntax", 21, "ends after '>'"),
    ("b.flag and", "syntax", 8, "ends after 'and'"),
    ("b.flag b.flag", "syntax", 8, "'b' cannot stand here"),
    ("(b.flag", "syntax", 1, "never closed"),
    ("b.flag)", "syntax", 7, "closes nothing"),
    ("'abc", "syntax", 1, "never closed"),
    ("'abc\\", "syntax", 5, "never closed"),
    ("'''abc'''", "syntax", 1, "single"),
    ("f'a' == 'a'", "syntax", 1, "prefix"),
    ("'\\N{BULLET}' == 'a'", "syntax", 2, "\\N"),
    ("'a' 'b' == 'ab'", "syntax", 5, "comma"),
    ("files.changed contains 'x'", "syntax", 15, "write contains(files.changed, 'x')"),
    ("branch.name startswith 'x'", "syntax", 13, "write branch.name.startswith('x')"),
    ("branch.name == main", "name", 16, "a text stands in quotes: 'main'"),
    ("branch.name in ['x', main]", "name", 22, "a text stands in quotes: 'main'"),
    ("l.text == 'x'", "name", 1, "each: l in LIST"),
    ("matches(branch.name, '^(?!x)')", "pattern", 22, "ask twice"),
    ("b..flag", "syntax", 3, "after '.'"),
    ("b.flag \\\n and b.flag", "syntax", 8, "a line goes on without it"),
    ("b.flag # \u202e", "syntax", 8, "U+202E"),
    ("branch.name == '\\u200b'", "syntax", 16, "U+200B"),
    ("ｂ.flag", "syntax", 1, "U+FF42"),
    ("", "syntax", 1, "empty"),
    ("# only words", "syntax", 1, "empty"),
    ("lambda: 1", "syntax", 1, "'lambda'"),
    ("1e999 > 1", "bound", 1, "too large"),
    ("123456789012345678901 > 1", "bound", 1, "20 characters"),
    ("12ab > 1", "syntax", 1, "not a number"),
    ("0777 > 1", "syntax", 1, ""),
    ("x" * 5000, "bound", 1, "4096"),
    ("(" * 25 + "b.flag" + ")" * 25, "bound", 25, "24 deep"),
    ("1" + "+1" * 30 + " > 0", "bound", 1, "24 deep"),
    ("b.flag" + " or b.flag" * 200, "bound", 1, "256 parts"),
    ("1," * 600, "bound", 1201 - 175, "words"),
    ("files.changed_count", "type", 1, "> 0"),
    ("'b.flag'", "type", 1, "quotes"),
    ("branch.name", "type", 1, "!= ''"),
    ("files.changed", "type", 1, "len(files.changed) > 0"),
    ("files", "type", 1, "namespace"),
    ("files > 3", "type", 1, "namespace"),
    ("issue.review > 3", "type", 1, "namespace"),
    ("files()", "type", 1, "cannot be called"),
    ("'a'()", "type", 1, "cannot be called"),
    ("files.changed > 3", "type", 1, "len(files.changed)"),
    ("branch.name > 3", "type", 1, "two numbers or two texts"),
    ("b.flag == 1", "type", 1, "never equals"),
    ("files.changed == [1]", "type", 1, "never equals"),
    ("files.changes == files.changes[0]", "type", 1, "never equals"),
    ("tool.input == tool.input", "type", 1, "never equals"),
    ("b.flag is true", "type", 1, "'is' only asks for None"),
    ("1 in files.changed", "type", 1, "cannot be in"),
    ("branch.name in 'a' + 'b'", "type", 16, "needs numbers"),
    ("branch.name in 5", "type", 1, "in ['a', 'b']"),
    ("tool.name == 'shel'", "enum", 14, "'shell'"),
    ("tool.name in ['shell', 'zzz']", "enum", 14, "one of shell, write"),
    ("'wirte' == tool.name", "enum", 1, "'write'"),
    ("-branch.name > 1", "type", 2, "a sign"),
    ("1 / 0 > 1", "type", 1, "division by zero"),
    ("files.changed_count % 0 > 1", "type", 1, "division by zero"),
    ("1 // (1 - 1) > 1", "type", 1, "division by zero"),
    ("1e300 * 1e300 - 1e300 * 1e300 > 0", "bound", 1, "no number"),
    ("['a', 1] == ['a']", "type", 1, "one type"),
    ("[['a']] == ['a']", "type", 2, "a list holds"),
    ("(1 if b.flag else 'a') == 1", "type", 2, "one type"),
    ("files.changed['a'] == 'b'", "name", 1, "no field"),
    ("files.changed[b.flag] == 'b'", "syntax", 15, "one literal"),
    ("files.changed[true] == 'b'", "syntax", 15, "one literal"),
    ("branch.name[0] == 'b'", "type", 1, "no items"),
    ("files.changes[0].pth == 'b'", "name", 1, "'path'"),
    ("files.changes[0].zzzzz == 'b'", "name", 1, "lines, path"),
    ("files.changed_count.x > 1", "name", 1, "no field"),
    ("tool.input.__class__ == 1", "name", 1, "begins with '_'"),
    ("branch.name.__len__() > 1", "name", 1, "begins with '_'"),
    ("min(1) > 1", "type", 1, "2 to 16"),
    ("max(files.changed) > 1", "type", 1, "any("),
    ("abs('a') > 1", "type", 5, "abs()"),
    ("has(1)", "type", 5, "asks about a fact"),
    ("has(len(files.changed))", "type", 5, "asks about a fact"),
    ("default(tests.failed, 'a') > 1", "type", 23, "fact's type"),
    ("any(b.flag)", "type", 5, "takes a loop"),
    ("count(files.changed) > 1", "type", 7, "len(LIST)"),
    ("any(x == y for x in files.changed for y in files.changed)", "syntax", 1, "nested"),
    ("any(any(x == y for x in files.changed) for y in files.changed)", "syntax", 5, "nested"),
    ("any(files == 'a' for files in files.changed)", "name", 22, "taken"),
    ("any(_ == 'a' for _ in files.changed)", "name", 18, "taken"),
    ("any(true for a, c in files.changed)", "syntax", 14, "one plain variable"),
    ("any(x == 'a' for x in branch.name)", "type", 23, "not a list"),
    ("any(x == 'a' for x in [])", "type", 23, "not a list"),
    ("any(x for x in files.changed)", "type", 5, "not true or false"),
    ("sum(x for x in files.changed) > 1", "type", 5, "sum()"),
    ("(x for x in files.changed)", "syntax", 1, "any()"),
    ("[x for x in files.changed] == []", "syntax", 1, "comprehension"),
    ("len(*files.changed) > 1", "syntax", 5, "'*'"),
    ("max(files.changed, key=len) > 1", "syntax", 23, "'='"),
    ("glob(files.changed, '*')", "type", 6, "any(glob(x, …) for x in files.changed)"),
    ("glob(branch.name, '[a')", "pattern", 19, "never closed"),
    ("glob(branch.name, '')", "pattern", 19, "empty"),
    ("glob(branch.name, [])", "pattern", 19, "a text or a list of texts"),
    ("glob(branch.name, 5)", "pattern", 19, "a text or a list of texts"),
    ("glob(branch.name, environment)", "pattern", 19, "limits:"),
    ("glob(5, '*')", "type", 6, "needs a text"),
    ("glob('*.py', branch.name)", "pattern", 1, "the text comes first: glob(branch.name, '*.py')"),
    ("any(f.endswith('.py') for f in files.changes)", "type", 5, "write f.path"),
    ("branch.name.title() == 'c'", "name", 1, "methods of a text are endswith, lower, replace, split, startswith"),
    ("files.changed_count > '3'", "type", 1, "write 3, without quotes"),
    ("files.changed == 'x'", "type", 1, "'files.changed' and 'x' write 'x' in files.changed"),
    ("matches(branch.name, '(?=a)')", "pattern", 22, "perl operator"),
    ("matches(branch.name, 'a(?i)b')", "pattern", 22, "at the start"),
    ("matches(branch.name, '(a{1,500}){1,500}')", "pattern", 22, ""),
    ("branch.name.startswith([1])", "type", 24, "startswith()"),
    ("branch.name.startswith()", "type", 1, "1 argument,"),
]


@pytest.mark.parametrize(("text", "kind", "column", "words"), REFUSED, ids=[text[:40] for text, *_ in REFUSED])
def test_refusal_names_kind_place_and_remedy(text: str, kind: str, column: int, words: str) -> None:
    with pytest.raises(ConditionError) as caught:
        check(text, SCHEMA)
    problem = caught.value.problems[0]
    assert (problem.kind, problem.line) == (kind, 1)
    assert words in f"{problem.message} {problem.hint}"
    if "bound" not in kind:
        assert problem.column == column
    assert len(str(problem)) <= 500 and str(problem).isprintable()


def test_independent_problems_are_reported_at_once() -> None:
    with pytest.raises(ConditionError) as caught:
        check("files.zzz > 1 and (b.flag or branch.nme == 'a') and tool.name == 'x'", SCHEMA)
    assert [problem.column for problem in caught.value.problems] == [1, 30, 66]


def test_places_are_those_of_the_file() -> None:
    position = Place("hooks.yaml", 10, 20)
    with pytest.raises(ConditionError) as caught:
        check("(b.flag and\nfiles.zzz > 1)", SCHEMA, position=position)
    assert str(caught.value).startswith("hooks.yaml:11:20: 'files' has no fact 'zzz'")
    with pytest.raises(ConditionError) as caught:
        check("  'é' == branch.nme", SCHEMA, position=position)
    assert str(caught.value).startswith("hooks.yaml:10:29: ")
    with pytest.raises(ConditionError) as caught:
        check("\n\n  b.flag and b.flg", SCHEMA)
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (3, 14)


ACCEPTED = [
    "b.flag\n",
    "  b.flag  # why",
    "# why\nb.flag",
    "(b.flag and\n not b.flag)",
    "(\r\nb.flag\r\n)",
    "files['changed_count'] > 1_0",
    "files . changed_count > 0x14",
    "b.flag == False",
    "null == null",
    "r'\\d' == '\\\\d'",
    "'\\d' == r'\\d'",
    "('a',) == ['a']",
    "environment == 'ci'",
    "out == 1",
    "out.a[0].b > 1",
    "out > out",
    "out in [1, 2]",
    "'a' in out",
    "out",
    "len(out) > 1 and abs(out) > 1",
    "any(x.a > 1 for x in out)",
    "branch.name.startswith(('a', 'b'))",
    "default(tool.input.x, 1) > 1",
    "sum(x for x in [1, 2]) > 1",
    "branch.name.startswith(out)",
    "(out if b.flag else 1) == 1",
    "+files.changed_count > 1",
    "contains(tool.input, 'a')",
    "out.x in tool.input",
    "out in branch.name",
    "glob(out, '*')",
    "min(out, 1) + 1 > 1",
    "'\\n' in branch.name",
    "b.flag if b.flag else true",
    "matches(branch.name, '[(?i)]') and matches(branch.name, '[\\\\(?i)]')",
    "count(x for x in files.changed) > 1",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted(text: str) -> None:
    plan = check(text, SCHEMA).plan
    assert json.loads(json.dumps(plan)) == plan
    build(plan, {path: index for index, path in enumerate(SCHEMA.facts)})


def test_constants_become_part_of_the_plan() -> None:
    constants = {"limits.max": 3, "limits.names": ("a", "b"), "limits.re": "^a"}
    checked = check("files.changed_count > limits.max and branch.name in limits.names", SCHEMA, constants=constants)
    assert checked.reads == {"files.changed_count", "branch.name"}
    check("matches(branch.name, limits.re) and glob(branch.name, limits.names)", SCHEMA, constants=constants)
    with pytest.raises(ConditionError, match="'max'"):
        check("files.changed_count > limits.maxx", SCHEMA, constants=constants)
    with pytest.raises(ConditionError, match="namespace"):
        check("limits > 1", Schema({}), constants=constants)
    with pytest.raises(ConditionError, match="taken"):
        check("any(limits == 'a' for limits in files.changed)", SCHEMA, constants=constants)


def test_patterns_that_vary_are_checked_for_every_value() -> None:
    variants = {"limits.globs": [["*.py"], ("a", "b")], "limits.word": ["^a", "^b"]}
    checked = check("glob(branch.name, limits.globs) or matches(branch.name, limits.word)", SCHEMA, variants=variants)
    condition = build(json.loads(json.dumps(checked.plan)), {"branch.name": 0, "limits.globs": 1, "limits.word": 2})
    assert condition(["b", ["a", "b"], "^a"]) is True
    assert condition(["x.py", ["*.py"], "^a"]) is True
    assert condition(["c", ["*.py"], "^b"]) is False
    with pytest.raises(ConditionError, match="never closed"):
        check("glob(branch.name, limits.globs)", SCHEMA, variants={"limits.globs": [["a"], ["[a"]]})


def test_each_gives_the_items_that_a_condition_holds_for() -> None:
    each = check_each("c in files.changes", SCHEMA)
    checked = check("c.lines > 1", SCHEMA, item=(each.var, each.item))
    found = build_each(each.plan, checked.plan, each.var, {"files.changes": 0})
    items = [{"path": "a", "lines": 1}, {"path": "b", "lines": 2}]
    assert found([items]) == ([items[1]], None)
    nested = check("any(c.path == p for p in ['b', 'c']) and b.flag", SCHEMA, item=(each.var, each.item))
    assert build_each(each.plan, nested.plan, "c", {"files.changes": 0, "b.flag": 1})([items, True]) == (
        [items[1]],
        None,
    )
    for text in (
        "c",
        "c in files.changes in files.changed",
        "files in files.changes",
        "c in branch.name",
        "c not in files.changed",
        "c in",
    ):
        with pytest.raises(ConditionError):
            check_each(text, SCHEMA)
    with pytest.raises(ConditionError, match=r"write c in files\.changes"):
        check_each("for c in files.changes", SCHEMA)
    with pytest.raises(ConditionError, match="taken"):
        check("any(c == 'a' for c in files.changed)", SCHEMA, item=(each.var, each.item))


def test_path_spelled_with_keys_is_the_same_path() -> None:
    assert run("git['branch'] == 'feature/x-1'") is True
    assert run("tool['input']['command'].startswith('rm')") is True


@pytest.mark.parametrize("text", ["b.flag\nb.flag", "b.flag\rb.flag", "b.flag # a\n\n b.flag"])
def test_two_conditions_in_two_lines_ask_to_be_joined(text: str) -> None:
    with pytest.raises(ConditionError) as caught:
        check(text, SCHEMA)
    (problem,) = caught.value.problems
    assert problem.line == text.count("\n") + 1 or "\r" in text
    assert problem.hint == "a condition is one expression: join its lines with 'and' or 'or'"


def test_a_condition_goes_on_in_the_next_line() -> None:
    lines = "b.flag   # the first\n\n  and files.changed_count\n > 3 # the last\n"
    assert check(lines, SCHEMA).plan == check("b.flag and files.changed_count > 3", SCHEMA).plan
    with pytest.raises(ConditionError) as caught:
        check("b.flag\n  and branch.name > 'é' and (\n  files.chnged_count > 3)", SCHEMA)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (3, 3)
