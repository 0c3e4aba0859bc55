"""run_command and display."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from ahp.runner.tools.catalog import command_tool
from ahp.runner.tools.tool import InvalidCall, Toolbox, ToolContext, left_running
from ahp.system.errors import AhpError, Timeout
from tests.runner.tools.conftest import Call
from tests.system.test_descendants import alive


def test_a_command_runs_in_the_project_and_tells_all_it_prints(call: Call, folder: Path) -> None:
    (folder / "sub").mkdir()
    assert call("run_command", command="pwd; echo wrong >&2; echo end; exit 3") == (
        f"[exit code 3]\n{folder}\nwrong\nend\n"
    )
    assert call("bash", cmd="pwd; cat", cwd="sub") == f"[exit code 0]\n{folder}/sub\n"
    assert call("run_command", command="kill -9 $$").startswith("[exit code 137]")


def test_what_a_command_starts_is_marked_as_an_agents(call: Call) -> None:
    assert call("run_command", command="echo $AHP_AGENT") == "[exit code 0]\nahp\n"


def test_what_a_command_leaves_running_is_ended_and_told(call: Call, folder: Path) -> None:
    said = call("run_command", command="sleep 600 & echo $! > pid; echo started")
    told = "[exit code 0]\nstarted\n\n(ended with the call, which had left it running: {})"
    assert said in (told.format("sleep"), told.format("sh"))  # it may be seen before it has become a sleep
    assert not alive(int((folder / "pid").read_text()))
    assert call("run_command", command="true & wait; echo done") == "[exit code 0]\ndone\n"


def test_what_a_command_printed_is_told_when_it_is_ended(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolbox = Toolbox([command_tool()], str(folder))
    tool = toolbox.find("run_command")
    with pytest.raises(Timeout, match=r"within 0.1 s and printed nothing$"):
        tool.run(toolbox.validate(tool, {"command": "sleep 600"}), ToolContext(str(folder), 0.1))
    with monkeypatch.context() as patch:
        late = Timeout("sh did not finish")
        late.printed = b"1 failed\n"
        patch.setattr("ahp.system.process.capture", Mock(side_effect=late))
        with pytest.raises(Timeout, match=r"within 60 s. Until then it had printed:\n1 failed\n$"):
            call("run_command", command="make test")
    monkeypatch.setattr("ahp.runner.tools.catalog._OUTPUT", 1 << 20)
    with pytest.raises(AhpError, match=r"over 1 MB. Until then it had printed:\ny\ny\n"):
        call("run_command", command="yes")


def test_a_folder_that_is_not_there_is_told(call: Call) -> None:
    with pytest.raises(AhpError, match=r"^nowhere is no folder$"):
        call("run_command", command="pwd", workdir="nowhere")


@pytest.mark.parametrize("args", [{"command": ""}, {"command": "a\0b"}, {"command": "ls", "workdir": ".."}])
def test_what_is_no_command_is_refused(call: Call, args: dict[str, str]) -> None:
    with pytest.raises(InvalidCall):
        call("run_command", **args)


def test_a_person_is_shown_words_and_never_protocol(call: Call, shown: list[str]) -> None:
    assert call("display", message="It is sunny.") == "shown"
    with pytest.raises(AhpError, match="it is protocol"):
        call("display", text='{"control": "step_done"}\n\n{"control": "step_done"}')
    assert shown == ["It is sunny."]


def test_many_programs_left_running_are_told_by_their_names() -> None:
    assert left_running(["b", "a\n", "b"]) == "(ended with the call, which had left it running: a , b (2))"
    assert left_running(map(str, range(100, 115))).endswith("108, 109 and 5 more)")
