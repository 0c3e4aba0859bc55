"""The table of git's hooks, and what has to agree with it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from ahp.hosts.git.githooks import CONTENT, HOOKS, OTHERS
from ahp.hosts.git.install import shim
from ahp.protocol.triggers import TRIGGERS
from tests.conftest import PROJECT, Repo

SHIMS = PROJECT / "hooks" / "git"


@pytest.mark.parametrize("name", HOOKS)
def test_each_hook_is_a_trigger_and_has_a_judge_a_shim_and_a_line_in_the_docs(name: str) -> None:
    hook = HOOKS[name]
    assert name in TRIGGERS
    assert callable(import_module(f"ahp.hosts.git.{hook.module}").judge)
    text = shim(name, {}).decode()
    assert f"\nhook={name}\n" in text
    assert ("judge_staged " in text.partition("earlier=")[2]) == (hook.gives in ("staged", "message"))
    assert f"| `{name}` | `{name}` |" in (PROJECT / "docs" / "git.md").read_text()


def test_a_shim_knows_the_git_command_that_no_verify_goes_with() -> None:
    verbs = {name: shim(name, {}).decode().partition("\nverb=")[2].partition("\n")[0] for name in HOOKS}
    assert verbs == {
        "pre-commit": "commit",
        "commit-msg": "commit",
        "pre-merge-commit": "merge",
        "pre-push": "push",
        "post-commit": "''",
    }


def test_every_shim_belongs_to_a_hook() -> None:
    modules = {hook.module.replace("_", "-") for hook in HOOKS.values()}
    assert {path.name for path in SHIMS.iterdir()} == modules | {"common.sh", "husky.sh", "second.sh"}


def test_huskys_line_reads_what_is_pushed_where_git_gives_it() -> None:
    readers = [name for name, hook in HOOKS.items() if hook.gives == "refs"]
    assert [name for name in HOOKS if f"= {name} ]" in (SHIMS / "husky.sh").read_text()] == readers


def test_no_hook_is_both_taken_and_passed_on() -> None:
    assert not set(HOOKS) & set(OTHERS)
    assert set(CONTENT) <= set(HOOKS)


def test_every_hook_that_git_brings_an_example_of_is_known(repo: Repo) -> None:
    samples = {path.name.removesuffix(".sample") for path in Path(repo.root / ".git" / "hooks").glob("*.sample")}
    on_a_server = {"update", "pre-receive", "post-update"}
    assert samples - on_a_server <= {*HOOKS, *OTHERS}
