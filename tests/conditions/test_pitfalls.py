"""Literals that a fact never or seldom is: refused, or advice; what is meant passes in silence."""

from __future__ import annotations

import pytest

from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check

SCHEMA = Schema(
    {
        "files.changed": {"type": "list[str]", "means": "path"},
        "files.changes": {"type": "list[record]", "fields": {"path": {"type": "str", "means": "path"}}},
        "branch.name": {"type": "str", "means": "branch"},
        "coverage.current": {"type": "float", "means": "percent", "min": 0, "max": 100},
        "tool.args": {"type": "list[str]"},
        "tool.commands": {"type": "list[record]", "fields": {"program": {"type": "str", "means": "program"}}},
        "time.date": {"type": "str", "means": "date"},
    }
)
LIMITS = {
    "limits.one": "main",
    "limits.several": ["main", "next"],
    "limits.patterns": ["docs", "*.md"],
    "limits.upper": "*.PNG",
}


def advice(text: str) -> list[str]:
    found = check(text, SCHEMA, constants=LIMITS).advice
    return [f"{one.message}; {one.hint}" for one in found if one.kind == "pitfall"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("any(f == './src/a' for f in files.changed)", "no path begins with './'; paths begin at the top"),
        ("any(glob(f, './src/**') for f in files.changed)", "write 'src/**'"),
        ("any(f.startswith('./') for f in files.changed)", "no path begins with './'"),
        ("any(f.startswith(['src', '/lib']) for f in files.changed)", "no path begins with '/'"),
        ("any(c.path in ['./a', 'b'] for c in files.changes)", "write 'a'"),
        ("contains(files.changed, './a')", "write 'a'"),
        ("branch.name == 'refs/heads/main'", "no branch begins with 'refs/heads/'; a branch is its short name: write"),
        ("branch.name in ['refs/heads/main']", "write 'main'"),
        ("glob(branch.name, 'refs/heads/*')", "write '*'"),
    ],
)
def test_what_a_fact_never_is_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConditionError) as caught:
        check(text, SCHEMA, constants=LIMITS)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "any(f == '*.env' for f in files.changed)",
            "'f' is compared with '*.env' letter by letter; ask for a pattern",
        ),
        ("any(f.endswith('*.env') for f in files.changed)", "glob(f, '*.env')"),
        ("contains(files.changed, '*.env')", "glob(x, '*.env')"),
        (
            "'src/' in files.changed",
            "the path of a file is never 'src/', a folder; write any(glob(x, 'src/') for x in files.changed)",
        ),
        ("any(c.path == 'src/' for c in files.changes)", "write glob(c.path, 'src/')"),
        ("branch.name == 'release/*'", "glob(branch.name, 'release/*')"),
        ("any(glob(f, 'docs') for f in files.changed)", "for all that is in such a folder: 'docs/'"),
        ("any(glob(f, limits.patterns) for f in files.changed)", "'docs/'"),
        ("coverage.current < 0.8", "a percentage from 0 to 100, 0.8 is less than one percent; write 80"),
        ("0.5 > default(coverage.current, 100)", "write 50"),
        (
            "branch.name in limits.one",
            "one text: `in` asks whether 'branch.name' is a part of it; write a list: [main]",
        ),
        ("branch.name in 'main'", "write ['main']"),
        ("time.date == '01.02.2026'", "no day is '01.02.2026'; a date is written as '2026-02-09'"),
        ("time.date in ['2026-02-30', '2026-02-28']", "no day is '2026-02-30'"),
        ("time.date == '2026-02'", "no day is '2026-02'"),
        ("time.date < '2026-13-01'", "no day is '2026-13-01'"),
        ("'2026-2-1' <= time.date", "no day is '2026-2-1'"),
        (
            "any(c.program == 'git push' for c in tool.commands)",
            "'c.program' is the name of a program alone, never 'git push'; write 'git', and ask for its arguments",
        ),
        ("any(c.program in ['/bin/rm', 'mv'] for c in tool.commands)", "never '/bin/rm'; write 'rm'"),
        (
            "any(glob(f, '*.{js,ts}') for f in files.changed)",
            "in the pattern '*.{js,ts}' braces stand for themselves; write a list: ['*.js', '*.ts']",
        ),
        ("any(glob(a, '{a,b}/{c,d}') for a in tool.args)", "write a list: [PATTERN, …]"),
        ("matches(branch.name, '/fix/i')", "the slashes of '/fix/i' are searched for, too; write '(?i)fix'"),
        (
            "any(f.lower().endswith('.PY') for f in files.changed)",
            "'f.lower()' never has the letters of '.PY'; write '.py'",
        ),
        ("any(glob(f.lower(), ['*.py', '*.PY']) for f in files.changed)", "write '*.py'"),
        ("branch.name.lower() == 'Feature'", "write 'feature'"),
        ("branch.name.upper() in ['MAIN', 'Next']", "write 'NEXT'"),
        ("'Wip' in branch.name.lower()", "write 'wip'"),
    ],
)
def test_what_is_seldom_meant_is_advice(text: str, said: str) -> None:
    (found,) = advice(text)
    assert said in found


@pytest.mark.parametrize(
    "text",
    [
        "any(f == 'src/a.py' for f in files.changed)",
        "any(glob(f, ['docs/', '*.md', '/LICENSE', 'Makefile', 'src/**']) for f in files.changed)",
        "any(a == './x' or a.startswith('/') or a == '*' for a in tool.args)",
        "branch.name in limits.several or glob(branch.name, ['release/*', 'main'])",
        "coverage.current < 80 or coverage.current == 0.0 or coverage.current < coverage.current - 0.5",
        "'/' in branch.name",
        "time.date >= '2026-07' and time.date < '2027' or time.date == '2028-02-29' or time.date.startswith('2026-12')",
        "any(c.program == 'git' or c.program == '' or c.program.startswith('git-') for c in tool.commands)",
        "any(glob(f, ['{{name}}/**', '\\\\{a,b}', '{a}']) for f in files.changed)",
        "any(glob(f.lower(), ['*.[A-Z]', '*.py']) or f.lower().endswith('.py') for f in files.changed)",
        "any(glob(f, limits.upper) or glob(f.lower(), limits.upper) for f in files.changed)",
        "branch.name.lower() != branch.name and branch.name.lower() == 'straße'",
    ],
)
def test_what_is_meant_is_silent(text: str) -> None:
    assert advice(text) == []
