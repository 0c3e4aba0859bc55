"""Commands of the policy that cannot run in this clone are told at the first push, once."""

from __future__ import annotations

import pytest

from ahp.policy import trust
from ahp.protocol.event import Actor
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
facts:
  lint: {{run: [sh, -c, "exit 0"]}}
  types: {{run: [{types}, .]}}
  own: {{run: [ahp, verify]}}
rules:
  clean: {{at: pre-push, prompt: lint.exit_code > 0, on_missing: skip}}
"""
TRUST = "a person runs, in a terminal: ahp trust"
ZERO = "0" * 40


def push(ask: Ask, gated: Gated, **how: str) -> tuple[int, str]:
    line = f"refs/heads/main {gated.head()} refs/heads/main {ZERO}\n"
    return ask("pre-push", "origin", "elsewhere", stdin=line.encode(), **how)


def test_the_first_push_says_what_cannot_run_and_no_other_does(gated: Gated, ask: Ask) -> None:
    gated.policy(POLICY.format(types="no-such-program"))
    lost = "ahp: no such program on PATH for facts.types (no-such-program): what they find out is missing; install"
    code, said = push(ask, gated)
    assert code == 0 and said.splitlines()[0].startswith(lost)
    assert said.splitlines()[1] == (
        f"ahp: nobody has accepted facts.lint, facts.types, facts.own in this clone: they do not run; {TRUST}"
    )
    assert push(ask, gated) == (0, "")
    gated.policy(POLICY.format(types="nor-this-one"))
    code, said = push(ask, gated)
    assert (
        "(nor-this-one)" in said and f"nobody has accepted facts.types in this clone: they do not run; {TRUST}" in said
    )
    assert push(ask, gated) == (0, "")


def test_what_runs_is_not_told(gated: Gated, ask: Ask) -> None:
    gated.policy(POLICY.format(types="sh"))
    from ahp.hosts import asking, command_trust
    from ahp.policy import layers
    from ahp.policy.sources import FileSource

    where = asking.around(str(gated.root))
    waiting = command_trust.of_policy(layers.load(FileSource(where.root)), where).waiting
    trust.accept(where.journal, waiting, Actor("human"))
    assert push(ask, gated) == (0, "")
    assert not (gated.folder / "told-commands").exists()


def test_commands_that_only_the_policy_in_force_has_are_accepted_by_its_commit(gated: Gated, ask: Ask) -> None:
    gated.commit_policy(POLICY.format(types="sh"))
    gated.policy("version: 1\n")
    assert f"{TRUST} --policy HEAD\n" in push(ask, gated)[1]
    (gated.folder / "told-commands").unlink()
    gated.write(".ahp/hooks.yaml", "rules: 7\n")
    assert f"{TRUST} --policy HEAD\n" in push(ask, gated)[1]


def test_where_nothing_can_be_kept_the_push_goes_on(gated: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    gated.policy(POLICY.format(types="sh"))
    (gated.folder / "told-commands").write_text("")
    monkeypatch.setattr("ahp.hosts.git.idle_commands._TOLD", "/no-folder/told")
    assert push(ask, gated)[0] == 0
    assert "nobody has accepted" in push(ask, gated)[1]
