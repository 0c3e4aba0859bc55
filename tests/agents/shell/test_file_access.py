from __future__ import annotations

import pytest

from ahp.agents.shell.commands import read


@pytest.mark.parametrize(
    ("script", "paths", "writes"),
    [
        ("echo secret > out 2>/dev/null", "out", "out"),
        ("printf a.b | tee -a log", "log", "log"),
        ("cat .env - < x", ".env", ""),
        ("cd sub && rm -rf b /tmp/c", "sub/b /tmp/c", "sub/b /tmp/c"),
        ("truncate -s 0 a.txt", "a.txt", "a.txt"),
        ("rm -- -x", "-x", "-x"),
        ("sed s/a/b/ f", "f", ""),
        ("sed -i s/a/b/ f g", "f g", "f g"),
        ("sed -i -e s/a/b/ f", "f", "f"),
        ("chmod +x run", "run", "run"),
        ("grep -r secret src", "src", ""),
        ("cp x/a b", "x/a b b/a", "b b/a"),
        ("cp -t there a b", "a b there there/a there/b", "there there/a there/b"),
        ("cp --target-directory=there a", "a there there/a", "there there/a"),
        ("mv a b", "a b b/a", "a b b/a"),
        ("dd if=a of=b bs=1", "a b", "b"),
        ("sort -o out in", "in out", "out"),
        ("curl -ofile https://x.example/y.z", "file", "file"),
        ("git -C sub rm f", "sub/f", "sub/f"),
        ("git checkout main -- a b", "a b", "a b"),
        ("git checkout main", "", ""),
        ("git add src/a.py v1", "src/a.py v1", ""),
        ("tool --config=c.toml -v word a.b 'a sentence. here' https://x.y ..", "c.toml a.b", ""),
        ("find . src -name x -exec rm {} +", ". src ./**/x src/**/x", "./**/x src/**/x"),
        ("find a | xargs rm", "a a/**/*", "a/**/*"),
        ("bash -c 'rm q'", "q", "q"),
        ("bash run.sh", "run.sh", ""),
        ("cat /dev/fd/3 ''", "", ""),
        ("export A=b.c; true a.b", "", ""),
        ("A=1", "", ""),
    ],
)
def test_the_files_of_a_command(script: str, paths: str, writes: str) -> None:
    commands = read(script)
    assert [
        sorted({path for one in commands for path in one.paths}),
        sorted({path for one in commands for path in one.writes}),
    ] == [sorted(paths.split()), sorted(writes.split())]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("git -C x push -f", "git push"),
        ("npm install left-pad", "npm install"),
        ("rm -rf x", "rm"),
        ("cat a", "cat"),
        ("git", "git"),
    ],
)
def test_program_and_verb(script: str, said: str) -> None:
    command = read(script)[0]
    assert f"{command.program} {command.verb}".strip() == said
