"""Files as data: each kind by its own parser, within bounds, and nothing that hides what it means."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import content, formats
from ahp.facts.registry import Absent

HCL = """\
r "a" "b" {
  # c
  acl = "x\\"y" # d
  n   = -1.5
  l   = [true, null]
  m   = { k = var.v }
  in { p = "a-${var.x}" }
  in {}
}
r "a" "c" {}
"""


@pytest.mark.parametrize(
    ("path", "text", "holds"),
    [
        ("a/package.json", '{"engines": {"node": ">=18"}}', [{"engines": {"node": ">=18"}}]),
        ("n.ipynb", '{"cells": [{"outputs": []}]}', [{"cells": [{"outputs": []}]}]),
        (".github/workflows/ci.yml", "on: push\npermissions: {}\n", [{"on": "push", "permissions": {}}]),
        ("k.yaml", "a: 1\n---\n- b\n---\n", [{"a": 1}, ["b"], None]),
        ("k.yaml", "", [None]),
        ("c.yaml", "a: !Ref x\nb: &b {k: 1, l: 2}\nc: {<<: *b, k: 3}\n",
         [{"a": "x", "b": {"k": 1, "l": 2}, "c": {"l": 2, "k": 3}}]),
        ("c.yaml", "mode: 0644\n1: x\nyes: no\n", [{"mode": "0644", "1": "x", "yes": "no"}]),
        ("Cargo.lock", "version = 4\nd = 2026-01-02\n", [{"version": 4, "d": "2026-01-02"}]),
        ("p.xml", "<a x='1'><b>t</b><b><c/></b></a>", [{"a": {"@x": "1", "b": ["t", {"c": ""}]}}]),
        ("pom.xml", "<project><version> 1 </version></project>", [{"project": {"version": "1"}}]),
        (".editorconfig", "root = true\n[*.py]\nindent_size = 4\n", [{"root": "true", "*.py": {"indent_size": "4"}}]),
        (".gitmodules", '[submodule "a"]\n\tpath = a\n\turl = u\n', [{'submodule "a"': {"path": "a", "url": "u"}}]),
        ("a/.env.test", "# c\nexport A=1 # one\nB='x y'\nC=\"q\"\nD=\n", [{"A": "1", "B": "x y", "C": "q", "D": ""}]),
        ("Dockerfile", "# c\nfrom a \\\n # c\n  as b\n\nUSER root\n",
         [[{"name": "FROM", "value": "a as b", "line": 2}, {"name": "USER", "value": "root", "line": 6}]]),
        ("api.dockerfile", "RUN <<E\nUSER x\nE\nRUN echo '<<F'\nUSER root\n",
         [[{"name": "RUN", "value": "<<E\nUSER x", "line": 1}, {"name": "RUN", "value": "echo '<<F'", "line": 4},
           {"name": "USER", "value": "root", "line": 5}]]),
        ("Dockerfile.win", "# escape=`\nRUN a `\n b\\\nUSER c\n",
         [[{"name": "RUN", "value": "a b\\", "line": 2}, {"name": "USER", "value": "c", "line": 4}]]),
        ("main.tf", HCL,
         [{"r": {"a": {"b": [{"acl": 'x"y', "n": -1.5, "l": [True, None], "m": {"k": "${var.v}"},
                             "in": [{"p": "a-${var.x}"}, {}]}], "c": [{}]}}}]),
    ],
)  # fmt: skip
def test_what_a_file_holds(path: str, text: str, holds: Any) -> None:
    assert formats.documents(content.kind_of(path), text) == holds


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdef", "bcdefg", strict=True)
)


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("a.json", "[" * 100_000, "nested deeper"),
        ("a.json", "[" * 80 + "]" * 80, "nested deeper than 64 levels"),
        ("a.json", '{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is there twice"),
        ("a.json", '{"a": NaN}', "NaN is no JSON"),
        ("a.json", "[" + "0," * 300_001 + "0]", "more than 300000 values"),
        ("a.json", "9" * 5000, "limit"),
        ("a.json", " " * (formats.SIZE + 1), "longer than the 4 MiB"),
        ("a.tf", "a = " + "[" * 3000 + "]" * 3000, "nested deeper"),
        ("a.tf", "a = [", "it is no HCL"),
        ("a.tf", "a = 1\na = 2\n", "'a' is there twice"),
        ("a.tf", 'a {}\na "b" {}\n', "'b' is there twice"),
        ("a.yaml", LAUGHS, "more than 300000 values, aliases followed"),
        ("a.yaml", "a: &a [*a]", "refers to itself"),
        ("a.yaml", "a: 1\na: 2\n", "already given in line 1"),
        ("a.yaml", "[" * 5000, "nested deeper than 32 levels"),
        ("a.yaml", "a: [\n", "expected"),
        ("a.yaml", "? [a]\n: 1\n", "a key must be text"),
        ("a.toml", "a = " + "[" * 5000, "nested deeper"),
        ("a.toml", "a = 1\na = 2\n", "overwrite"),
        ("a.xml", "<a>" * 200, "more than 100 elements inside each other"),
        ("a.xml", '<!DOCTYPE t [<!ENTITY x "y">]><t>&x;</t>', "document type of its own"),
        ("a.ini", "[a]\nx=1\nx=2\n", "already exists"),
        (".env", "A=1\nA=2\n", "line 2 sets A again"),
        (".env", "x y\n", "line 1 is no NAME=value"),
    ],
)  # fmt: skip
def test_what_hides_its_meaning_or_goes_past_a_bound_is_not_read(path: str, text: str, why: str) -> None:
    with pytest.raises((ValueError, Absent), match=why):
        formats.documents(content.kind_of(path), text)
