"""How large plans are, and what they cost."""

from __future__ import annotations

import pytest

from ahp.conditions.guards import cost, walk
from ahp.conditions.typecheck import ConditionError, check
from tests.conditions.test_typecheck import SCHEMA


def test_static_cost_counts_loops() -> None:
    plain, loop = check("files.changed_count > 1", SCHEMA), check("any(x == 'a' for x in files.changed)", SCHEMA)
    assert plain.cost == cost(plain.plan) < 10 < 1000 < loop.cost
    assert [node[0] for node in walk(plain.plan)] == [">", "fact", "const"]


def test_chained_comparisons_do_not_multiply_the_plan_without_end() -> None:
    text = "b.flag"
    for _ in range(6):
        text = f"0 < (1 if {text} else 2) < (1 if {text} else 2) < 3" if len(text) < 900 else text
    try:
        assert check(text, SCHEMA).cost < 10_000
    except ConditionError as error:
        assert error.problems[0].kind == "bound"


def test_a_loop_of_everything_is_too_costly() -> None:
    body = " or ".join(f"matches(x, 'a{n}')" for n in range(60))
    with pytest.raises(ConditionError, match="too large"):
        check(f"any({body} for x in files.changed)", SCHEMA)
