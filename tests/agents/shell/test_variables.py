from __future__ import annotations

import pytest

from ahp.agents.shell.commands import read
from ahp.agents.shell.marks import Marks, is_known
from ahp.agents.shell.variables import Value, Variables


def variables(**values: Value) -> tuple[Variables, Marks]:
    known = Marks()
    found = Variables(known)
    for name, value in values.items():
        found.set(name, value)
    return found, known


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("$X", "a.b.b"),
        ("${X}", "a.b.b"),
        ("${X:-y}", "a.b.b"),
        ("${X:=y}", "a.b.b"),
        ("${X#a.}", "b.b"),
        ("${X##a}", ".b.b"),
        ("${X%.b}", "a.b"),
        ("${X%%c}", "a.b.b"),
        ("${X/b/c}", "a.c.b"),
        ("${X//b/c}", "a.c.c"),
        ("${X/b}", "a.."[:2] + ".b"),
        ("${X:2}", "b.b"),
        ("${X:0:1}", "a"),
        ("${X^^}", "A.B.B"),
        ("${X,,}", "a.b.b"),
        ("${E:+y}", ""),
        ("${N}", "X"),
        ("${!N}", "a.b.b"),
        ("${A[1]}", "q"),
        ("${A}", "p"),
        ("${A[7]}", ""),
    ],
)
def test_what_is_known_is_computed(raw: str, value: str) -> None:
    found, _ = variables(X="a.b.b", N="X", E="", A=["p", "q"])
    assert found.expand(raw, True) == value


def test_arrays_and_arguments_are_several_words() -> None:
    found, _ = variables(A=["p", "q"])
    found.bind("@", ["1", "2"])
    assert [found.expand(raw, True) for raw in ("${A[@]}", "${A[*]}", "$@")] == [["p", "q"], ["p", "q"], ["1", "2"]]


@pytest.mark.parametrize("raw", ["${X#?}", "${X%$Y}", "${X/#a/b}", "${X:$Y}", "${X:0:n}", "${X@Q}", "${#X}", "${A[i]}"])
def test_what_takes_more_to_tell_may_be_anything(raw: str) -> None:
    found, known = variables(X="abc", A=["p"])
    value = found.expand(raw, True)
    assert isinstance(value, str)
    assert [(part.source, part.origin) for part in known.of(value)] == [(raw, "script")]


@pytest.mark.parametrize(
    ("raw", "origin", "quoted", "pattern"),
    [
        ("$X", "outside", True, "**"),
        ("$HOME", "outside", True, "~"),
        ("${PWD}", "outside", True, "."),
        ("${HOME%/x}", "outside", True, "**"),
        ("$@", "outside", False, "**"),
        ("$#", "outside", True, "**"),
        ("${X:-y}", "outside", True, "**"),
        ("${X:---n}", "script", True, "**"),
        ("${X:+$Y}", "script", True, "**"),
    ],
)
def test_what_the_script_never_set_comes_from_outside(raw: str, origin: str, quoted: bool, pattern: str) -> None:
    found, known = variables()
    value = found.expand(raw, True)
    assert isinstance(value, str)
    assert [(p.origin, p.quoted, p.pattern) for p in known.of(value)] == [(origin, quoted, pattern)]


def test_a_name_with_two_values_or_a_long_one_is_not_known() -> None:
    found, _ = variables(X="a", L="x" * 2000, P="a")
    found.set("X", "b")
    found.set("P", "b", appends=True)
    assert not any(is_known(str(found.expand(raw, True))) for raw in ("$X", "$L", "$P"))


def test_what_was_set_is_forgotten_where_it_does_not_hold() -> None:
    found, _ = variables(X="a")
    kept = found.copy()
    found.set("Y", "b")
    found.bind("1", "c")
    found.restore(kept, ["1"])
    assert (found.expand("$Y", True), is_known(str(found.expand("$1", True)))) == ("b", False)
    found.restore(kept)
    assert not is_known(str(found.expand("$Y", True)))


def test_a_suffix_taken_off_an_unknown_name_keeps_its_folder() -> None:
    found, known = variables()
    from ahp.agents.shell.marks import Unknown

    found.bind("f", known.mark(Unknown("$f", pattern="src/**")))
    value = found.expand("${f%.txt}", True)
    assert isinstance(value, str)
    assert (known.pattern(value), known.of(value)[0].origin) == ("src/**", "outside")


ENVIRONMENT = {"VENV": "/x/.venv", "SHELL": "/bin/bash", "HOME": "/home/me", "BAD": "git commit -n", "PWD": "/p"}


@pytest.mark.parametrize(
    ("script", "program"),
    [
        # One word that ends in a name: it is that program, as of a path that is written out.
        ('"$VENV/bin/pytest" -q', "pytest"),
        ("$VENV/bin/git commit -n", "git"),
        ("${VENV}/bin/pytest", "pytest"),
        ("${VENV:-/opt}/bin/pytest", "pytest"),
        ("${PY:-python3} -m build", "python3"),
        ("$SHELL x.sh", "bash"),
        ("$HOME/.local/bin/uv sync", "uv"),
        ("$PWD/x.sh", "x.sh"),
        ("$(pwd)/x.sh", "x.sh"),
        ("$(which git) commit -n", "git"),
        ('"$(command -v python3)" x.py', "python3"),
        ("$(go env GOPATH)/bin/lint run", "lint"),
        ('"$(git rev-parse --show-toplevel)/x.sh"', "x.sh"),
        ("$(npm bin)/eslint .", "eslint"),
        # What may be more than one word, or another one.
        ('"$OTHER/bin/pytest"', ""),
        ("$BAD/bin/pytest", ""),
        ("$VENV/$X", ""),
        ("$VENV/*/pytest", ""),
        ("${VENV/x/y}/bin/pytest", ""),
        ("${!VENV}/bin/pytest", ""),
        ("$(cat f)/bin/pytest", ""),
        ("$(which ./pytest)", ""),
        ("$(go env GOPATH)", ""),
        ("$(GOPATH='git push -f #' go env GOPATH)/bin/lint", ""),
        ("export GOPATH='git push -f #'; $(go env GOPATH)/bin/lint", ""),
        ("go() { echo git; }; $(go env GOPATH)/bin/lint", ""),
        # What the text may set, or puts there.
        ("VENV='git push -f #' sh -c '$VENV/bin/pytest'", "git"),
        ("env V\"ENV\"='git push -f #' sh -c '$VENV/bin/pytest'", "git"),
        ("export V\"ENV\"='git push -f #'; $VENV/bin/pytest", ""),
        ("for i in 1 2; do $VENV/bin/pytest; VENV='git push -f'; done", ""),
        ("read VENV < f; $VENV/bin/pytest", ""),
        ("export $(cat .env); $VENV/bin/pytest", ""),
        (". ./env.sh; $VENV/bin/pytest", ""),
        ("IFS=/; $VENV/bin/pytest", ""),
        ("cp $(which git) .venv/bin/pytest; $VENV/bin/pytest commit -n", ""),
        ("echo 'git push -f' > x.sh; $PWD/x.sh", ""),
    ],
)
def test_the_environment_may_tell_which_program_runs(script: str, program: str) -> None:
    found = [one for one in read(script, ENVIRONMENT) if one.args != ["f"] or one.program != "cat"]
    is_open = any("program" in one.unresolved_at for one in found)
    assert is_open == (program == "")
    assert not program or program in [one.program for one in found]


def test_without_an_environment_a_variable_names_no_program() -> None:
    assert read("$VENV/bin/pytest")[-1].unresolved_at == ["program"]
    assert read("$HOME/bin/uv", {})[-1].unresolved_at == ["program"]
