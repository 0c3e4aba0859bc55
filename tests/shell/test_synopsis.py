from __future__ import annotations

from ahp.shell import synopsis


def test_a_line_reads_like_the_synopsis_of_a_manual() -> None:
    found = synopsis.parsed("-k,--keep=WRITE -ab=VALUE -i,--in-place=?INPLACE -q | CODE READ...", False)
    assert found.spec.longs == ("--keep=", "--in-place")
    assert found.spec.shorts == {"k": "--keep", "a": "-a", "b": "-b", "i": "--in-place", "q": "-q"}
    assert (found.spec.valued, found.spec.glued) == ("kab", "i")
    assert (found.operands, found.permutes) == (("CODE", "READ..."), True)


def test_a_command_ends_the_options() -> None:
    assert not synopsis.parsed("| VALUE COMMAND", False).permutes


def test_git_negates_what_it_names() -> None:
    assert synopsis.parsed("--verify --no-stat", True).spec.longs == ("--verify", "--no-stat", "--no-verify")
