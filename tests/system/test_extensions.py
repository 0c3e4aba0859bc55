"""Compiled modules without the packages around them."""

from __future__ import annotations

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
