"""Facts on which conditions are tried."""

from __future__ import annotations

from ahp.conditions.evaluate import MISSING
from ahp.conditions.samples import MAX_SAMPLES, fact_sets
from ahp.conditions.typecheck import check
from tests.conditions.test_reference import SCHEMA


def test_samples_are_few_deterministic_and_at_the_boundaries() -> None:
    checked = check("a.n > 1 and a.s == 'q' and a.e == 'x' and a.m.k == 'v'", SCHEMA)
    found = fact_sets([checked.plan], checked.types)
    assert found == fact_sets([checked.plan], checked.types) and len(found) <= MAX_SAMPLES
    assert {0, 1, 2, 3} <= {row["a.n"] for row in found if row["a.n"] is not MISSING}
    assert any(row["a.n"] is MISSING for row in found) and "q" in [
        row["a.s"] for row in found if row["a.s"] is not MISSING
    ]
    assert {row["a.e"] for row in found if row["a.e"] is not MISSING} == {"x", "y"}
    wide = check(" and ".join(f"b.n{n} > {n}" for n in range(40)), SCHEMA)
    assert len(fact_sets([wide.plan], wide.types)) == MAX_SAMPLES
    assert fact_sets([["const", True]], {}) == [{}]


def test_a_pattern_that_varies_gives_texts_too() -> None:
    types = {"a.s": SCHEMA.facts["a.s"].type}
    plan = ["glob", ["fact", "a.s"], ["fact", "limits.g"], [["*.rs"], "docs/**"]]
    found = fact_sets([plan], types)
    assert {"ab.rs", "docs/a/b"} <= {row["a.s"] for row in found if row["a.s"] is not MISSING}
    patterns = [row["limits.g"] for row in found if row["limits.g"] is not MISSING]
    assert all(one in (["*.rs"], "docs/**") for one in patterns), "no value that it never has"
