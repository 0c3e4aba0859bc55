"""What real bash runs of random scripts is read of them, or told as unknown, wherever their redirects stand."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from ahp.agents.shell.commands import read

BEFORE = 'V="v w"; G=git\n'
WORDS = [
    r"commit",
    r"-n",
    r"--x",
    r"'b c'",
    r'"-m"',
    r"$V",
    r'"$V"',
    r"x=y",
    r"{p,q}",
    r"a\ b",
    r"$'t'",
    r"--",
    r"1",
    r"$(echo cs)",
    r"do",
    r"a#b",
    r"${V:-d}",
    r"+f",
    r":r",
]
REDIRECTS = [
    ">o",
    "> o",
    "2>o",
    "&>o",
    ">>o",
    "2>&1",
    ">&2",
    "<i",
    "<<<w",
    "<<< 'w v'",
    "3>o",
    "1>&2",
    ">/dev/null 2>&1",
]
PROGRAMS = ["git", "'git'", "g''it", "\\git", "$G", "command git", "env B=c git", "! git", "time A=b git"]
AROUND = [
    "{0}",
    "{0}; {1}",
    "{0} && {1}",
    "({0}; {1})",
    "{{ {0}; }} >o 2>&1; {1}",
    "time {{ {0}; }}",
    "! {{ {0}; {1}; }}",
    "if ! {0}; then :; else {1}; fi",
    "for f in 1 2; do {0}; done",
    "while {0}; do {1}; break; done",
    "case x in x) {0};; esac; {1}",
    "f() {{ {0}; }}; f; {1}",
    'echo "$({0})"; {1}',
    "[[ a == a ]] && {0}",
    "{0} # -n",
]


def command(chance: random.Random) -> str:
    parts = [chance.choice(REDIRECTS)] if chance.random() < 0.2 else []
    parts += ["A=b"] if not parts and chance.random() < 0.3 else []
    parts.append(chance.choice(PROGRAMS[:-2] if parts else PROGRAMS))
    for _ in range(chance.randint(1, 6)):
        parts.append(chance.choice(WORDS if chance.random() < 0.65 else REDIRECTS))
    return " ".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_command_that_bash_runs_is_read_with_its_words(tmp_path: Path, seed: int) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not here")
    chance, log = random.Random(seed), tmp_path / "log"
    (tmp_path / "git").write_text(f"#!/bin/sh\nfor word; do printf '%s\\037' \"$word\"; done >> {log}\necho >> {log}\n")
    (tmp_path / "git").chmod(0o755)
    (tmp_path / "i").write_text("line\n")
    for _ in range(100):
        script = chance.choice(AROUND).format(command(chance), command(chance))
        log.write_text("")
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        given = [bash, "-c", BEFORE + script]
        subprocess.run(given, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        found = read(BEFORE + script)
        if any(one.unresolved for one in found):
            continue  # it is told that there is more than could be read
        told = [one.args for one in found if one.program == "git"]
        for line in log.read_text().splitlines():
            assert line == "" or line.split("\037")[:-1] in told, script
