"""run_command and display."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.runner.tools.tool import InvalidCall
from ahp.system.errors import AhpError
from tests.runner.tools.conftest import Call


def test_a_command_runs_in_the_project_and_tells_all_it_prints(call: Call, folder: Path) -> None:
    (folder / "sub").mkdir()
    assert call("run_command", command="pwd; echo wrong >&2; echo end; exit 3") == (
        f"[exit code 3]\n{folder}\nwrong\nend\n"
    )
    assert call("bash", cmd="pwd; cat", cwd="sub") == f"[exit code 0]\n{folder}/sub\n"
    assert call("run_command", command="kill -9 $$").startswith("[exit code 137]")


def test_what_a_command_starts_is_marked_as_an_agents(call: Call) -> None:
    assert call("run_command", command="echo $AHP_AGENT") == "[exit code 0]\nahp\n"


@pytest.mark.parametrize("args", [{"command": ""}, {"command": "a\0b"}, {"command": "ls", "workdir": ".."}])
def test_what_is_no_command_is_refused(call: Call, args: dict[str, str]) -> None:
    with pytest.raises(InvalidCall):
        call("run_command", **args)


def test_a_person_is_shown_words_and_never_protocol(call: Call, shown: list[str]) -> None:
    assert call("display", message="It is sunny.") == "shown"
    with pytest.raises(AhpError, match="it is protocol"):
        call("display", text='{"control": "step_done"}\n\n{"control": "step_done"}')
    assert shown == ["It is sunny."]
