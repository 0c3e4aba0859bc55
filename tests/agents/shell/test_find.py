"""What `find` and `fd` hand to commands: of the tests names count, the rest only narrows."""

from __future__ import annotations

import pytest

from ahp.agents.shell.commands import read


def writes(line: str) -> list[str]:
    return [path for one in read(line) for path in one.writes]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("find a b -delete", ["a/**/*", "b/**/*"]),
        ("find -L a -type f -delete", ["a/**/*"]),
        ("find . -name '*.pyc' -delete", ["./**/*.pyc"]),
        ("find . -name '*.o' -o -iname '*.a' -delete", ["./**/*.o", "./**/*.a"]),
        ("find . -path './src/*' -name 'x*' -delete", ["./src/**"]),
        ("find . -name 'x*' -path '*y*' -delete", ["./**/x*"]),
        ("find . -newer x -delete", ["./**"]),
        ("find . -type l -delete", ["./**"]),
        ("find . -name .git -prune -o -type f -exec rm {} +", ["./**"]),
        ("find . -not -path './.git/*' -delete", ["./**"]),
        ("find . ! -name '*.py' -delete", ["./**/*"]),
        ("find . -maxdepth 1 -type f -delete", ["./**"]),
        ("find a -name x -fprint y", ["y"]),
        ("find a -name x -exec sh -c 'rm {}' ';'", ["a/**/x"]),
        ("find a -exec true ';' -exec rm -r {}/b ';'", ["a/**/*/b"]),
        ("fd -e py x -x rm", ["./**"]),
        ("fd x -x rm {}", ["./**"]),
        ("fd x", []),
    ],
)
def test_what_is_found_is_written_by_the_command_that_gets_it(line: str, found: list[str]) -> None:
    assert writes(line) == found


def test_an_unknown_root_may_be_an_option() -> None:
    assert "option" in read("find $X -name y")[-1].unresolved_at
