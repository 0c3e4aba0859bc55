"""`tool.refused`: what settles a refusal, and what git has of a file."""

from __future__ import annotations

import pytest

from ahp.agents.calls import call_view, tool_call
from ahp.hosts import asking
from ahp.journal import session_calls
from ahp.protocol.event import Actor, Event
from tests.conftest import Repo


def event(repo: Repo, command: str) -> Event:
    where = asking.around(str(repo.root))
    made = asking.event("pre-tool-use", "claude", Actor("agent", "claude"), where, session="s1")
    made.tool = tool_call.read("", "Bash", {"command": command}, root=made.root)
    made.view = call_view.view_of(made)
    return made


def told(repo: Repo, command: str) -> list[tuple[object, object]]:
    asked = event(repo, command)
    assert asked.tool is not None
    return [(one["path"], one["sure"]) for one in call_view.refused(asked, asked.tool)]


def noted(repo: Repo, name: str, denied: bool) -> None:
    asked = event(repo, "ls")
    call = {"name": name, "native_name": name, "input": {}, "writes": ["gen.py"]}
    session_calls.note(asked.journal, str(asked.session), call, ["frozen/frozen"], denied)


@pytest.mark.parametrize("command", ["git rm -f gen.py", "git checkout -- gen.py", "git restore gen.py"])
def test_what_git_has_of_it_may_come_back(repo: Repo, command: str) -> None:
    repo.commit("one", **{"gen.py": "old = 1\n"})
    noted(repo, "write", denied=True)
    assert told(repo, "sed -i s/old/new/ gen.py") == [("gen.py", False)]
    assert told(repo, command) == []
    assert told(repo, f"{command}; sed -i s/old/new/ gen.py") == [("gen.py", False)]


def test_a_call_since_that_shows_what_it_writes_settles_it(repo: Repo) -> None:
    repo.commit("one", **{"gen.py": "old = 1\n"})
    noted(repo, "write", denied=True)
    noted(repo, "shell", denied=False)
    assert told(repo, "sed -i s/old/new/ gen.py") == [("gen.py", False)]
    noted(repo, "edit", denied=False)
    assert told(repo, "sed -i s/old/new/ gen.py") == []
    noted(repo, "write", denied=True)
    assert told(repo, "sed -i s/old/new/ gen.py") == [("gen.py", False)]
