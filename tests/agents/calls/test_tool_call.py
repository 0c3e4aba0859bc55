"""ahp.agents.calls.tool_call"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ahp.agents.calls.tool_call import Touched, changed, read


def programs(found: dict[str, Any]) -> list[str]:
    return [one["program"] for one in found["commands"]]


def test_a_shell_call_is_read_by_the_shell_room() -> None:
    found = read("shell", "Bash", {"command": "git push -f; cat /p/.env > sub/../x"}, root="/p")
    assert (found["name"], found["native_name"], found["command"]) == ("shell", "Bash", found["input"]["command"])  # type: ignore[index]
    assert programs(found) == ["git", "cat"]
    assert (found["paths"], found["writes"], found["target"]) == ([".env", "x"], ["x"], "shell git push cat")


@pytest.mark.parametrize("given", [{"command": ["bash", "-lc", "rm x"]}, {"cmd": "rm x"}, {"script": "rm x"}])
def test_clients_call_a_command_by_many_names(given: dict[str, object]) -> None:
    found = read("shell", "exec", given)
    assert "rm" in programs(found)
    assert found["commands"][-1]["may_write"] == ["x"]  # type: ignore[index]


def test_a_command_runs_where_the_call_says() -> None:
    assert read("shell", "exec", {"cmd": "a > ../x", "workdir": "/p/sub/deep"}, root="/p")["writes"] == ["sub/x"]


@pytest.mark.parametrize("given", [{}, {"command": 5}, {"command": []}, {"command": ["a", 1]}])
def test_a_shell_call_without_a_command_is_unresolved(given: dict[str, object]) -> None:
    found: dict[str, Any] = read("shell", "exec", given)
    assert [one["unresolved"] for one in found["commands"]] == [True]
    assert (found["command"], found["paths"], found["target"]) == ("", [], "shell")


def test_an_empty_command_does_nothing() -> None:
    assert read("shell", "exec", {"command": ""})["commands"] == []


def test_the_files_of_other_tools_are_their_arguments() -> None:
    found = read("write", "Write", {"file_path": "/p/a/../b", "paths": ["./c", 1, ""], "text": "x/y"}, root="/p")
    assert (found["paths"], found["writes"]) == (["b", "c"], ["b", "c"])
    assert (found["command"], found["commands"], found["target"]) == ("", [], "write b c")
    assert read("read", "Read", {"path": "a"})["writes"] == []
    assert read("other", "save", {"path": "a"}, writes=True)["writes"] == ["a"]


def test_a_patch_names_its_files() -> None:
    codex = (
        "*** Begin Patch\n*** Add File: a\n+*** Add File: not\n*** Update File: /p/b\n*** Move to: c\n*** End Patch\n"
    )
    assert read("patch", "apply_patch", {"command": codex}, root="/p")["writes"] == ["a", "b", "c"]
    lenient = "*** Begin Patch\n  *** Update File:b \n@@\n--- no\n+++ no\n*** End Patch\n"
    assert read("patch", "apply_patch", {"patchText": lenient})["writes"] == ["b"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("diff --git a/x b/x\n--- a/x\t2026\n+++ b/y\n", ["x", "y"]),
        ("--- .ahp/x\n+++ .ahp/x\n@@ -1 +1 @@\n--- b\n+c\n", [".ahp/x"]),
        ("--- /dev/null\n+++ b/new\n", ["new"]),
        ("diff --git a/x b/y\nrename from x\nrename to y\n", ["y", "x"]),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", ["x"]),
    ],
)
def test_a_unified_diff_names_its_files(text: str, named: list[str]) -> None:
    assert read("patch", "patch", {"patch": text})["writes"] == named


def test_a_long_target_keeps_its_own_name() -> None:
    one, other = (read("write", "w", {"paths": ["x" * 400 + end]})["target"] for end in "ab")
    assert one != other
    assert len(str(one)) < 320


def test_what_a_change_leaves_alone_stays_as_the_client_told_it() -> None:
    told = {"name": "shell", "native_name": "sh", "input": {"command": "rm a", "timeout": 900}, "output": "x"}
    told = {**read("shell", "sh", told["input"]), **told, "paths": ["a", "known"]}  # type: ignore[arg-type]
    shorter = changed(told, {"command": "rm a", "timeout": 5})
    assert (shorter["paths"], shorter["input"], shorter["output"]) == (
        ["a", "known"],
        {"command": "rm a", "timeout": 5},
        "x",
    )
    other = changed(told, {"command": "cat b", "timeout": 900})
    assert (other["command"], other["paths"], other["writes"], other["target"]) == ("cat b", ["b"], [], "shell cat")
    assert told["command"] == "rm a"


def test_what_the_client_did_not_tell_is_read_when_it_changes() -> None:
    after = changed({"name": "write", "input": None}, {"path": "a"})
    assert (after["paths"], "command" in after) == (["a"], False)


def test_what_is_no_shell_call_does_not_load_the_shell_room() -> None:
    code = "import sys; from ahp.agents.calls.tool_call import read; read('patch', 'w', {}); "
    code += "print('ahp.agents.shell' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False\n"


@pytest.mark.parametrize(
    "given",
    [
        {"dst": "a"},
        {"output_file": "a"},
        {"outputPath": "a"},
        {"save-path": "a"},
        {"URI": "file://a"},
        {"edits": [{"path": "a"}, {"text": "b"}]},
        {"to": {"file": {"path": "a"}}},
        {"filenames": ["a"]},
    ],
)
def test_arguments_named_like_paths_are_paths_wherever_they_stand(given: dict[str, object]) -> None:
    assert read("write", "w", given)["writes"] == ["a"]


@pytest.mark.parametrize("given", [{"text": "a"}, {"uri": "https://a"}, {"profile": "a"}, {"path": "x" * 5000}, {1: 2}])
def test_other_arguments_are_none(given: dict[str, object]) -> None:
    assert read("write", "w", given)["paths"] == []


def test_arguments_nested_without_end_are_read_to_a_bound() -> None:
    nested: dict[str, object] = {"path": "deep"}
    for _ in range(1000):
        nested = {"x": nested, "path": "a"}
    assert read("write", "w", nested)["paths"] == ["a"]


def test_a_path_ends_where_it_does_for_the_system() -> None:
    assert read("", "Write", {"file_path": ".ahp/hooks.yaml\0x"}, root="/p")["writes"] == [".ahp/hooks.yaml"]


def test_a_server_s_command_may_come_with_its_arguments_beside_it() -> None:
    found = read("", "mcp__shell__run", {"cmd": "git", "args": ["commit", "--no-verify"]}, root="/p")
    assert found["commands"][0]["flags"] == ["--no-verify"]  # type: ignore[index]


def test_powershell_s_backslash_is_no_escape() -> None:
    found = read(
        "", "PowerShell", {"command": "Set-Content -Path .ahp\\hooks.yaml; git commit --no-veri`fy"}, root="/p"
    )
    assert ".ahp/hooks.yaml" in found["paths"]  # type: ignore[operator]
    assert found["commands"][-1]["flags"] == ["--no-verify"]  # type: ignore[index]


def test_a_path_is_told_as_written_and_as_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "link").symlink_to("secrets")
    found = read("shell", "sh", {"command": "echo k > link/k; cat /proc/self/cwd/x"}, root=str(tmp_path))
    assert found["writes"] == ["link/k", "secrets/k"]
    assert "x" in found["paths"]  # type: ignore[operator]


def test_what_a_tool_says_goes_before_the_names_of_its_arguments() -> None:
    said = Touched(["r"], ["w"], "rm > c")
    found = read("other", "make", {"path": "a"}, touched=said)
    assert (found["paths"], found["writes"]) == (["c", "r", "w"], ["c", "w"])
    assert (found["command"], found["target"]) == ("rm > c", "shell rm")


def test_in_a_checkout_links_are_followed_there_and_paths_are_those_of_the_root(tmp_path: Path) -> None:
    root, run = tmp_path / "root", tmp_path / "run"
    for folder in (root / "secrets", run / "1" / "secrets", run / "2"):
        folder.mkdir(parents=True)
    (run / "1" / "open").symlink_to("secrets")
    (run / "1" / "packages").symlink_to(root / "packages")

    def paths(command: str) -> object:
        return read("shell", "sh", {"command": command}, root=str(root), checkout=f"{run}/1")["writes"]

    assert paths("echo x > open/k") == ["open/k", "secrets/k"]
    assert paths(f"echo x > {root}/open/k") == ["open/k", "secrets/k"]
    assert paths("echo x > packages/a") == ["packages/a"]
    assert "secrets/k" in paths("echo x > ../2/secrets/k")  # type: ignore[operator]
    assert paths("echo x > /etc/x") == ["/etc/x"]
    assert read("write", "w", {"path": "open/k"}, root=str(root), checkout=f"{run}/1")["paths"] == [
        "open/k",
        "secrets/k",
    ]
