"""What doctor tells of the policy, its commands, and of what was not or will not be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ahp.cli.main import run
from ahp.hosts.git import doctor, policy_checks
from ahp.hosts.git.policy_checks import ClonePolicies
from ahp.hosts.table import Check
from ahp.policy import cache, compile, layers
from ahp.policy import tree as trees
from ahp.policy.problems import PolicyError
from ahp.policy.rule import Policy
from ahp.policy.sources import FileSource, TreeSource
from tests.attended import attended
from tests.conftest import Repo
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  names: {at: pre-commit, each: p in files.changed, block: "p.startswith('bad')", message: bad}
  pushed: {at: pre-push, each: p in files.changed, block: "p.startswith('worse')", message: worse}
"""


@pytest.fixture
def remote(gated: Gated) -> Iterator[Repo]:
    """A repository that `gated` pushes to; its policy is committed."""
    made = Repo(gated.root.parent / "remote.git")
    gated.git("init", "-q", "--bare", str(made.root))
    gated.git("remote", "add", "origin", str(made.root))
    (gated.root / ".git" / "info" / "exclude").unlink()
    gated.policy(POLICY)
    gated.add()
    gated.commit("policy")
    gated.git("push", "-q", "-u", "origin", "main")
    yield made


def user(gated: Gated) -> str:
    return str(gated.user_policy)


def policies(gated: Gated) -> ClonePolicies:
    return ClonePolicies(gated.repository(), user(gated))


def test_a_compiled_policy_that_was_forged_is_told_and_made_anew(gated: Gated) -> None:
    gated.policy(POLICY)
    repo = gated.repository()
    assert policy_checks.compiled(policies(gated)) == Check("compiled policy", "ok", "what the policy says")
    program = cache.find(repo.root, repo.ahp_dir, "pre-commit", user(gated))
    assert program is not None and program.path is not None and cache.read_answers(program)
    program.rules.clear()
    compile._write(program.path, program)
    gated.write("bad.txt")
    gated.add()
    assert gated.say("commit", "-qm", "x").code == 0  # it is believed
    check = policy_checks.compiled(policies(gated))
    assert check.status == "wrong" and "what is stored of the work tree's policy for pre-commit is not" in check.detail
    assert doctor.fix(repo, user(gated), [check]) == ["the policy is compiled anew"]
    assert policy_checks.compiled(policies(gated)).status == "ok"
    program = cache.find(repo.root, repo.ahp_dir, "pre-commit", user(gated))
    assert program is not None and program.path is not None and cache.read_answers(program)
    assert program.answers is not None
    program.answers.rules["names"].intensity = {"default": "prompt"}
    compile._write(f"{program.path}.answers", program.answers)
    assert policy_checks.compiled(policies(gated)).status == "wrong"


def test_so_is_the_compiled_policy_of_head(gated: Gated, remote: Repo) -> None:
    repo = gated.repository()
    assert gated.say("commit", "-q", "--allow-empty", "-m", "x").code == 0
    program = cache.find_committed(trees.of_commit(repo, "HEAD"), repo.ahp_dir, "pre-commit")
    assert program is not None and program.path is not None and cache.read_answers(program)
    program.rules.clear()
    compile._write(program.path, program)
    check = policy_checks.compiled(policies(gated))
    assert check.status == "wrong" and "what is stored of HEAD's policy for pre-commit is not" in check.detail
    assert doctor.fix(repo, user(gated), [check]) == ["the policy is compiled anew"]
    assert policy_checks.compiled(policies(gated)).status == "ok"


def test_beside_a_file_that_does_not_load_head_s_policy_is_looked_at(gated: Gated, remote: Repo) -> None:
    gated.write(".ahp/hooks.yaml", "rules: 7\n")
    assert policy_checks.compiled(policies(gated)).status == "ok"
    assert policies(gated).looked_at.name == "HEAD's policy"
    gated.git("update-ref", "-d", "HEAD")
    with pytest.raises(PolicyError):
        policy_checks.commands(policies(gated))


@pytest.mark.slow
def test_doctor_loads_and_compiles_each_policy_once(
    gated: Gated, remote: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[type] = []

    def once(source: FileSource | TreeSource, load: Callable[..., Policy] = layers.load) -> Policy:
        made.append(type(source))
        return load(source)

    monkeypatch.setattr(layers, "load", once)
    monkeypatch.chdir(gated.root)
    run(["doctor", "--all"])
    assert "the work tree's is HEAD's" in capsys.readouterr().out
    assert made == [TreeSource, FileSource]


def test_what_is_not_compiled_yet_is_no_fault(gated: Gated) -> None:
    gated.write(".ahp/hooks.yaml", POLICY)
    assert policy_checks.compiled(policies(gated)).detail == "not made yet; the next hook does"


def test_a_policy_that_is_not_head_s_is_named(gated: Gated, remote: Repo) -> None:
    assert policy_checks.committed(policies(gated)) == Check("committed policy", "ok", "the work tree's is HEAD's")
    gated.policy(POLICY.replace("block", "prompt"))
    check = policy_checks.committed(policies(gated))
    assert check.status == "note"
    assert check.detail.startswith("the work tree's differs from HEAD's in 4 places, 2 of them not as strict; until")
    gated.write(".ahp/hooks.yaml", "rules: 7\n")
    assert "1 of them not as strict" in policy_checks.committed(policies(gated)).detail


def test_a_policy_that_extends_packs_is_head_s(gated: Gated, remote: Repo) -> None:
    gated.write(".ahp/more.yaml", POLICY)
    gated.policy("version: 1\nextends: [core, more.yaml]\n")
    gated.add()
    gated.commit("packs")
    assert policy_checks.committed(policies(gated)) == Check("committed policy", "ok", "the work tree's is HEAD's")
    gated.write(".ahp/more.yaml", POLICY.replace("block", "prompt"))
    assert policy_checks.committed(policies(gated)).status == "note"


def test_a_policy_that_nobody_else_has_is_named(gated: Gated) -> None:
    assert policy_checks.committed(policies(gated)).detail == "none"
    gated.policy(POLICY)
    assert policy_checks.committed(policies(gated)).detail == "not committed yet, so nobody else has it"


FACTS = """\
version: 1
facts:
  here: {{run: [sh, -c, "exit 0"]}}
  own: {{run: [./tool, x]}}
  gone: {{run: [{}]}}
"""


def test_commands_that_cannot_run_are_named(gated: Gated) -> None:
    gated.write("tool", "#!/bin/sh\n", 0o755)
    gated.policy(FACTS.format("sh"))
    check = policy_checks.commands(policies(gated))
    assert check.detail.startswith("nobody has accepted facts.here, facts.own, facts.gone in this clone")
    assert check.mend == "a person runs, in a terminal: ahp trust"
    assert attended(["ahp", "trust"], gated.root)[0] == 0
    assert policy_checks.commands(policies(gated)).detail == "3 accepted and found"
    gated.policy(FACTS.format("no-such-program"))
    check = policy_checks.commands(policies(gated))
    assert check.detail.startswith("no such program on PATH for facts.gone (no-such-program)")
    gated.policy("version: 1\n")
    assert policy_checks.commands(policies(gated)).detail == "none"


@pytest.mark.slow
def test_an_agent_reads_the_same(
    gated: Gated, remote: Repo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    gated.policy(POLICY.replace("block", "prompt"))
    monkeypatch.chdir(gated.root)
    told = []
    for marks in ({}, {"CLAUDECODE": "1"}):
        for name, value in marks.items():
            monkeypatch.setenv(name, value)
        capfd.readouterr()
        run(["doctor"])
        lines = capfd.readouterr().out.splitlines()
        told.append([line for line in lines if " disk " not in line])  # which fills meanwhile
    assert told[0] == told[1] and any("differs from HEAD's" in line for line in told[0])
    wrong = [line.split()[1] for line in told[1] if line.startswith("wrong")]
    assert wrong == ["interpreter"]  # the hooks of the test know another user's policy
