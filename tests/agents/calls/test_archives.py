"""ahp.agents.calls.archives"""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from ahp.agents.calls import archives
from ahp.agents.calls.archives import members
from ahp.agents.calls.tool_call import read

NAMES = ("./src/a.py", "./.ahp/hooks.yaml", "x/.git/hooks/pre-commit", "lefthook.yml", "README.md")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    with tarfile.open(folder / "a.tgz", "w:gz") as tar:
        for name in NAMES:
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    with zipfile.ZipFile(folder / "a.zip", "w") as opened:
        for name in NAMES:
            opened.writestr(name, "")
    (folder / "none").write_text("text")
    with tarfile.open(folder / "a.tar", "w") as tar:
        for name in NAMES:
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    (folder / "torn.tar").write_bytes((folder / "a.tar").read_bytes()[:1100])
    (folder / "torn.tgz").write_bytes((folder / "a.tgz").read_bytes()[:40])
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize("name", ["a.tgz", "a.zip"])
def test_names_that_may_be_of_protected_files_are_told(made: Path, name: str) -> None:
    assert members(str(made / name), 0) == [".ahp/hooks.yaml", "x/.git/hooks/pre-commit", "lefthook.yml"]
    assert members(str(made / name), 1) == [".git/hooks/pre-commit"]


@pytest.mark.parametrize("name", ["none", "torn.tgz", "pipe", "missing"])
def test_what_is_no_archive_has_no_names(made: Path, name: str) -> None:
    assert members(str(made / name), 0) == []


def test_a_damaged_one_has_the_names_before_the_fault(made: Path) -> None:
    assert members(str(made / "torn.tar"), 0) == [".ahp/hooks.yaml"]


def test_a_large_one_is_not_read_through(made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as bounds:
        bounds.setattr(archives, "_LARGEST_PACKED", 10)
        assert members(str(made / "a.tgz"), 0) == [] and members(str(made / "a.tar"), 0) != []
        bounds.setattr(archives, "_LARGEST", 10)
        assert members(str(made / "a.zip"), 0) == []
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        for name in (".a", ".b"):
            (one := tarfile.TarInfo(name)).size = 3
            tar.addfile(one, io.BytesIO(b"abc"))
    monkeypatch.setattr(archives, "_UNPACKED", 2)
    assert members(str(tmp_path / "b.tar"), 0) == [".a"]


@pytest.mark.parametrize(
    ("command", "unpacks"),
    [
        ("tar xf a.tar", ("/p/a.tar", ".", 0)),
        ("tar -xzf /d/a.tgz -C sub --strip-components=2", ("/d/a.tgz", "sub", 2)),
        ("cd sub && tar x -f ../a.tar", ("/p/sub/../a.tar", "sub", 0)),
        (f"tar xf a.tar --strip-components={'9' * 5000}", ("/p/a.tar", ".", 0)),
        ("unzip -o a.zip", ("/p/a.zip", ".", 0)),
        ("unzip -q a.zip -d /p/sub", ("/p/a.zip", "sub", 0)),
        ("7z x a.7z -osub", ("/p/a.7z", "sub", 0)),
        ("unar -o sub a.zip", ("/p/a.zip", "sub", 0)),
        ("jar xf a.jar", ("/p/a.jar", ".", 0)),
        ("tar x < a.tar", ("/p/a.tar", ".", 0)),
        ("cat a.tar | tar x", ("/p/a.tar", ".", 0)),
        ("python3 -m zipfile -e a.zip d", ("/p/a.zip", "d", 0)),
        *[(command, None) for command in ("tar tf a.tar", "tar cf a.tar src", "tar xf a.tar src", "tar x")],
        *[(command, None) for command in ("unzip -l a.zip", "7z l a.7z", "jar tf a.jar", "jar", "unzip")],
    ],
)
def test_what_is_unpacked_where(command: str, unpacks: tuple[str, str, int] | None) -> None:
    found = read("shell", "Bash", {"command": command}, root="/p")
    assert found.get("unpacks") == (unpacks and [unpacks])
