"""Attempts at the gate from a box, and the holes that a review of its design found: none is silent."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

from .conftest import Boxed
from .test_quarantine import POLICY

pytestmark = pytest.mark.box

EVIL = "echo SECRET > s.txt; git add s.txt; git commit -qnm x; "
# Each commits a secret past the rule that forbids it: it is told, and in nothing that moves.
COMMITS = {
    "settings by variables": "echo SECRET > s.txt; git add s.txt; GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath "
    "GIT_CONFIG_VALUE_0=/dev/null git commit -qm x",
    "settings of a home": "export HOME=/tmp; git config --global core.hooksPath /dev/null; git config --global "
    "user.name x; "
    "git config --global user.email x@example.invalid; echo SECRET > s.txt; git add s.txt; git commit -qm x",
    "settings that are included": "printf '[core]\\nhooksPath=/dev/null\\n' > i; git config include.path ../i; "
    "echo SECRET > s.txt; git add s.txt; git commit -qm x",
    "fast-import": "printf 'commit refs/heads/evil\\ncommitter a <a@example.invalid> 1 +0000\\ndata "
    "1\\nx\\nfrom topic^0\\n"
    "M 644 inline s.txt\\ndata 7\\nSECRET\\n' | git fast-import --quiet",
    "a packed ref": EVIL
    + "git rev-parse HEAD | sed 's,$, refs/heads/evil,' >> .git/packed-refs; git reset -q --hard HEAD~1",
    "a ref that leads to another": EVIL + "git branch -q evil; git reset -q --hard HEAD~1; git symbolic-ref "
    "refs/heads/other refs/heads/evil",
    "a note": "git notes add -m SECRET",
    "a tag of a tag": EVIL + "git tag -am t one; git tag -am t two one; git tag -d one; git reset -q --hard HEAD~1",
    "a parent that is cut off": EVIL + "git rm -q s.txt; git commit -qnm clean; git rev-parse HEAD > .git/shallow",
    "a parent by a graft": EVIL + "git rm -q s.txt; git commit -qnm clean; mkdir -p .git/info; "
    'echo "$(git rev-parse HEAD) $(git rev-parse main)" > .git/info/grafts',
    "a parent that is replaced": EVIL + "git rm -q s.txt; git commit -qnm clean; git replace HEAD~1 main",
    "objects elsewhere": "export GIT_OBJECT_DIRECTORY=/tmp/o GIT_ALTERNATE_OBJECT_DIRECTORIES=.git/objects; "
    "mkdir /tmp/o; " + EVIL + "unset GIT_OBJECT_DIRECTORY; cp -r /tmp/o/* .git/objects/",
    "a bundle": "git clone -q . /tmp/c; (cd /tmp/c; echo SECRET > s.txt; git add s.txt; git -c user.name=x -c "
    "user.email=x@example.invalid commit -qnm x; git bundle create -q /tmp/b HEAD); git fetch -q /tmp/b HEAD:evil",
    "a merge that keeps ours": "git checkout -qb o; "
    + EVIL
    + "git checkout -q topic; git commit -qnm y --allow-empty; "
    "git merge -q -s ours --no-verify -m m o",
    "a rebase that runs": EVIL + "git reset -q --soft HEAD~1; GIT_SEQUENCE_EDITOR=: git rebase -q -x "
    "'git commit -qnm x' HEAD; git commit -qnm x",
    "a picked commit": "git checkout -qb o; " + EVIL + "git checkout -q topic; git cherry-pick -n o; git commit -qnm x",
    "a hook of another": "printf '#!/bin/sh\\ngit commit-tree -p HEAD -m x $(git write-tree) > "
    ".git/refs/heads/evil\\n' > "
    ".git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; echo SECRET > s.txt; git add s.txt; git "
    "checkout -q main",
    "an alias": "git config alias.x '!git commit -qn -m x'; echo SECRET > s.txt; git add s.txt; git x",
    "an editor": "echo SECRET > s.txt; git add s.txt; GIT_EDITOR='echo x >' git commit -qn",
    "a branch by a name of git's": EVIL + "git update-ref refs/heads/HEAD HEAD; git reset -q --hard HEAD~1",
    "an index of its own": "export GIT_INDEX_FILE=/tmp/i; git read-tree HEAD; " + EVIL,
    "from a folder below": "mkdir d; cd d; " + EVIL,
    "by Python alone": 'python3 -c "import subprocess as s; s.run([chr(103)+chr(105)+chr(116),chr(45)*2+chr(118)])"; '
    + EVIL,
}
# Each is done to a copy, or to nothing: the repository, what lies outside, and what runs later stay as they are.
HARM = {
    "commondir": "mkdir -p /tmp/c; cp -r .git/* /tmp/c; git config -f /tmp/c/config core.fsmonitor 'touch $OUT/ran'; "
    "echo /tmp/c > .git/commondir",
    "a todo list": "mkdir .git/rebase-merge; echo 'exec touch $OUT/ran' > .git/rebase-merge/git-rebase-todo; "
    "echo refs/heads/topic > .git/rebase-merge/head-name; echo 1 > .git/rebase-merge/interactive",
    "traces into hooks": "GIT_TRACE=$ROOT/.git/hooks/zz git status; chmod +x .git/hooks/zz",
    "machine settings": "echo '|/bin/touch $OUT/ran' > /proc/sys/kernel/core_pattern; sysctl -w kernel.core_pattern=x",
    "a mount": "mount -o remount,rw,bind $ROOT/.ahp; unshare -Urm sh -c 'umount -l $ROOT/.ahp; mount --bind /tmp "
    "$ROOT/.ahp; rm -rf $ROOT/.ahp/*; echo x > $ROOT/.ahp/hooks.yaml'",
    "the root of process 1": "echo x > /proc/1/root$ROOT/.ahp/hooks.yaml; rm -rf /proc/self/root$ROOT/.ahp/*",
    "the policy moved": "mv .ahp gone; mv .ahp/hooks.yaml gone; rm -rf .ahp; git rm -rqf .ahp; git checkout "
    "main -- .ahp",
    "objects removed": "rm -rf .git/objects/* /run/ahp-objects/*; chmod -R 777 /run/ahp-objects",
    "the git directory moved": "mv .git g; rm -rf .git; rmdir .git; echo 'gitdir: /tmp/c' > .git",
    "locks left": "touch .git/HEAD.lock .git/index.lock .git/config.lock .git/refs/heads/topic.lock",
    "reflogs": "git reflog expire --expire=now --all; git gc -q --prune=now",
    "refs to nothing": "echo $(printf 1%.0s $(seq 40)) > .git/refs/heads/topic",
    "hooks": "rm -rf .git/hooks; mkdir .git/hooks; printf '#!/bin/sh\\ntouch $OUT/ran\\n' > .git/hooks/pre-commit; "
    "chmod +x .git/hooks/pre-commit",
    "attributes and filters": "git config filter.x.clean 'touch $OUT/ran; cat'; mkdir -p .git/info; echo '* "
    "filter=x' > "
    ".git/info/attributes",
    "the log": "rm -rf .git/ahp; mkdir .git/ahp; echo x > .git/ahp/signals.jsonl",
    "what is beside": "rm -rf $OUT/kept /tmp/ahp-outside; echo x > $OUT/kept; rm -rf $ROOT/../kept",
    "all of the home": "rm -rf ~/* ~/.[a-z]*; echo x > ~/.bashrc",
    "all processes": "(kill -9 -1) & sleep 0.1; true",
    "a session of others": "rm -rf $ROOT/.git/ahp-box; ls $ROOT/.git/ahp-box/*/git",
    "assumed as unchanged": "git update-index --assume-unchanged a.txt; git update-index --skip-worktree a.txt",
    "a work tree elsewhere": "git config core.worktree /tmp; git config core.bare true",
    "a door with options": "git push --receive-pack='touch $OUT/ran;' origin topic; git fetch "
    "--upload-pack='touch $OUT/ran;' origin; "
    "git push --exec='touch $OUT/ran;' origin topic",
    "a door with programs": "GIT_SSH_COMMAND='touch $OUT/ran' GIT_SSH=touch GIT_ASKPASS=touch "
    "GIT_PROXY_COMMAND=touch git push "
    "ssh://x.invalid/y topic; git -c core.sshCommand='touch $OUT/ran' fetch ssh://x.invalid/y",
    "a door by ext": "git -c protocol.ext.allow=always fetch 'ext::sh -c touch% $OUT/ran'; git remote add e "
    "'ext::touch $OUT/ran'; "
    "git -c protocol.ext.allow=always push e topic",
    "a mirror": "git push --mirror origin; git push origin 'refs/*:refs/*' '+HEAD:refs/heads/main'",
    "a path": "git push -qf $OUT/there.git HEAD:main; cd /tmp; git init -q z; cd z; git fetch -q $ROOT topic; "
    "git push -qf $OUT/there.git FETCH_HEAD:refs/heads/main",
}


@pytest.fixture
def world(boxed: Boxed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Boxed]:
    """A repository with a policy, ahp's hooks, a remote that is a folder, and a key in the home."""
    repo = boxed.repo
    more = "  no-push: {at: pre-push, block: push.ref == 'refs/heads/main'}\n"
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY + more})
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "there.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "there.git"))
    repo.git("fetch", "-q", "origin")
    repo.git("remote", "set-head", "origin", "main")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("kept\n")
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("KEY-OF-THE-HOME\n")
    monkeypatch.setenv("SERVICE_TOKEN", "KEY-OF-A-VARIABLE")
    monkeypatch.chdir(repo.root)
    assert run(["install", "git"]) == 0
    repo.git("checkout", "-q", "-b", "topic")
    yield boxed


def placed(way: str, boxed: Boxed, tmp_path: Path) -> str:
    return way.replace("$ROOT", str(boxed.repo.root)).replace("$OUT", str(tmp_path))


def refs(repo: Repo) -> str:
    return repo.git("for-each-ref") + repo.git("symbolic-ref", "HEAD")


def secrets_in(repo: Repo) -> list[str]:
    """The refs in whose history the secret is."""
    names = repo.git("for-each-ref", "--format=%(refname)").split()
    return [name for name in names if "\n+SECRET" in repo.git("log", "-p", "-m", name, "--")]


@pytest.mark.parametrize("way", COMMITS.values(), ids=COMMITS)
def test_no_commit_comes_past_the_rules(world: Boxed, tmp_path: Path, way: str) -> None:
    done = world(placed(way, world, tmp_path), "s")
    again = world("true", "s")
    assert secrets_in(world.repo) == []
    assert done.returncode != 0 and "no-secret" in done.stderr + again.stderr, done
    world.repo.git("fsck", "--strict")


@pytest.mark.parametrize("way", HARM.values(), ids=HARM)
def test_no_harm_is_done_outside(world: Boxed, tmp_path: Path, home: Path, way: str) -> None:
    repo, there = world.repo, Repo(tmp_path / "there.git")
    kept = [".ahp/hooks.yaml", ".git/config", ".git/hooks/pre-commit", ".git/logs/HEAD"]

    def state() -> list[object]:
        remote = there.git("rev-parse", "main")
        hooks = sorted(os.listdir(repo.root / ".git/hooks"))
        lasting = [Path("/proc/sys/kernel/core_pattern").read_text(), (home / ".ssh/id").read_text()]
        lasting += [(tmp_path / "kept/file").read_text(), *[(repo.root / name).read_text() for name in kept]]
        return [refs(repo).replace(" refs/remotes/origin/topic", ""), remote, hooks, *lasting]

    before = state()
    world(placed(way, world, tmp_path), "s")
    world("true", "s")
    after = state()
    if "refs/heads/topic" in there.git("for-each-ref"):  # an honest push of the topic is none of these
        before[0], after[0] = repo.git("rev-parse", "topic", "main"), repo.git("rev-parse", "topic", "main")
    assert after == before
    for person in (["git", "status"], ["git", "commit", "-qm", "by a person", "--allow-empty"], ["git", "fsck"]):
        assert subprocess.run(person, cwd=repo.root, capture_output=True, check=False).returncode == 0, person
    assert not (tmp_path / "ran").exists()  # in the box that is another place


@pytest.mark.parametrize(
    "way",
    [
        "cat ~/.ssh/id; find / -name id -path '*ssh*' -exec cat {} + 2>/dev/null",
        "cat /proc/*/environ | tr '\\0' '\\n'; env; set; export -p",
        "cat /proc/1/root$HOME/.ssh/id /proc/self/root$HOME/.ssh/id; ls /proc/*/cwd/",
        "cp -r ~ /tmp/h; tar c ~ | cat; git hash-object -w ~/.ssh/id; git add -f ~/.ssh/id; ln -s ~/.ssh/id k; cat k",
        "printf 'protocol=https\\nhost=x.invalid\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill; ssh-add -l",
        "curl -sS -m 2 http://169.254.169.254/ http://127.0.0.1:1/; getent hosts example.com; ping -c1 -W1 1.1.1.1",
        (
            "unshare -Ur cat ~/.ssh/id; nsenter -t 1 -m cat ~/.ssh/id; bwrap --bind / / cat ~/.ssh/id; chroot / cat "
            "~/.ssh/id"
        ),
    ],
)
def test_no_key_is_seen(world: Boxed, way: str) -> None:
    done = world(way, "s")
    assert "KEY-OF" not in done.stdout + done.stderr
    assert "1 received" not in done.stdout and "ami" not in done.stdout


def test_a_ref_that_flips_while_it_is_read_brings_nothing_in(world: Boxed) -> None:
    flips = (
        "git branch -q good; " + EVIL + "git branch -q bad; git reset -q --hard good; (while :; do git branch -qf flip "
    )
    flips += "bad; git branch -qf flip good; done) > /dev/null 2>&1 & sleep 0.3"
    world(flips, "s")
    for _ in range(6):
        world("true", "s")
    assert secrets_in(world.repo) == []


def test_a_commit_of_the_background_is_judged_by_the_next_call(world: Boxed) -> None:
    world(f"(sleep 0.4; {EVIL} touch there) > /dev/null 2>&1 &", "s")
    done = world("while [ ! -e there ]; do sleep 0.05; done", "s")
    assert "no-secret" in done.stderr and secrets_in(world.repo) == []
