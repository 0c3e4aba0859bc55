"""What a script of the disk does is told of the call that runs it."""

from __future__ import annotations

from typing import Any

from ahp.agents.calls import run_scripts, tool_call
from tests.conftest import Repo

FILES = {
    "x.sh": "#!/usr/bin/env bash\nset -e\ngit commit -nm x\n",
    "plain": "cd sub\ngit push --force\n",
    "outer.sh": ". ./x.sh; bash loop.sh\n",
    "loop.sh": "bash loop.sh; bash outer.sh; $RUN y; echo x > .ahp/hooks.yaml; rm $F src/*\n",
    "sub/up.sh": b"# \xff\nbash ../x.sh\n",
    "p.py": "#!/usr/bin/env python3\nprint('git commit -n')\n",
    "e.py": "import subprocess\np = '.ahp/hooks.yaml'\nopen(p, 'w')\nsubprocess.run(['git', 'commit', '-n'])\n",
    "run.py": "#!/usr/bin/env -S python3.11 -u\nimport os\nos.remove('.git/hooks/pre-commit')\n",
    "sub/pkg/__main__.py": "open('.ahp/waivers.yaml', 'a').write('x')\n",
    "w.js": "require('fs').writeFileSync('.ahp/hooks.yaml', '')\n",
    "w.go": 'package main\nimport "os"\nfunc main() { os.WriteFile(".ahp/hooks.yaml", nil, 0644) }\n',
    "w.pl": "unlink '.ahp/hooks.yaml';\n",
    "w.sql": ".output .ahp/hooks.yaml\nselect 1;\n",
    "given.py": "import sys\nopen(sys.argv[1], 'w').write(open('README').read())\n",
    "given.sh": "cp README $1\n",
    "liar": "#!/usr/bin/env python3\ngit commit -n\n",
    "makefile": "all:\n\tgit commit -n\n",
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
        ("bash liar", [COMMIT]),
        ("./liar; python liar", []),
        ("bash sub/up.sh; cat x.sh; bash -n x.sh", []),
        ("cd sub; . ./up.sh", [COMMIT]),
        ("git commit -m x.sh; make x.sh; ls ./x.sh", []),
        ("python3 -u e.py", [COMMIT]),
        ("timeout 5 uv run --frozen e.py; python e.py", [COMMIT]),
        ("cd sub && python -m pkg; cat e.py", []),
        ("python < e.py", [COMMIT]),
        ("cat e.py | python -", [COMMIT]),
        ("cat plain | bash -s x", [PUSH]),
        ("coverage run --source=src e.py", [COMMIT]),
        ("cp e.py /tmp/f.py && ln -s /tmp/f.py g.py; python g.py", [COMMIT]),
        ("make -f makefile; git apply w.sql; python -m pytest e.py; pytest e.py; python sub", []),
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


def test_what_a_script_in_another_language_writes_is_written_by_the_call(repo: Repo, make_event: Any) -> None:
    for name, text in FILES.items():
        repo.write(name, text, mode=0o755)
    for command, writes in (
        ("python e.py", ".ahp/hooks.yaml"),
        ("python -m e", ".ahp/hooks.yaml"),
        ("./run.py", ".git/hooks/pre-commit"),
        ("cd sub; python3 -m pkg", "sub/.ahp/waivers.yaml"),
        ("node w.js", ".ahp/hooks.yaml"),
        ("go run -tags x w.go", ".ahp/hooks.yaml"),
        ("perl w.pl", ".ahp/hooks.yaml"),
        ("sqlite3 x.db < w.sql", ".ahp/hooks.yaml"),
        ("sqlite3 -init w.sql x.db ''", ".ahp/hooks.yaml"),
        ("bash given.sh a.txt; bash given.sh .ahp/hooks.yaml", ".ahp/hooks.yaml"),
    ):
        assert writes in followed(make_event, command)[0]["writes"], command
    repo.commit("scripts", **{"e.py": FILES["e.py"]})
    assert followed(make_event, "python e.py")[0]["writes"] == []


def test_a_script_may_write_the_files_that_it_is_given(repo: Repo, make_event: Any) -> None:
    repo.write("given.py", FILES["given.py"])
    event = make_event("pre-tool-use", view=None)
    event.tool = tool_call.read("", "Bash", {"command": "cd sub; python ../given.py ./ a.txt x"}, root=event.root)
    run_scripts.follow(event)
    assert [one["may_write"] for one in event.tool["commands"]] == [[], [], ["sub/a.txt"]]
