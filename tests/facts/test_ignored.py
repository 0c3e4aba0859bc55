"""`ignored.paths`: what git leaves out of every commit, asked of tool calls alone."""

from __future__ import annotations

from ahp.agents.calls import call_view, tool_call
from ahp.facts import ignored
from ahp.hosts import asking
from ahp.protocol.event import Actor
from tests.conftest import Repo


def told(repo: Repo, trigger: str, *paths: str) -> object:
    event = asking.event(trigger, "claude", Actor("agent", "claude"), asking.around(str(repo.root)), mode="replay")
    command = "".join(f"echo x > '{path}'; " for path in paths)
    event.tool = tool_call.read("", "Bash", {"command": command}, root=event.root)
    event.view = call_view.view_of(event)
    return ignored.gather(event, frozenset({"paths"}), None)["paths"]


def test_it_names_the_files_that_git_ignores_and_does_not_track(repo: Repo) -> None:
    repo.commit("first", **{".gitignore": ".env\n*.log\nout/\n"})
    repo.write("kept.log", "x")
    repo.git("add", "-f", "kept.log")
    assert told(repo, "pre-tool-use", ".env", "a.py", "kept.log", "out/é.txt", "/tmp/x.log") == [".env", "out/é.txt"]
    assert told(repo, "pre-tool-use", "a.py") == told(repo, "pre-tool-use", "/tmp/x.log") == []
    assert told(repo, "pre-commit", ".env") == []
