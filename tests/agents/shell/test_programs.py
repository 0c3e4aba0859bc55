from __future__ import annotations

from ahp.agents.shell import programs
from ahp.agents.shell.meanings import Meanings
from ahp.shell import git, synopsis


def test_every_line_of_the_tables_speaks_of_roles_that_there_are() -> None:
    known = {*Meanings.VALUES, *Meanings.RESTS, "VALUE", "VERB", "ASSIGN", "IMAGE", "INPLACE", "MODULE"}
    for program in (*synopsis.lines(git.TABLE), *synopsis.lines(programs.TABLE)):
        found = programs.of(program)
        assert found is not None, program
        assert {*found.roles.values(), *(one.removesuffix("...") for one in found.operands)} <= known, program
        assert len(set(found.spec.longs)) == len(found.spec.longs), program


def test_a_program_without_a_line_has_none() -> None:
    assert programs.of("no-such-program") is None


def test_which_programs_are_listed_and_which_are_not_of_the_system() -> None:
    assert (programs.is_listed("newtool"), programs.is_listed("git"), programs.is_foreign("newtool")) == (
        False,
        True,
        True,
    )
    assert (programs.is_foreign("docker"), programs.is_foreign("gh"), programs.is_foreign("cat")) == (
        True,
        False,
        False,
    )
