from __future__ import annotations

from ahp.agents.shell.marks import Unknown
from ahp.agents.shell.state import State
from ahp.agents.shell.usage import Usage


def test_files_are_remembered_where_they_lie() -> None:
    state = State()
    state.folder = "d"
    state.write("./f", "a")
    state.write("f", "b", appends=True)
    assert (state.files, state.stored("f"), state.stored("/d/f")) == ({"d/f": "ab"}, "ab", None)
    state.pipes["<(x)"] = "y"
    assert state.stored(state.marks.mark(Unknown("<(x)"))) == "y"


def test_copies_hold_what_their_sources_hold() -> None:
    state = State()
    state.write("a", "x")
    state.remember("cp", Usage(copies=[("a", "b"), ("c", "d"), ("h:e", "f")]), None)
    assert (state.files["b"], state.files["b/a"]) == ("x", "x")
    assert ("d" in state.files, [part.origin for part in state.marks.of(state.files["f"])]) == (False, ["output"])


def test_what_is_fetched_or_comes_in_is_remembered() -> None:
    state = State()
    state.remember("curl", Usage(fetched=["f"]), None)
    state.remember("tee", Usage(operands=["g"]), "x")
    state.remember("tee", Usage(operands=["h"]), None)
    assert (state.files["g"], len(state.marks.of(state.files["f"] + state.files["h"]))) == ("x", 2)


def test_read_takes_what_comes_in() -> None:
    state = State()
    state.read_into("read", ["read", "-r", "X"], "a b\n")
    state.read_into("read", ["read", "Y", "Z"], "a b\n")
    state.read_into("read", ["read", "N"], state.marks.mark(Unknown("< f", "file")) + "x")
    state.read_into("read", ["read", "T"], None)
    state.read_into("printf", ["printf", "-v", "P", "%s", "a"], None)
    values = {name: str(state.variables.expand(f"${name}", True)) for name in "XYNTP"}
    assert (values["X"], values["P"]) == ("a b", "a")
    assert {name: state.marks.of(values[name])[0].origin for name in "YNT"} == {
        "Y": "script",
        "N": "outside",
        "T": "outside",
    }


def test_what_may_be_read_is_bounded() -> None:
    state = State()
    assert state.affords(1)
    assert not state.affords(1 << 20)
