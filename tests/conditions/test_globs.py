"""Globs mean what .gitignore lines mean, and are linear in the path."""

from __future__ import annotations

import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.conditions import globs
from ahp.conditions.evaluate import Bound
from ahp.conditions.globs import PatternError, glob
from tests.examples import examples

GLOBS = [
    ("*.py", "a.py src/a.py .py src/.py", "a.pyc a.py/b"),
    ("src/*.py", "src/a.py", "a.py src/b/a.py x/src/a.py"),
    ("src/**/*.py", "src/a.py src/b/a.py src/b/c/a.py", "a.py x/src/a.py src/a.pyc"),
    ("**/a.py", "a.py b/a.py b/c/a.py", "ba.py b/ba.py"),
    ("src/**", "src/a src/a/b", "src srca x/src/a"),
    ("/a.py", "a.py", "b/a.py"),
    ("build/", "build/a build/a/b x/build/a", "build x/build"),
    ("/build/", "build/a", "x/build/a build"),
    ("src/build/", "src/build/a", "x/src/build/a"),
    ("**", "a a/b", ""),
    ("a/**/b/**/c", "a/b/c a/x/b/c a/x/b/y/z/c a/b/b/c/c", "a/c a/b b/c a/b/c/d"),
    ("a/**/b/*/c/**/d", "a/b/x/c/d a/q/b/x/c/r/s/d a/b/b/b/x/c/d", "a/b/c/d a/b/x/d"),
    ("README.??", "README.md x/README.rs", "README.m README.mdx"),
    ("[abc]*.t[!x]t", "a1.tyt c.tzt", "d.tyt a.txt"),
    ("[a-c-]", "a b c -", "d"),
    ("[]x]", "] x", "a"),
    ("[!]]", "a", "]"),
    ("[\\]]", "]", "\\"),
    ("[a-\\z]", "a z", "A"),
    ("\\*", "* x/*", "a"),
    ("a*b*c", "abc aXbYc abbbc aXbc", "ab acb abcX"),
    ("a*?c", "abc abbc", "ac"),
    ("*a?b*", "aXb zzaXbzz", "ab a"),
    ("?", "a é", "ab"),
    ("a[/]b", "", "a/b ab"),
    ("*", "a .env x/y", ""),
    ("a**b", "ab aXXb", "a/b"),
    ("src/[x-z]?.py", "src/x1.py", "src/a1.py"),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), GLOBS, ids=[one[0] for one in GLOBS])
def test_glob(pattern: str, yes: str, no: str) -> None:
    test = glob(pattern)
    assert [text for text in yes.split(" ") if yes and not test(text)] == []
    assert [text for text in no.split(" ") if no and test(text)] == []


def test_several_globs_match_when_one_does() -> None:
    test = glob(["*.py", "docs/**"])
    assert test("a.py") and test("docs/a") and not test("a.md")
    assert not glob([])("a")
    assert glob(["*.py"])("a.py")


@pytest.mark.parametrize("pattern", ["", "/", "[a", "[", "[!", "[]", "a\\", "[z-a]", "a[b\\]", "x/["])
def test_a_glob_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        glob(pattern)


def test_globs_agree_with_git_on_files(tmp_path: Path) -> None:
    paths = [
        "a.py",
        "src/a.py",
        "src/b/a.py",
        "build/x",
        "x/build/y",
        "src/build/z",
        ".env",
        "x/.env",
        "a[1].txt",
        "docs/a.md",
    ]
    for pattern in (
        "*.py",
        "src/*.py",
        "/a.py",
        "**/a.py",
        "src/**/a.py",
        "build/",
        "src/b*/*.py",
        "?.py",
        "a\\[1].txt",
        "[.]env",
        "docs/**",
    ):
        (tmp_path / ".gitignore").write_text(pattern + "\n")
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        done = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin"],
            cwd=tmp_path,
            input="\n".join(paths),
            text=True,
            capture_output=True,
        )
        ignored = {line.strip('"') for line in done.stdout.splitlines()}
        assert {path for path in paths if glob(pattern)(path)} == ignored, pattern


@examples(400)
@given(st.text("ab*?", min_size=1, max_size=8), st.text("ab", max_size=10))
def test_one_segment_agrees_with_fnmatch(pattern: str, name: str) -> None:
    assert glob(pattern)(name) == fnmatchcase(name, pattern)


def test_what_would_take_hours_if_it_were_quadratic_ends() -> None:

    assert not glob("*a*a*a*a*a*a*a*a*b")("a" * 200_000)
    assert not glob("**/a/**/a/**/a/**/b")("a/" * 100_000)
    assert not glob("*[a]?[a]?[a]*b?")("a" * 100_000)


def test_paths_past_the_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "MAX_CHARS", 10)
    for test in (glob("*.py"), glob("a/*"), glob(["*.py", "b"])):
        with pytest.raises(Bound):
            test("a" * 11)


_GLOBS = st.sampled_from(
    ".env **/.env *.py **/*.py src/** /src/** src/*.py a? **/a* /x * ** **/ /** d/ [ab] a\\*".split()  # noqa: SIM905
)
_NAMES = st.sampled_from([".env", "a", "ab", "src", "x", "d", "b.py", "a*", "src.py", ""])
_PATHS = st.lists(_NAMES, min_size=1, max_size=4)


@given(st.lists(_GLOBS, min_size=2, max_size=5), _PATHS)
def test_several_globs_at_once_are_any_of_each(patterns: list[str], parts: list[str]) -> None:
    path = "/".join(parts)
    assert glob(patterns)(path) == any(glob(one)(path) for one in patterns)
