"""What takes too long to read."""

from types import SimpleNamespace

import pytest

from ahp.agents.shell import commands, grammar
from ahp.agents.shell.grammar import operators
from ahp.system import extensions
from ahp.system.errors import AhpError


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("a | b && (c)", 5),
        ("echo '| & ;' | b", 1),
        ("cat > f <<'E'\n| a | don't |\nE\na | b", 4),
        ("<<E\n<<E\n", 4),
    ],
)
def test_operators_count_where_they_make_the_parser_slow(script: str, count: int) -> None:
    assert operators(script) == count


def test_a_script_of_too_many_operators_is_unknown_at_once() -> None:
    for script in ("#a\n | " * 9000, '"$a" | ' * 8000, "<<E\n" * 10000):
        assert [one.unresolved_at for one in commands.read(script)] == [["program"]]


def test_a_grammar_that_tree_sitter_is_too_old_for_is_an_error_with_its_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_new(pointer: object) -> None:
        raise ValueError("Incompatible Language version 16. Must be between 13 and 15")

    load = extensions.load
    others = {"tree_sitter._binding": SimpleNamespace(Language=too_new, Parser=None)}
    monkeypatch.setattr(grammar, "_parser", [])
    monkeypatch.setattr(extensions, "load", lambda name, unused=(): others.get(name) or load(name, unused))
    with pytest.raises(AhpError, match=r"version 16.* fix: pip install --upgrade tree-sitter tree-sitter-bash"):
        grammar.parsed("ls")
