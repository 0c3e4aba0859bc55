"""The examples of docs/conditions.md have the values that stand behind them; its tables are those of the language.

Set AHP_TEST_WRITE_DOCS=1 to write the generated part anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from ahp.conditions import reference
from ahp.conditions.language import LOOP, METHOD, Operation, callables
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check
from tests.conditions.cases import run

FILE = Path(__file__).resolve().parent.parent.parent / "docs" / "conditions.md"
PAGE = FILE.read_text()
BEGIN = "AHP_TEST_WRITE_DOCS=1 pytest tests/conditions/test_docs.py -->\n"
END = "<!-- end of the generated part -->"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


FACTS = json.loads(blocks("json facts")[0])
LIMITS = {f"limits.{name}": value for name, value in FACTS["limits"].items()}
SCHEMA = Schema(
    {
        "files.changed": {"type": "list[str]"},
        "files.changed_count": {"type": "int", "min": 0},
        "files.insertions": {"type": "int", "min": 0},
        "files.deletions": {"type": "int", "min": 0},
        "files.changes": {
            "type": "list[record]",
            "fields": {"path": {"type": "str"}, "insertions": {"type": "int", "min": 0}},
        },
        "branch.name": {"type": "str"},
        "branch.is_detached": {"type": "bool"},
        "commit.subject": {"type": "str"},
        "coverage.current": {"type": "float", "optional": True, "min": 0, "max": 100},
        "coverage.threshold": {"type": "float", "min": 0, "max": 100},
        "coverage.previous": {"type": "float", "nullable": True, "min": 0, "max": 100},
        "checklist.completion_rate": {"type": "float", "min": 0, "max": 1},
        "tool.name": {"type": "str", "enum": ["shell", "write", "edit", "read"]},
        "tool.input": {"type": "map"},
    }
)


def examples() -> list[tuple[str, str]]:
    """Each text of the page with the comment at its end, and each sample of a function, which is true.

    A line that begins with a blank goes on with the one before.
    """
    lines = [
        line
        for block in blocks("condition")
        for line in re.sub(r"\n +", "\n ", block).replace("\n ", "\x01").splitlines()
    ]
    found = [line.replace("\x01", "\n ").rpartition("#") for line in lines]
    samples = [(sample, "true") for entry in callables().values() for sample in entry.samples]
    return [(text.rstrip(), wanted.strip()) for text, _, wanted in found] + samples


@pytest.mark.parametrize(("text", "wanted"), examples())
def test_example_has_the_value_behind_it(text: str, wanted: str) -> None:
    if wanted.startswith("refused"):
        with pytest.raises(ConditionError, match=re.escape(wanted.removeprefix("refused: "))):
            check(text, SCHEMA, constants=LIMITS)
        return
    checked = check(text, SCHEMA, constants=LIMITS)
    if wanted in ("never true", "always true"):
        assert checked.constant_problem is not None and wanted in checked.constant_problem.message
        return
    found = run(text, FACTS, SCHEMA, constants=LIMITS)
    assert (str(found).lower() if isinstance(found, bool) else found) == wanted
    assert reference.disagreement(checked, SCHEMA) is None


def forms(entry: Operation) -> list[str]:
    """How a function is called, with the kinds of its arguments."""
    if entry.call == LOOP:
        return [f"{entry.name}({entry.takes[0]} for x in list if condition)"]
    found = []
    for count in range(entry.least, len(entry.takes) + 1):
        kinds = list(entry.kinds(count))
        before = f"{kinds.pop(0)}." if entry.call == METHOD else ""
        more = ["…"] if entry.most > len(entry.takes) else []
        found.append(f"{before}{entry.name}({', '.join([*kinds, *more])})")
    return found


def row(entry: Operation) -> str:
    gives = "" if entry.gives == "value" else f" {entry.gives}"
    return f"| {', '.join(f'`{form}`' for form in forms(entry))}{gives.rstrip()} | {entry.doc} |"


def generated() -> str:
    return "\n".join(["", "| call, and what it gives | |", "| --- | --- |", *map(row, callables().values()), "", ""])


def test_the_tables_are_those_of_the_language() -> None:
    head, _, rest = PAGE.partition(BEGIN)
    _, _, tail = rest.partition(END)
    fresh = head + BEGIN + generated() + END + tail
    if os.environ.get("AHP_TEST_WRITE_DOCS"):
        FILE.write_text(fresh)
    assert FILE.read_text() == fresh


def test_every_function_says_what_it_does_and_has_a_sample() -> None:
    assert len(examples()) > 60
    for name, entry in callables().items():
        assert entry.doc and entry.samples and entry.takes, name
        assert all(f"{name}(" in sample for sample in entry.samples), name
