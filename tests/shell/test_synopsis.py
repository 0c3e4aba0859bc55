from __future__ import annotations

from ahp.shell import synopsis


def test_a_line_reads_like_the_synopsis_of_a_manual() -> None:
    found = synopsis.parsed(
        "-k,--keep=WRITE -ab=VALUE -i,--in-place=?INPLACE ~-out=READ -e=CODE! -q | CODE READ...", False
    )
    assert found.spec.longs == ("--keep=", "--in-place", "-out=")
    assert found.spec.shorts == {"k": "--keep", "a": "-a", "b": "-b", "i": "--in-place", "e": "-e", "q": "-q"}
    assert (found.spec.valued, found.spec.glued, found.spec.whole) == ("kabe", "i", True)
    assert (found.roles["--keep"], found.roles["-k"], found.roles["-out"]) == ("WRITE", "WRITE", "READ")
    assert (found.replaces, found.operands, found.permutes) == ({"-e"}, ("CODE", "READ..."), True)


def test_a_command_ends_the_options() -> None:
    assert not synopsis.parsed("| VALUE COMMAND", False).permutes


def test_git_negates_what_it_names() -> None:
    assert synopsis.parsed("--verify --no-stat", True).spec.longs == ("--verify", "--no-stat", "--no-verify")
