"""git in a box reaches remotes by name, with the person's credentials, and nothing inside has a say in how."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

from .conftest import Boxed
from .test_quarantine import POLICY

pytestmark = pytest.mark.box


@pytest.fixture
def upstream(boxed: Boxed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The remote `origin` of the box's repository, which has a policy in force and is on a topic branch."""
    repo = boxed.repo
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    bare = tmp_path / "there.git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(bare))
    repo.git("remote", "add", "origin", str(bare))
    repo.git("fetch", "-q", "origin")
    repo.git("remote", "set-head", "origin", "main")
    monkeypatch.chdir(repo.root)
    assert run(["install", "git"]) == 0
    repo.git("checkout", "-q", "-b", "topic")
    return Repo(bare)


def refs(repo: Repo) -> dict[str, str]:
    listed = repo.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in listed)


def add_there(upstream: Repo, branch: str, tmp_path: Path) -> str:
    """Somebody else's commit on a branch of the remote; its id."""
    other = tmp_path / f"other-{branch}"
    subprocess.run(["git", "clone", "-q", str(upstream.root), str(other)], check=True)
    repo = Repo(other)
    repo.git("checkout", "-q", "-B", branch)
    repo.commit("by another", **{"there.txt": "there\n"})
    repo.git("tag", f"of-{branch}")
    repo.git("push", "-q", "origin", branch, f"of-{branch}")
    return repo.git("rev-parse", "HEAD").strip()


def test_a_push_and_what_follows_it(boxed: Boxed, upstream: Repo) -> None:
    done = boxed("echo b > b.txt; git add b.txt; git commit -qm two; git push -q -u origin topic; git status -sb", "s")
    assert done.returncode == 0 and done.stdout == "## topic...origin/topic\n", done.stderr
    repo = boxed.repo
    assert refs(upstream)["refs/heads/topic"] == repo.git("rev-parse", "topic").strip()
    assert refs(repo)["refs/remotes/origin/topic"] == refs(repo)["refs/heads/topic"]
    text = "git commit -q --amend -m three; git push -q origin topic && echo PUSHED; git fetch -q; "
    text += "git push -q --force-with-lease origin topic && git tag v1 && git push -q origin v1 && echo forced"
    done = boxed(text, "s")
    assert done.stdout == "forced\n" and "non-fast-forward" in done.stderr, done
    assert upstream.git("log", "-1", "--format=%s", "topic").strip() == "three"
    assert "refs/tags/v1" in refs(upstream)
    done = boxed("git push -q origin :topic :v1 && git push --dry-run origin topic 2>&1 | tail -1", "s")
    assert set(refs(upstream)) == {"refs/heads/main"} and "[new branch]" in done.stdout, done
    assert not [name for name in refs(repo) if name.startswith("refs/outside/")]


def test_what_another_pushed_is_fetched_and_merged(boxed: Boxed, upstream: Repo, tmp_path: Path) -> None:
    boxed("true", "s")
    oid = add_there(upstream, "side", tmp_path)
    upstream.git("update-ref", "refs/pull/1/head", oid)
    text = "git fetch -q origin; git ls-remote origin refs/heads/side; git log -1 --format=%s origin/side; "
    text += "git fetch -q origin refs/pull/1/head; git rev-parse FETCH_HEAD; git tag"
    done = boxed(text, "s")
    assert done.stdout == f"{oid}\trefs/heads/side\nby another\n{oid}\nof-side\n", done.stderr
    assert refs(boxed.repo)["refs/remotes/origin/side"] == refs(boxed.repo)["refs/tags/of-side"] == oid
    assert boxed("git pull -q --no-rebase origin side && git rev-parse HEAD", "s").stdout.strip() == oid
    assert refs(boxed.repo)["refs/heads/topic"] == oid
    assert not [name for name in boxed("git for-each-ref", "s").stdout.split() if "outside" in name]


def test_what_is_held_is_not_pushed(boxed: Boxed, upstream: Repo) -> None:
    before = refs(upstream)
    evil = "echo SECRET > s.txt; git add s.txt; git commit -qnm x; "
    for way in ("git push --no-verify origin topic", "git push --no-verify origin HEAD:refs/heads/x"):
        done = boxed(f"{evil}{way} && echo PUSHED", way)
        assert refs(upstream) == before and "PUSHED" not in done.stdout
        assert "no-secret" in done.stderr, done
    assert "s.txt" not in upstream.git("rev-list", "--all", "--objects")


def test_a_push_is_judged_by_the_policy_of_where_it_goes(boxed: Boxed, upstream: Repo) -> None:
    policy = POLICY + "  no-push: {at: pre-push, block: push.ref == 'refs/heads/main'}\n"
    repo = boxed.repo
    repo.git("checkout", "-q", "main")
    repo.commit("stricter", "--no-verify", **{".ahp/hooks.yaml": policy})
    repo.git("push", "-q", "--no-verify", "origin", "main")
    repo.git("checkout", "-q", "-B", "topic")
    before = refs(upstream)["refs/heads/main"]
    done = boxed("git commit -qm fine --allow-empty; git push --no-verify origin topic:main", "s")
    assert refs(upstream)["refs/heads/main"] == before
    assert "no-push" in done.stderr and "refused by the policy" in done.stderr, done
    assert boxed("git push -q --no-verify origin topic", "s").returncode == 0


def test_notes_and_other_refs_are_not_pushed(boxed: Boxed, upstream: Repo) -> None:
    before = refs(upstream)
    for way in ("topic:refs/ahp/x", "--mirror", "topic:refs/notes/x", "'refs/*:refs/*'"):
        done = boxed(f"git push --no-verify origin {way}", "s")
        assert done.returncode != 0 and "only branches and tags" in done.stderr, (way, done)
    assert refs(upstream) == before


def test_a_folder_that_the_box_may_write_is_no_remote(boxed: Boxed, upstream: Repo, tmp_path: Path) -> None:
    repo = boxed.repo
    subprocess.run(["git", "init", "-q", "--bare", str(repo.root / "in.git")], check=True)
    (tmp_path / "link.git").symlink_to(repo.root / "in.git")
    for name, url in (("in", str(repo.root / "in.git")), ("link", str(tmp_path / "link.git")), ("up", str(tmp_path)),
                      ("rel", "in.git"), ("file", f"file://{repo.root}/in.git")):  # fmt: skip
        repo.git("remote", "add", name, url)
    repo.git("remote", "add", "evil", f"ext::touch {repo.root}/ran")
    hook = f"printf '#!/bin/sh\\ntouch {repo.root}/ran' > in.git/hooks/pre-receive; chmod +x in.git/hooks/pre-receive; "
    text = "; ".join(f"git push -q {name} topic && echo PUSHED" for name in ("in", "link", "up", "rel", "file", "evil"))
    done = boxed(hook + text, "s")
    assert done.stdout == "" and done.stderr.count("a folder that a box may write") == 5, done
    assert "transport 'ext' not allowed" in done.stderr and not (repo.root / "ran").exists()


def test_settings_that_lead_into_the_work_tree_close_the_door(boxed: Boxed, upstream: Repo) -> None:
    repo = boxed.repo
    repo.write("conf", "")
    repo.git("config", "include.path", "../conf")
    text = f"git config --file conf core.sshCommand 'touch {repo.root}/ran'; git ls-remote origin"
    assert "conf, which a box may write" in boxed(text, "s").stderr
    repo.git("config", "--unset", "include.path")
    repo.git("config", "credential.helper", f"{repo.root}/helper")
    assert "credential.helper names" in boxed("git ls-remote origin", "s").stderr
    repo.git("config", "--unset", "credential.helper")
    assert boxed("git ls-remote -q origin", "s").returncode == 0


def test_hooks_of_the_configuration_do_not_run_in_the_door(boxed: Boxed, upstream: Repo, tmp_path: Path) -> None:
    """git 2.54 runs them wherever it takes the others from."""
    for event in ("reference-transaction", "pre-push"):
        boxed.repo.git("config", "--add", "hook.mine.event", event)
    boxed.repo.git("config", "hook.mine.command", f"touch {tmp_path}/ran")
    upstream.git("update-ref", "refs/heads/fresh", "refs/heads/main")
    assert boxed("git fetch -q origin && git push -q origin HEAD:refs/heads/from-inside", "s").returncode == 0
    assert not (tmp_path / "ran").exists()


def test_what_goes_wrong_outside_is_told_inside(boxed: Boxed, upstream: Repo) -> None:
    config = boxed.repo.root / ".git/config"
    call = boxed.start("touch began; while [ ! -e broken ]; do sleep 0.02; done; git ls-remote origin", "s")
    while not (boxed.repo.root / "began").exists():
        time.sleep(0.01)
    former = config.read_text()
    config.write_text(f'{former}[hook "x"]\n\tcommand = "open\n')
    (boxed.repo.root / "broken").touch()
    _, said = call.communicate(timeout=120)
    config.write_text(former)
    assert call.returncode != 0
    assert "ahp box: git config failed: fatal: bad config line" in said and "Traceback" not in said


def test_keys_in_the_settings_of_the_repository_are_hidden(boxed: Boxed, upstream: Repo, tmp_path: Path) -> None:
    repo = boxed.repo
    repo.git("config", "http.https://git.example/.extraheader", "AUTHORIZATION: basic HIDDEN")
    repo.git("remote", "add", "other", "https://me:HIDDEN@git.example/x")
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    for one in (repo, Repo(tmp_path / "linked")):
        seen = Boxed(one)("git config --list; cat .git/config; cat $(git rev-parse --git-common-dir)/config").stdout
        assert "remote.other.url=https://git.example/x" in seen and "HIDDEN" not in seen
    assert "HIDDEN" in repo.git("config", "--list")


# git(1), ENVIRONMENT: each variable by which git runs a program or names a place.
VARIABLES = """
    GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF
    GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG GIT_TRACE
    GIT_TRACE_SETUP GIT_TRACE_PACKET GIT_TRACE_PACKFILE GIT_TRACE_CURL GIT_TRACE_PERFORMANCE GIT_TRACE2 GIT_TRACE2_EVENT
    GIT_TRACE2_PERF GIT_REDIRECT_STDERR GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_CEILING_DIRECTORIES
    GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_REPLACE_REF_BASE HOME XDG_CONFIG_HOME LD_PRELOAD
"""
# git-config(1), git-fetch(1), git-push(1), git-ls-remote(1): settings and options that do.
SETTINGS = """
    core.sshCommand=PROGRAM core.gitProxy=PROGRAM core.fsmonitor=PROGRAM core.hooksPath=TREE core.askPass=PROGRAM
    core.editor=PROGRAM core.pager=PROGRAM core.alternateRefsCommand=PROGRAM credential.helper=PROGRAM
    gpg.program=PROGRAM remote.origin.uploadpack=PROGRAM remote.origin.receivepack=PROGRAM
    remote.origin.url=ext::PROGRAM remote.origin.vcs=ext remote.origin.pushurl=TREE/evil.git
    url.TREE/evil.git.insteadOf=origin url.ext::PROGRAM.insteadOf=/ remote.origin.proxy=ext
    remote.origin.mirror=true remote.origin.push=+refs/*:refs/* protocol.ext.allow=always protocol.allow=always
    uploadpack.packObjectsHook=PROGRAM push.gpgSign=true push.recurseSubmodules=on-demand
    fetch.recurseSubmodules=true include.path=TREE/conf alias.fetch=!PROGRAM remote.pushDefault=TREE/evil.git
    branch.topic.pushRemote=TREE/evil.git transfer.bundleURI=true core.worktree=/etc trailer.x.command=PROGRAM
    diff.external=PROGRAM gc.recentObjectsHook=PROGRAM
"""
CALLS = [
    "fetch --upload-pack=PROGRAM origin",
    "push --receive-pack=PROGRAM origin topic:refs/heads/y",
    "push --exec=PROGRAM origin topic:refs/heads/y",
    "ls-remote --upload-pack=PROGRAM --exec=PROGRAM origin",
    "fetch ext::PROGRAM",
    "fetch ahp::ext::PROGRAM",
    "push ahp::TREE/evil.git topic",
    "push 'ahp::--receive-pack=PROGRAM' topic",
    "fetch origin '--upload-pack=PROGRAM'",
    "fetch origin 'refs/heads/main:refs/heads/../../hooks/x'",
    "push origin 'topic:refs/heads/$(PROGRAM)'",
    "archive --remote=origin --exec=PROGRAM HEAD",
    "clone --config core.sshCommand=PROGRAM -u PROGRAM ahp::origin /tmp/clone",
    "remote-ahp --upload-pack=PROGRAM x </dev/null",
    "send-pack --receive-pack=PROGRAM origin topic",
]


def test_nothing_but_names_passes(boxed: Boxed, upstream: Repo) -> None:
    repo = boxed.repo
    before, here = refs(upstream), os.readlink("/proc/self/ns/pid")
    program, tree = str(repo.root / "program"), str(repo.root)
    attempts = [f"env {name}={value} git fetch -q origin" for name in VARIABLES.split() for value in (program, tree)]
    fill = {"PROGRAM": program, "TREE": tree}
    for one in SETTINGS.split():
        for word, value in fill.items():
            one = one.replace(word, value)
        attempts += [
            f"git -c {shlex.quote(one)} fetch -q origin",
            f"git -c {shlex.quote(one)} push -q origin topic:refs/heads/y",
        ]
    for one in CALLS:
        attempts.append("git " + one.replace("PROGRAM", program).replace("TREE", tree))
    text = f"printf '#!/bin/sh\\nreadlink /proc/self/ns/pid >> {tree}/ran\\n' > program; chmod +x program; "
    text += f"git init -q --bare evil.git; printf '[core]\\nsshCommand={program}\\n' > conf; : > ran; "
    text += "".join(f"timeout 60 {one} > /dev/null 2>&1; " for one in attempts)
    done = boxed(text + "git fetch -q origin && echo whole", "s")
    assert done.stdout == "whole\n", done.stderr[-2000:]
    ran = (repo.root / "ran").read_text()
    assert ran and here not in ran, "inside some of it runs, else this would test nothing"
    new = set(refs(upstream).items()) - set(before.items())
    head = repo.git("rev-parse", "HEAD").strip()
    assert new <= {("refs/heads/y", head), (f"refs/heads/$({program})", head)}  # no shell reads a name
    assert not (repo.root / ".git/hooks/x").exists()
    assert repo.run("git", "fsck").returncode == 0


@pytest.mark.parametrize(
    "wish",
    [
        "{}", "[]", "null", "x", '{"do": "list"}', '{"do": "_git", "remote": "origin"}',
        '{"do": "list", "remote": "--upload-pack=/bin/sh"}', '{"do": "list", "remote": "/etc"}',
        '{"do": "fetch", "remote": "origin", "refs": [["x", "--upload-pack=touch"]]}',
        '{"do": "fetch", "remote": "origin", "refs": [["x", "refs/heads/a:refs/heads/main"]]}',
        '{"do": "push", "remote": "origin", "options": [], "refs": [["refs/heads/../x", "", "x", "+"]]}',
        '{"do": "push", "remote": "origin", "options": [], "refs": [["refs/heads/x", "HEAD", "x", "+"]]}',
        '{"do": "push", "remote": "origin", "options": ["cas --exec=x:y"], "refs": []}',
    ],
)  # fmt: skip
def test_a_wish_that_is_none_is_refused(boxed: Boxed, upstream: Repo, wish: str) -> None:
    before = refs(upstream), refs(boxed.repo)
    code = "import socket as s; d = s.socket(s.AF_UNIX); d.connect(chr(0) + 'ahp-door'); "
    code += f"d.sendall({wish!r}.encode() + b'\\n'); print(d.makefile().read())"
    assert '"lines": null' in boxed(f"python3 -c {shlex.quote(code)}").stdout
    assert (refs(upstream), refs(boxed.repo)) == before
