from __future__ import annotations

import pytest

from ahp.agents.shell.find import find, found_by
from ahp.agents.shell.marks import Marks, Unknown


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("", ["./**"]),
        (". -type f", ["./**"]),
        ("a b -name *.py", ["a/**/*.py", "b/**/*.py"]),
        ("/ -iname x", ["/**/x"]),
        (". -name a -o -name b", ["./**/a", "./**/b"]),
        (". -not -name a", ["./**"]),
        (". -path ./.ahp/*", ["./.ahp/**"]),
        (". -path */hooks/x", ["**/hooks/x"]),
        ("d -path */hooks/x", ["d/**"]),
        ("a -name *.py -name x*z.py", ["a/**/x*z.py"]),
        (". -name pre-* -path *hook*", ["./**hook**pre-*", "./**/pre-*hook*"]),
        (". -name x -path *hook*", ["./**hook**x"]),
        (". -name hooks -path *hook*", ["./**hook**hooks", "./**/hooks"]),
        (". -path ./src/* -name x", ["./src/**x"]),
        (". -path */test/* -name x", ["./**"]),
        (". -path *hook* -name *", ["./**hook**"]),
        (". -path *hook*", ["./**hook**"]),
        ("-L a -name x", ["a/**/x"]),
        ("-D tree -O3 -P a b -name x", ["a/**/x", "b/**/x"]),
        (r". -type f ( -name a -o -iname b ) -size +1k", ["./**/a", "./**/b"]),
        (". -name a ( -path ./x/* -o -path ./y/* )", ["./x/**a", "./y/**a"]),
        (". -name n -prune -o -name *.py -print", ["./**/*.py"]),
        (". -name n -prune -o -name *.py", ["./**/n", "./**/*.py"]),
        (". ! ( -name a -o -name b )", ["./**"]),
        (". ! -name a -name b", ["./**/b"]),
        (". ( -name a , -name b", ["./**/a", "./**/b"]),
        (". ) -name a", ["./**/a"]),
        (". -name a -o " + " -o ".join(f"-name {number}" for number in range(40)), ["./**"]),
        (". -regex .*hooks.yaml", ["./**hooks?yaml"]),
        (r". -iregex ./.*\.\(c\|h\)", ["./**.c", "./**.h"]),
        (
            r". -regextype posix-extended -regex .*/(a|b)[0-9]+\.(py|js)$",
            ["**/a**.py", "**/a**.js", "**/b**.py", "**/b**.js"],
        ),
    ],
)
def test_what_is_found_has_a_pattern_for_each_root(line: str, paths: list[str]) -> None:
    assert found_by(line.split(), Marks()) == paths


def test_what_it_does_with_what_it_finds_is_told() -> None:
    known = Marks()
    read = find(
        "find",
        [
            "a",
            "-name",
            "x",
            "-exec",
            "rm",
            "{}",
            ";",
            "-exec",
            "y",
            ";",
            "-delete",
            "-fprint",
            "f",
            "-ok",
            "z",
            "{}",
            "+",
        ],
        None,
        known,
    )
    assert [[known.pattern(word) for word in run.words] for run in read.runs] == [
        ["rm", "a/**/x"],
        ["y"],
        ["z", "a/**/x"],
    ]
    assert ([known.pattern(path) for path in read.writes], read.reads) == (["a/**/x", "f"], ["a"])
    assert find("find", [known.mark(Unknown("$X"))], None, known).places == {"option"}
