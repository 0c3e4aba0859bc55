from __future__ import annotations

import pytest

from ahp.shell.monoco import Move, arguments, read


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("issue submit FEAT-0001", Move("submit", "FEAT-0001", "", "", False)),
        ("--root D issue start --no-hooks FEAT-0001 --json", Move("start", "FEAT-0001", "", "D", True)),
        ("issue close -s implemented FEAT-0001 --root=E", Move("close", "FEAT-0001", "", "E", False, "implemented")),
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


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("monoco issue list", ["issue", "list"]),
        ("monoco@latest issue list", ["issue", "list"]),
        ("python -m monoco issue list", ["issue", "list"]),
        ("python3.12 -I -X utf8 -Wignore -m monoco.main issue", ["issue"]),
        ("pypy3 -m monoco", []),
        ("python /opt/bin/monoco issue", ["issue"]),
        ("python -m pytest -m monoco", None),
        ("python tool.py monoco", None),
        ("python -m", None),
        ("python", None),
        ("ruff monoco", None),
    ],
)
def test_monoco_is_known_however_python_runs_it(line: str, given: list[str] | None) -> None:
    program, *args = line.split()
    assert arguments(program, args) == given
