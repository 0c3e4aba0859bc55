"""What a shell script of the disk does is told of the call that runs it."""

from __future__ import annotations

from typing import Any

from ahp.facts import run_scripts, tool_call
from tests.conftest import Repo

FILES = {
    "x.sh": "#!/usr/bin/env bash\nset -e\ngit commit -nm x\n",
    "plain": "cd sub\ngit push --force\n",
    "outer.sh": ". ./x.sh; bash loop.sh\n",
    "loop.sh": "bash loop.sh; bash outer.sh; $RUN y; echo x > .ahp/hooks.yaml; rm $F src/*\n",
    "sub/up.sh": "bash ../x.sh\n",
    "p.py": "#!/usr/bin/env python3\nprint('git commit -n')\n",
    "binary": b"#!/bin/sh\n\0git commit -n\n",
    "large.sh": "git commit -n\n" + "#" * (64 << 10),
}
COMMIT, PUSH = "git commit -n", "git push --force"


def followed(make_event: Any, command: str, folder: str = "") -> tuple[dict[str, Any], list[str]]:
    """The call, and its commands beside those that it names, with their first flag."""
    event = make_event("pre-tool-use", view=None)
    event.tool = tool_call.read("", "Bash", {"command": command}, root=event.root, folder=folder)
    before = len(event.tool["commands"])
    run_scripts.follow(event)
    added = event.tool["commands"][before:]
    assert not any(one["unresolved_at"] or one["may_write"] for one in added)
    return event.tool, [" ".join([one["program"], one["verb"], *one["flags"][:1]]).strip() for one in added]


def test_the_commands_of_a_script_that_runs_are_those_of_the_call(repo: Repo, make_event: Any) -> None:
    for name, text in FILES.items():
        repo.write(name, text, mode=0o755)
    for command, added in (
        ("bash x.sh", [COMMIT]),
        ("./x.sh arg", [COMMIT]),
        (f"sh {repo.root}/x.sh", [COMMIT]),
        ("cd sub && timeout 5 bash ../x.sh", [COMMIT]),
        ("source x.sh", [COMMIT]),
        ("bash -ex plain", [PUSH]),
        ("bash sub/up.sh; cat x.sh; bash -n x.sh", []),
        ("cd sub; . ./up.sh", [COMMIT]),
        ("git commit -m x.sh; make x.sh; ls ./x.sh", []),
        ("./plain; ./p.py; python3 p.py; bash p.py; bash binary; bash large.sh; bash gone.sh; bash sub; bash $X", []),
        ("echo ls > x.sh; bash x.sh", []),
    ):
        found = [one for one in followed(make_event, command)[1] if one.startswith("git")]
        assert found == added, command


def test_scripts_that_run_each_other_are_read_once_and_only_what_is_sure_counts(repo: Repo, make_event: Any) -> None:
    for name, text in FILES.items():
        repo.write(name, text)
    call, added = followed(make_event, "bash ../outer.sh", "sub")
    assert added.count(COMMIT) == 0  # what they name is named from where they run
    call, added = followed(make_event, "bash outer.sh")
    assert added.count(COMMIT) == 1 and "echo" in added
    assert call["writes"] == [".ahp/hooks.yaml"]


def test_what_head_has_as_it_lies_there_is_the_projects_own(repo: Repo, make_event: Any) -> None:
    repo.commit("scripts", **{"x.sh": FILES["x.sh"]})
    assert followed(make_event, "bash x.sh")[1] == []
    repo.write("x.sh", FILES["x.sh"] + "# changed\n")
    assert COMMIT in followed(make_event, "bash x.sh")[1]
