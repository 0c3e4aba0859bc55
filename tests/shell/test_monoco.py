from __future__ import annotations

import pytest

from ahp.shell.monoco import Move, read


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("issue submit FEAT-0001", Move("submit", "FEAT-0001", "", "", False)),
        ("--root D issue start --no-hooks FEAT-0001 --json", Move("start", "FEAT-0001", "", "D", True)),
        ("issue close -s implemented FEAT-0001 --root=E", Move("close", "FEAT-0001", "", "E", False)),
        ("issue update FEAT-0001 --stage Review", Move("update", "FEAT-0001", "review", "", False)),
        ("issue update -t x FEAT-0001 --status=closed", Move("update", "FEAT-0001", "done", "", False)),
        ("issue submit", Move("submit", "", "", "", False)),
        ("issue update FEAT-0001 --title x", None),
        ("issue update FEAT-0001 --status open", None),
        ("issue list", None),
        ("issue", None),
        ("issue submit --help", None),
        ("hook run git pre-commit", None),
        ("", None),
    ],
)
def test_the_moves_of_a_command_line_are_read(line: str, move: Move | None) -> None:
    assert read(line.split()) == move
