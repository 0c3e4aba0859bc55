"""ahp.agents.calls.server_tools"""

from __future__ import annotations

from typing import Any

import pytest

from ahp.agents.calls.server_tools import command_of, does
from ahp.agents.calls.tool_call import read


@pytest.mark.parametrize(
    ("native", "what"),
    [
        *[(f"mcp__fs__{name}", "write") for name in ("write_file", "moveFile", "create-directory", "get_and_delete")],
        *[(f"mcp__writer__{name}", "read") for name in ("read_file", "listDirectory", "search")],
        ("mcp__fs__frobnicate", "unknown"),
    ],
)
def test_what_a_tool_does_is_read_of_its_own_name(native: str, what: str) -> None:
    assert does(native) == what


@pytest.mark.parametrize(
    ("native", "given", "command"),
    [
        ("mcp__shell__do", {"command": "rm x"}, "rm x"),
        ("mcp__x__executeCommand", {"cmd": ["rm", "a b"]}, "rm 'a b'"),
        ("mcp__x__run_process", {"command": "git", "args": ["commit", "-n"]}, "git commit -n"),
        ("mcp__ide__runTask", {"task": {"command": "git", "args": ["commit", "-n"]}}, "git commit -n"),
        ("mcp__editor__insert", {"command": "x"}, None),
        ("mcp__ide__executeCode", {"code": "f(1)"}, "ipython -c 'f(1)'"),
        ("REPL", {"code": "1"}, "ipython -c 1"),
        ("mcp__figma__get_code", {"code": "1"}, None),
        ("write_stdin", {"chars": "git commit -n\n"}, "typed eval 'git commit -n'"),
        ("write_bash", {"input": "ls{enter}"}, "typed eval ls"),
        ("write_stdin", {"chars": "\x03"}, ""),
        ("mcp__openai__run_model", {"input": "what is rm -rf?"}, None),
        ("mcp__git__git_commit", {"repo_path": "/p", "message": "x"}, "git -C /p commit"),
        ("mcp__git__git_commit", {"options": ["--no-verify"]}, "git commit --no-verify"),
        ("mcp__git__git_push", {"flags": "--force -q", "remote": "origin"}, "git push --force -q origin"),
        ("mcp__git__git_log", {"options": {"limit": 5}}, "git log"),
        ("mcp__git__run", {"argv": ["git", "commit", "-n"], "cwd": "/p"}, "git -C /p commit -n"),
        ("mcp__host__exec", {"argv": ["git", "commit", "-n"]}, "git commit -n"),
        ("mcp__host__run", {"command": "git", "argv": ["commit", "-n"]}, "git commit -n"),
        ("mcp__git__commit", {"noVerify": True, "amend": False}, "git commit --no-verify"),
        ("git_cherryPick", {"path": "/p", "no_commit": True}, "git -C /p cherry-pick --no-commit"),
        ("MCP:git_push", {"force": True, "remote": "origin", "branch": "+x"}, "git push --force origin +x"),
        ("mcp__git__git_reset", {"mode": "hard"}, "git reset --hard"),
        ("mcp__git__set_working_dir", {"path": "/p"}, None),
        ("mcp__github__merge_pull_request", {"owner": "o"}, None),
        ("TodoWrite", {"todos": [{"content": "git push --force"}]}, None),
        ("BashOutput", {"bash_id": "1"}, None),
    ],
)
def test_the_command_that_does_the_same(native: str, given: dict[str, Any], command: str | None) -> None:
    assert command_of(native, given) == command


@pytest.mark.parametrize(
    ("native", "given", "writes", "may_write"),
    [
        ("filesystem_write_file", {"path": "/p/a", "content": "x"}, ["a"], []),  # opencode's name of a server's tool
        ("github-get_file", {"path": "/p/a"}, [], []),
        ("mcp__code-index__set_project_path", {"path": "/p"}, [], []),
        ("mcp__x__activate", {"project_path": "/p/"}, [], []),
        ("mcp__x__frobnicate", {"path": "/p/a"}, [], ["a"]),
        ("mcp__fs__delete_directory", {"path": "/p"}, ["."], []),
        ("mcp__git__git_add", {"repo_path": "/p", "files": ["a"]}, [], []),
        ("LSP", {"filePath": "/p/a"}, [], []),
    ],
)
def test_the_files_that_it_is_given(
    native: str, given: dict[str, Any], writes: list[str], may_write: list[str]
) -> None:
    found = read("", native, given, root="/p")
    assert (found["writes"], found.get("may_write", [])) == (writes, may_write)
