"""A file that somebody else has changed since the model saw it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.runner.tools.catalog import standard_tools
from ahp.system.errors import AhpError
from tests.runner.runs import Scene
from tests.runner.runs import call as reply
from tests.runner.tools.conftest import Call

PATCH = "--- a/f\n+++ b/f\n@@\n-one\n+ONE\n"


def test_what_a_person_saves_meanwhile_is_not_overwritten(call: Call, folder: Path) -> None:
    file = folder / "f"
    file.write_text("one\n")
    assert call("read_file", path="f", lines=1)
    file.write_text("one\nof a person\n")
    with pytest.raises(AhpError, match=r"f has changed since you last read or wrote it, .*Read it again"):
        call("write_file", path="f", content="two\n")
    assert file.read_text() == "one\nof a person\n"
    # A change of a part keeps theirs, and tells the model nothing of it.
    call("append_file", path="f", content="three\n")
    call("edit", path="f", search="three", replace="3")
    call("apply_patch", patch=PATCH)
    with pytest.raises(AhpError, match="has changed"):
        call("write_file", path="f", content="two\n")
    assert call("read_file", path="f") == "ONE\nof a person\n3\n"
    call("write_file", path="f", content="two\n")
    assert file.read_text() == "two\n"


def test_what_the_model_changed_itself_it_may_write_anew(call: Call, folder: Path) -> None:
    (folder / "f").write_text("never read\n")
    call("write_file", path="f", content="one\n")
    call("append_file", path="./f", content="two\n")
    call("edit", path="f", search="two", replace="2")
    call("apply_patch", patch=PATCH)
    call("write_file", path="f", content="three\n")
    (folder / "f").unlink()
    call("write_file", path="f", content="four\n")
    assert (folder / "f").read_text() == "four\n"


def test_it_holds_over_the_calls_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    script = [
        reply("read_file", path="f"),
        reply("run_command", command="echo formatted > f"),
        reply("write_file", path="f", content="two\n"),
        reply("read_file", path="f"),
        reply("write_file", path="f", content="two\n"),
        "done",
    ]
    scene = Scene(script, tools=standard_tools(print), root=str(tmp_path))
    assert [event["code"] for event in scene.of("tool_result")] == ["ok", "ok", "E_TOOL", "ok", "ok"]
    assert (tmp_path / "f").read_text() == "two\n"
