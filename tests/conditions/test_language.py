"""One entry of the table adds a function: it is checked, evaluated, compared, documented and tried like the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import find

from ahp.conditions import closures, language, reference
from ahp.conditions.compare import conjuncts, normal, stricter
from ahp.conditions.evaluate import Undecided, build
from ahp.conditions.guards import cost, walk
from ahp.conditions.language import OPERATIONS, Operation, callables, children, with_children
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import Checked, ConditionError, check
from tests.conditions.cases import run
from tests.conditions.strategies import texts
from tests.conditions.test_docs import FACTS, SCHEMA, examples, generated

BASENAME = language.plain(
    "basename",
    ("text",),
    "str",
    lambda path: path[path.rfind("/") + 1 :],
    "what follows the last slash",
    "basename(files.changed[0]) == 'app.py'",
)


@pytest.fixture
def basename(monkeypatch: pytest.MonkeyPatch) -> Iterator[Operation]:
    monkeypatch.setitem(OPERATIONS, "basename", BASENAME)
    yield BASENAME


@pytest.fixture
def riddle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A function of which the table says nothing but how to call and to run it."""
    known = Operation("riddle", ("text",), make=closures.call(str.lower, 1, 1), call=language.FUNCTION)
    monkeypatch.setitem(OPERATIONS, "riddle", known)
    yield


def checked(text: str) -> Checked:
    return check(text, SCHEMA)


@pytest.mark.usefixtures("basename")
def test_it_is_checked() -> None:
    assert checked("basename(branch.name) == 'x-1'").reads == {"branch.name"}
    for text, words in (
        ("basename(files.changed) == 'x'", "write any(basename(x, …) for x in files.changed)"),
        ("basename(1) == 'x'", "basename() needs a text"),
        ("basename() == 'x'", "takes 1 argument, not 0"),
        ("basename(branch.name) == 1", "never equals"),
        ("basename(branch.name)", "a text, not true or false"),
        ("basname(branch.name) == 'x'", "did you mean 'basename'?"),
        ("any(basename == 'x' for basename in files.changed)", "cannot be a variable's name"),
    ):
        with pytest.raises(ConditionError) as caught:
            checked(text)
        assert words in str(caught.value), text


@pytest.mark.usefixtures("basename")
def test_it_is_evaluated_and_agrees_with_the_reference() -> None:
    for sample in BASENAME.samples:
        assert run(sample, FACTS, SCHEMA) is True
    assert run("any(basename(c.path) == 'app.py' for c in files.changes)", FACTS, SCHEMA) is True
    assert run("basename(tool.input.command) == ''", FACTS, SCHEMA) is True
    assert run("basename(tool.input.timeout) == 'x'", FACTS, SCHEMA) == "null_operand"
    assert run("basename(tool.input.nosuch) == 'x'", FACTS, SCHEMA) == "missing_fact"
    for text in ("basename(branch.name) in ['a', 'x']", "basename(tool.input.command).startswith('b')"):
        assert reference.disagreement(checked(text), SCHEMA) is None


@pytest.mark.usefixtures("basename")
def test_nothing_wrong_is_proven_of_it() -> None:
    one, other = checked("basename(branch.name) == 'a'"), checked("basename(branch.name) in ['a', 'b']")
    assert one.constant is other.constant is None
    assert checked("basename(branch.name) != 'a' and basename(branch.name) != 'b'").constant is None
    assert (stricter(other, one), stricter(one, other)) == ("stronger", "weaker")
    assert conjuncts(one) != conjuncts(checked("branch.name == 'a'"))


@pytest.mark.usefixtures("basename")
def test_it_is_documented_and_tried() -> None:
    assert "| `basename(text)` str | what follows the last slash |" in generated()
    assert (BASENAME.samples[0], "true") in examples()
    assert "basename(" in find(texts(1), lambda text: "basename(" in text)


@pytest.mark.usefixtures("riddle")
def test_unknown_is_unknown() -> None:
    texts = (
        "riddle(branch.name)",
        "not riddle(branch.name)",
        "riddle(branch.name) == 'a'",
        "riddle(branch.name) != 'a'",
        "riddle(branch.name) > 1",
        "len(riddle(branch.name)) > 1",
        "riddle(branch.name) in ['a', 'b']",
    )
    conditions = [checked(text) for text in texts]
    assert [one.constant for one in conditions] == [None] * len(texts)
    for one in conditions:
        for other in conditions:
            assert stricter(one, other) == ("equal" if one is other else "unknown"), (one.text, other.text)


def test_an_argument_that_is_null_is_undecided() -> None:
    schema = Schema({"a.s": {"type": "str", "nullable": True}})
    condition = build(check("' x '.strip(a.s) == 'x'", schema).plan, {"a.s": 0})
    with pytest.raises(Undecided, match=r"null_operand: a\.s"):
        condition([None])
    assert condition([" "])


def test_true_in_a_list_of_map_values_is_not_one() -> None:
    schema = Schema({"a.n": {"type": "int"}, "a.m": {"type": "map"}})
    condition = build(check("a.n in [a.m.k, 2]", schema).plan, {"a.n": 0, "a.m": 1})
    assert not condition([1, {"k": True}]) and condition([1, {"k": 1}]) and condition([2, {"k": True}])


def test_every_entry_can_be_walked() -> None:
    plan = checked("sum(c.insertions for c in files.changes if c.path != '') + 1 > 2 and has(coverage.current)").plan
    for node in walk(plan):
        assert with_children(node, children(node)) == node
        assert cost(node) >= OPERATIONS[node[0]].weight
    assert all(entry.make or name in ("contains", "exists_one") for name, entry in OPERATIONS.items())
    assert normal(plan, {}).text == normal(["not", ["not", plan]], {}).text
    assert set(callables()) == {*callables("function"), *callables("method"), *callables("loop")}
