"""The examples of docs/conditions.md have the values that stand behind them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ahp.conditions import reference
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check
from tests.conditions.cases import run

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "conditions.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


FACTS = json.loads(blocks("json facts")[0])
LIMITS = {f"limits.{name}": value for name, value in FACTS["limits"].items()}
SCHEMA = Schema(json.loads(blocks("json schema")[0]))


def examples() -> list[tuple[str, str]]:
    """Each text with the comment at its end; a line that begins with a blank goes on with the one before."""
    lines = [
        line
        for block in blocks("condition")
        for line in re.sub(r"\n +", "\n ", block).replace("\n ", "\x01").splitlines()
    ]
    found = [line.replace("\x01", "\n ").rpartition("#") for line in lines]
    return [(text.rstrip(), wanted.strip()) for text, _, wanted in found]


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


def test_every_function_is_on_the_page() -> None:
    from ahp.conditions.spelling import FUNCTIONS, METHODS

    assert len(examples()) > 60
    for name in FUNCTIONS:
        assert f"`{name}(" in PAGE, name
    for name in METHODS:
        assert f".{name}(" in PAGE, name
