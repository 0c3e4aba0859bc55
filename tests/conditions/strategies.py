"""Random conditions that are in the language, and random facts for them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ahp.conditions.evaluate import MISSING
from ahp.conditions.language import LOOP, METHOD, OPERATIONS, callables
from ahp.conditions.schema import Schema

SCHEMA = Schema(
    {
        "n.a": {"type": "int", "min": 0, "max": 5},
        "n.b": {"type": "int", "nullable": True, "optional": True},
        "n.f": {"type": "float", "min": 0.0, "max": 1.0, "optional": True},
        "s.a": {"type": "str"},
        "s.b": {"type": "str", "nullable": True, "optional": True},
        "s.e": {"type": "str", "enum": ["x", "y"]},
        "b.a": {"type": "bool"},
        "b.b": {"type": "bool", "nullable": True, "optional": True},
        "l.s": {"type": "list[str]"},
        "l.r": {"type": "list[record]", "fields": {"p": {"type": "str"}, "n": {"type": "int"}}, "optional": True},
        "l.i": {"type": "list[int]"},
        "m.m": {"type": "map"},
    }
)
TEXTS = ["", "a", "x", "a/b.py", "main", "Zoë"]
NUMBERS = [0, 1, 2, 5, -1, 0.5, 1.0]

_scalar = st.sampled_from(
    [None, True, False, 0, 1, 1.0, 2, "a", "x", ["a"], {"k": "a"}, [1], [1.0], [True], {"k": 1}, {"k": True}]
)
_record = st.fixed_dictionaries({"p": st.sampled_from(TEXTS), "n": st.integers(-2, 6)})
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "n.a": st.integers(0, 5),
    "n.b": st.one_of(st.none(), st.integers(-2, 6)),
    "n.f": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    "s.a": st.sampled_from(TEXTS),
    "s.b": st.one_of(st.none(), st.sampled_from(TEXTS)),
    "s.e": st.sampled_from(["x", "y"]),
    "b.a": st.booleans(),
    "b.b": st.one_of(st.none(), st.booleans()),
    "l.s": st.lists(st.sampled_from(TEXTS), max_size=3),
    "l.r": st.lists(_record, max_size=3),
    "l.i": st.lists(st.integers(0, 2), max_size=2),
    "m.m": st.dictionaries(st.sampled_from(["k", "other"]), _scalar),
}


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    """Values by path for the whole schema, any of them absent."""
    return {path: MISSING if draw(st.integers(0, 6)) == 0 else draw(value) for path, value in _VALUES.items()}


def _join(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda found: template.format(*found))


def calls(gives: tuple[str, ...], depth: int, var: bool) -> list[st.SearchStrategy[str]]:
    """Calls of every function and method of the language that gives such a value, if its arguments are plain ones."""
    number, text = numbers(depth, var), texts(depth, var)
    kinds = {
        "number": number,
        "text": text,
        "text or texts": st.one_of(text, st.just("['a', 'x']")),
        "text or list or map": st.sampled_from(["s.a", "l.s", "m.m", "s.b", "m.m.k"]),
    }
    found = []
    for name, entry in callables().items():
        if entry.gives in gives and entry.call != LOOP and kinds.keys() >= set(entry.takes):
            for count in range(entry.least, len(entry.takes) + 1):
                arguments = ", ".join(["{}"] * (count - (entry.call == METHOD)))
                template = f"{{}}.{name}({arguments})" if entry.call == METHOD else f"{name}({arguments})"
                found.append(_join(template, *(kinds[kind] for kind in entry.kinds(count))))
    return found


ARITHMETIC = [name for name, entry in OPERATIONS.items() if entry.takes == ("number", "number") and not entry.call]


def numbers(depth: int, var: bool = False) -> st.SearchStrategy[str]:
    base = st.one_of(st.sampled_from([str(one) for one in NUMBERS]), st.sampled_from(["n.a", "n.b", "n.f", "m.m.k"]))
    if var:
        base = st.one_of(base, st.just("c.n"))
    if depth == 0:
        return base
    inner = numbers(depth - 1, var)
    return st.one_of(
        base,
        _join("({} {} {})", inner, st.sampled_from(ARITHMETIC), inner),
        _join("({} {} {})", inner, st.sampled_from(["/", "//", "%"]), st.sampled_from(["2", "n.a", "n.b"])),
        *calls(("int", "float", "number"), depth - 1, var),
        _join("-({})", inner),
        _join("default({}, {})", st.sampled_from(["n.b", "n.f"]), inner),
        _join("({} if {} else {})", inner, conditions(depth - 1, var), inner),
    )


def texts(depth: int, var: bool = False) -> st.SearchStrategy[str]:
    base = st.one_of(
        st.sampled_from([repr(one) for one in TEXTS]), st.sampled_from(["s.a", "s.b", "m.m['k']", "l.s[0]"])
    )
    if var:
        base = st.one_of(base, st.just("c.p"))
    if depth == 0:
        return base
    return st.one_of(
        base,
        *calls(("str",), depth - 1, var),
        _join("default({}, {})", st.sampled_from(["s.b", "m.m.k"]), texts(depth - 1, var)),
    )


def conditions(depth: int, var: bool = False) -> st.SearchStrategy[str]:
    """Texts of conditions; a few are refused (always dividing by zero, an enum's typo), which callers assume away."""
    order = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    number, text = numbers(min(depth, 1), var), texts(min(depth, 1), var)
    base = st.one_of(
        st.sampled_from(["b.a", "b.b", "true", "false", "b.b == true", "s.e == 'x'", "m.m.k", "s.e in ['x']"]),
        st.sampled_from(["l.s == ['a']", "l.s != ['a', 'x']", "l.s == []", "l.i == [1]", "l.i != [1.0]"]),
        _join("{} {} {}", number, order, number),
        _join("{} {} {} {} {}", number, order, number, order, number),
        _join("{} {} {}", text, order, text),
        _join(
            "{} {} {}",
            st.sampled_from(["n.a", "n.b"]),
            st.sampled_from(["in", "not in"]),
            st.sampled_from(["[1, 2, 5]", "[m.m.k, 2]"]),
        ),
        _join(
            "{} {} {}",
            text,
            st.sampled_from(["in", "not in"]),
            st.sampled_from(["['a', 'x']", "['a', m.m.k]", "l.s", "s.a", "m.m", "m.m.k"]),
        ),
        _join("{} is {}", st.sampled_from(["n.b", "s.b", "b.b", "m.m.k"]), st.sampled_from(["None", "not None"])),
        _join(
            "{} {} {}",
            st.just("m.m.k"),
            st.sampled_from(["==", "!="]),
            st.sampled_from(["1", "'a'", "true", "null", "m.m.other", "[1]", "[1.0]", "[true]"]),
        ),
        _join("has({})", st.sampled_from(["n.b", "s.b", "m.m.k", "l.r"])),
        *calls(("bool",), 0, var),
        _join("glob({}, {})", text, st.sampled_from(["'*.py'", "['a*', 'x']", "'a/**'", "'?'"])),
        _join("matches({}, {})", text, st.sampled_from(["'^a'", "'[a-z]+'", "'(?i)MAIN'"])),
        _join("contains({}, {})", st.sampled_from(["s.a", "l.s"]), text),
    )
    if depth == 0:
        return base
    inner = conditions(depth - 1, var)
    options = [
        base,
        _join("({} and {})", inner, inner),
        _join("({} or {})", inner, inner),
        _join("({} and {} or {})", inner, inner, inner),
        _join("not {}", _join("({})", inner)),
        _join("({} if {} else {})", inner, inner, inner),
    ]
    if not var:
        item = conditions(depth - 1, True)
        options += [
            _join("{}({} for c in l.r)", st.sampled_from(["any", "all"]), item),
            _join("{}({} for c in l.r if {})", st.sampled_from(["any", "all"]), item, item),
            _join("count({} for c in l.r if {}) {} 1", item, item, order),
            _join("sum({} for c in l.r if {}) {} 2", numbers(1, True), item, order),
            _join("{}(f == 'a' or f.startswith('x') for f in l.s)", st.sampled_from(["any", "all"])),
        ]
    return st.one_of(options)
