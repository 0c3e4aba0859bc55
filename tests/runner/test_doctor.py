"""ahp.runner.gating.box: where the commands of the embedded agent run"""

from __future__ import annotations

import pytest

from ahp.box import engine
from ahp.box.table import CannotBox
from ahp.runner.gating import box
from ahp.system import environ, git
from tests.conftest import Repo


def examined(repo: Repo) -> list[tuple[str, str]]:
    found = box.examine(git.discover(str(repo.root), environ.current()))
    return [(one.status, one.detail) for one in found]


@pytest.mark.box
def test_a_box_that_starts_is_told(repo: Repo) -> None:
    try:
        engine.try_out()
    except CannotBox as error:
        pytest.skip(str(error))
    assert examined(repo) == []
    repo.commit("first", **{".ahp/agent.yaml": "jobs: 1\n"})
    assert examined(repo) == [("ok", "its commands run in a box")]
    repo.commit("second", **{".ahp/agent.yaml": "box: never\n"})
    assert [status for status, _ in examined(repo)] == ["note"]


@pytest.mark.parametrize(
    ("box", "told"), [("auto", ("note", "run without a box")), ("always", ("wrong", "are refused"))]
)
def test_why_none_starts_is_told(repo: Repo, monkeypatch: pytest.MonkeyPatch, box: str, told: tuple[str, str]) -> None:
    def cannot() -> str:
        raise CannotBox("no bubblewrap")

    monkeypatch.setattr(engine, "try_out", cannot)
    repo.commit("first", **{".ahp/agent.yaml": f"box: {box}\n"})
    assert examined(repo) == [(told[0], f"its commands {told[1]}: no bubblewrap")]


def test_settings_that_cannot_be_read_are_told(repo: Repo) -> None:
    repo.commit("first", **{".ahp/agent.yaml": "box: maybe\n"})
    [(status, said)] = examined(repo)
    assert status == "wrong" and "box" in said
