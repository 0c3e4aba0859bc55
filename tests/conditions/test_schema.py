"""Schemas of facts: which entries are read, and how types join."""

from __future__ import annotations

import pytest

from ahp.conditions.schema import ANY, Schema, SchemaError, Type, join, type_of_value
from ahp.conditions.typecheck import check


def test_schema_entries_are_checked() -> None:
    for entries in (
        {"a": 1},
        {"a": {}},
        {"a": {"type": "strange"}},
        {"a": {"type": "int", "wrong": 1}},
        {"a": {"type": "number"}},
        [],
    ):
        with pytest.raises(SchemaError):
            Schema(entries)  # type: ignore[arg-type]
    schema = Schema({"a.b": "int", "c": {"type": "list"}, "d": {"type": "int", "triggers": ["pre-commit"], "doc": "x"}})
    assert "a.b" in schema and [fact.path for fact in schema] == ["a.b", "c", "d"]
    assert schema.facts["d"].type == Type("int") and schema.names_under("a") == ["b"]
    with pytest.raises(SchemaError):
        check("a.b > limits.x", schema, constants={"limits.x": object()})


def test_types_join_to_the_one_that_holds_both() -> None:
    whole, real, text, none = type_of_value(1), type_of_value(1.5), type_of_value("a"), type_of_value(None)
    assert join([whole, real]) == Type("float") and join([]) is None
    assert join([none, text]) == join([text, none]) == Type("str", nullable=True)
    assert join([ANY]) is join([text, ANY]) is join([ANY, none]) is ANY
    assert join([type_of_value([1]), type_of_value([None])]) == Type("list", Type("int", nullable=True))
    assert type_of_value({}) == Type("map") and str(type_of_value([1.5])) == "list[float]"
    for pair in ([whole, text], [type_of_value(True), whole], [type_of_value([1]), type_of_value(["a"])]):
        with pytest.raises(SchemaError):
            join(pair)
