"""Regular expressions from their compiled form."""

from __future__ import annotations

import marshal
import re

import pytest

from ahp.system import ready
from ahp.system.regex import DOTALL, IGNORECASE, MULTILINE, regex

PATTERNS = [
    (r"(?P<a>x+)|(?P<b>y)", 0, "zxxy"),
    (r"^\s*(\w+)=(.*)$", re.M | re.S, "a=1\nb=2"),
    ("[\U00100010-\U0010fffd]|é", re.I, "É\U00100011"),
    (r"(?i)(?<!\\)a(?=b)", 0, r"\ab AB"),
    ("", 0, "x"),
]


@pytest.mark.parametrize(("pattern", "flags", "text"), PATTERNS)
def test_it_is_what_re_compiles_also_from_the_bundle(
    monkeypatch: pytest.MonkeyPatch, pattern: str, flags: int, text: str
) -> None:
    expected = re.compile(pattern, flags)
    monkeypatch.setattr(ready, "_made", {})
    packed: dict[str, bytes] = {}
    for _ in range(2):
        found = regex(pattern, flags)
        assert found == expected and found.groupindex == expected.groupindex
        assert found.findall(text) == expected.findall(text)
        assert found.sub("-", text) == expected.sub("-", text)
        packed |= ready.pack()
        monkeypatch.setattr(ready, "packed", packed)
        monkeypatch.setattr(ready, "_made", {})
    assert all(marshal.loads(value) for value in packed.values())


def test_the_flags_are_those_of_re() -> None:
    assert (IGNORECASE, MULTILINE, DOTALL) == (re.IGNORECASE, re.MULTILINE, re.DOTALL)


def test_a_broken_one_is_named() -> None:
    with pytest.raises(re.error):
        regex("(")


def test_a_form_that_makes_another_pattern_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, right = re.compile("a+"), re._compiler._code  # type: ignore[attr-defined]
    other = re._parser.parse("b+")  # type: ignore[attr-defined]
    monkeypatch.setattr(re._compiler, "_code", lambda parsed, flags: right(other, flags))  # type: ignore[attr-defined]
    monkeypatch.setattr(re, "compile", lambda pattern, flags: plain)
    monkeypatch.setattr(ready, "_made", {})
    assert regex("a+").findall("aab") == ["aa"]
    assert list(ready.pack()) == ["regex 0 a+"] and marshal.loads(ready.pack()["regex 0 a+"]) is None


def test_a_form_of_another_python_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "_made", {})
    monkeypatch.setattr(ready, "packed", {"regex 0 a+": marshal.dumps(("a+", 0, [1, 2, 3], 0, {}, (None,), "new"))})
    assert regex("a+") == re.compile("a+")
