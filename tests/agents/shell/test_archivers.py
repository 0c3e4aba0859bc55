from __future__ import annotations

import pytest

from ahp.agents.shell.marks import Marks
from ahp.agents.shell.special import READERS
from ahp.agents.shell.usage import Usage


def read(line: str) -> Usage:
    program, *args = line.split()
    return READERS[program](program, args, None, Marks())


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ("tar xf a", ["a"], ["./**"]),
        ("tar -x -f a -C d", ["a"], ["d/**"]),
        ("tar fx a", ["a"], ["./**"]),
        ("tar xzf a d/e", ["a"], ["./d/e"]),
        ("tar tf a", ["a"], []),
        ("tar czf a b c", ["b", "c"], ["a"]),
        ("tar --create --file a b", ["b"], ["a"]),
        ("cpio -i", [], ["**"]),
        ("cpio -p d", [], ["d/**"]),
    ],
)
def test_the_files_of_a_line(line: str, reads: list[str], writes: list[str]) -> None:
    found = read(line)
    assert (found.reads, found.writes) == (reads, writes)


@pytest.mark.parametrize(
    ("line", "unpacks"),
    [
        ("tar xf a", [("a", ".", 0)]),
        ("tar -x -f a -C d --strip-components=2", [("a", "d", 2)]),
        ("tar xzf a d/e", []),
        ("unzip a.zip -d d", [("a.zip", "d", 0)]),
        ("unzip -l a.zip", []),
        ("7z x a.7z -od", [("a.7z", "d", 0)]),
        ("jar xf a.jar", [("a.jar", ".", 0)]),
        ("jar tf a.jar", []),
        ("tarfile -e a.tar", [("a.tar", ".", 0)]),
        ("zipfile --extract a.zip d", [("a.zip", "d", 0)]),
        ("zipfile -l a.zip", []),
    ],
)
def test_what_a_line_unpacks_and_where(line: str, unpacks: list[tuple[str, str, int]]) -> None:
    assert read(line).unpacks == unpacks
