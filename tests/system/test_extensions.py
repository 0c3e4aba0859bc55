"""Compiled modules without the packages around them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ahp.system import extensions


def test_a_module_is_loaded_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tree_sitter_bash", "tree_sitter_bash._binding"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    first = extensions.load("tree_sitter_bash._binding")
    assert first.language() is not None and "tree_sitter_bash" not in sys.modules
    assert extensions.load("tree_sitter_bash._binding") is first


def test_one_that_is_not_installed_is_none() -> None:
    assert extensions.load("nowhere._binding") is None


@pytest.mark.parametrize(
    ("unused", "imported"),
    [(("re.compile", "enum.IntEnum"), []), (("re.nothing",), ["enum", "re"]), (("re.compile",), ["enum", "re"])],
    ids=["this version", "one that asks for more", "one that imports more"],
)
def test_a_hook_does_not_import_what_it_has_no_use_for(unused: tuple[str, ...], imported: list[str]) -> None:
    program = f"""
import sys
sys.path = {sys.path!r}
from ahp.system import extensions, ready
ready.packed = {{"a": b"hook"}}
parsing = extensions.load("tree_sitter._binding", {unused!r})
bash = extensions.load("tree_sitter_bash._binding")
root = parsing.Parser(parsing.Language(bash.language())).parse(b"a | b").root_node
print(root.children[0].type, *sorted({{"re", "enum"}} & set(sys.modules)))
import re
assert re.compile("a").match("a")
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["pipeline", *imported], "")
