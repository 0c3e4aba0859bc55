from __future__ import annotations

from ahp.shell import synopsis
from ahp.shell.meanings import Meanings


def test_a_line_reads_like_the_synopsis_of_a_manual() -> None:
    found = synopsis._parsed(
        "-k,--keep=WRITE -ab=VALUE -i,--in-place=?INPLACE ~-out=READ -e=CODE! -q | CODE READ...", False
    )
    assert found.spec.longs == ("--keep=", "--in-place", "-out=")
    assert found.spec.shorts == {"k": "--keep", "a": "-a", "b": "-b", "i": "--in-place", "e": "-e", "q": "-q"}
    assert (found.spec.valued, found.spec.glued, found.spec.whole) == ("kabe", "i", True)
    assert (found.roles["--keep"], found.roles["-k"], found.roles["-out"]) == ("WRITE", "WRITE", "READ")
    assert (found.replaces, found.operands, found.permutes) == ({"-e"}, ("CODE", "READ..."), True)


def test_a_command_ends_the_options() -> None:
    assert not synopsis._parsed("| VALUE COMMAND", False).permutes


def test_git_negates_what_it_names() -> None:
    assert synopsis._parsed("--verify --no-stat", True).spec.longs == ("--verify", "--no-stat", "--no-verify")


def test_every_line_of_the_tables_speaks_of_roles_that_there_are() -> None:
    known = {*Meanings.VALUES, *Meanings.RESTS, "VALUE", "VERB", "ASSIGN", "IMAGE", "INPLACE", "MODULE"}
    for program in synopsis._lines():
        found = synopsis.of(program)
        assert found is not None, program
        assert {*found.roles.values(), *(one.removesuffix("...") for one in found.operands)} <= known, program
        assert len(set(found.spec.longs)) == len(found.spec.longs), program


def test_a_program_without_a_line_has_none() -> None:
    assert synopsis.of("no-such-program") is None


def test_which_programs_are_listed_and_which_are_not_of_the_system() -> None:
    assert (synopsis.is_listed("newtool"), synopsis.is_listed("git"), synopsis.is_foreign("newtool")) == (
        False,
        True,
        True,
    )
    assert (synopsis.is_foreign("docker"), synopsis.is_foreign("gh"), synopsis.is_foreign("cat")) == (
        True,
        False,
        False,
    )
