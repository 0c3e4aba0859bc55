"""Which gates a command has to pass, however Monoco is started."""

from __future__ import annotations

import pytest

from ahp.hosts.exec import gates_of
from tests.conftest import Repo


@pytest.mark.wings
@pytest.mark.parametrize(
    "line",
    [
        "monoco",
        "python -m monoco",
        "python3.12 -X dev -m monoco",
        "uv run monoco",
        "uv run python -m monoco",
        "uv run -m monoco",
        "uvx --from monoco-toolkit monoco@latest",
        "uv tool run --from monoco-toolkit monoco",
        "pipx run --spec monoco-toolkit monoco",
        "env A=1 nice monoco",
    ],
)
def test_a_move_passes_its_gate_once(repo: Repo, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.chdir(repo.root)
    gates = gates_of([*line.split(), "issue", "submit", "FEAT-0001"])
    assert [(gate.step, gate.issue) for gate in gates] == [("submit", "FEAT-0001")]
