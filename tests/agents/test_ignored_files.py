"""A user's key in a file that git ignores: an agent may write it there, and no commit takes it."""

from __future__ import annotations

from tests.agents.conftest import Ask, Call
from tests.conftest import Repo

KEY = "TOKEN=ghp_" + "a1B2" * 9 + "\n"


def test_an_agent_writes_a_key_only_where_git_ignores_it(project: Repo, ask: Ask, call: Call) -> None:
    project.write(".ahp/hooks.yaml", "extends: [core]\n")
    refused = ask(call("Write", file_path=".env", content=KEY))
    assert refused.code == 2 and "a file that git ignores" in refused.text
    project.write(".gitignore", ".env\n")
    assert ask(call("Write", file_path=".env", content=KEY)) == (0, None, "")
    assert ask(call("Bash", command=f"echo {KEY.strip()} >> .env")) == (0, None, "")
    said = ask(call("Write", file_path="app.py", content=KEY))
    assert said.code == 2 and "app.py:1" in said.text
