from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.policy import layers
from ahp.policy.problems import PolicyError
from ahp.policy.sources import FileSource, TextSource, TreeSource, misnamed
from ahp.system.digest import tagged
from ahp.system.environ import scrubbed
from ahp.system.git import discover
from ahp.system.history import CommitView
from tests.conftest import Repo

RULE = "rules: {%s: {at: pre-push, block: push.is_force}}\n"


def test_the_files_of_a_work_tree_make_three_layers(repo: Repo, tmp_path: Path) -> None:
    user = tmp_path / "user.yaml"
    user.write_text(RULE % "mine")
    repo.write(".ahp/hooks.yaml", "extends: team/base.yaml\n" + RULE % "ours")
    repo.write(".ahp/team/base.yaml", RULE % "base")
    source = FileSource(str(repo.root), str(user))
    policy = layers.load(source)
    assert [(rule.key, rule.raw.layer) for rule in policy.rules] == [
        ("base", "project"),
        ("ours", "project"),
        ("mine", "user"),
    ]
    assert policy.raw.files == [".ahp/team/base.yaml", ".ahp/hooks.yaml", str(user)]
    known = dict(source.watched)
    assert known[f"{repo.root}/.ahp/hooks.local.yaml"] is None
    assert known[f"{repo.root}/.ahp/team/base.yaml"] == tagged((RULE % "base").encode())


@pytest.mark.parametrize("linked", ["x.yaml", "sub"])
def test_a_symbolic_link_is_not_extended(repo: Repo, tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.yaml").write_text(RULE % "a")
    wanted = "x.yaml" if linked == "x.yaml" else "sub/x.yaml"
    repo.write(".ahp/hooks.yaml", f"extends: {wanted}\n")
    os.symlink(outside / "x.yaml" if linked == "x.yaml" else outside, repo.root / ".ahp" / linked)
    with pytest.raises(PolicyError, match=r"hooks.yaml:1:10: .*is a symbolic link"):
        layers.load(FileSource(str(repo.root)))


def test_a_file_that_is_too_large_is_not_extended(repo: Repo) -> None:
    repo.write(".ahp/hooks.yaml", "extends: big.yaml\n")
    repo.write(".ahp/big.yaml", "#" * ((1 << 20) + 1))
    with pytest.raises(PolicyError, match=r"big.yaml:1:1: .*bytes"):
        layers.load(FileSource(str(repo.root)))


def test_a_commit_has_the_projects_layer_only(repo: Repo) -> None:
    repo.write(".ahp/hooks.yaml", "extends: [base.yaml, core]\n" + RULE % "ours")
    repo.write(".ahp/base.yaml", RULE % "base")
    repo.write(".ahp/hooks.local.yaml", RULE % "local")
    repo.add()
    repo.commit()
    repo.write(".ahp/hooks.yaml", "broken: [")
    tree = CommitView(discover(str(repo.root), scrubbed(dict(os.environ))), "HEAD")
    policy = layers.load(TreeSource(tree, "HEAD"))
    assert {rule.key for rule in policy.rules} >= {"base", "ours", "no-secrets"}
    assert "local" not in {rule.key for rule in policy.rules}
    assert policy.raw.files == ["pack core", "HEAD:.ahp/base.yaml", "HEAD:.ahp/hooks.yaml"] or policy.raw.files[-1] == (
        "HEAD:.ahp/hooks.yaml"
    )


def test_a_commit_without_a_policy_has_no_rules(repo: Repo) -> None:
    repo.commit()
    tree = CommitView(discover(str(repo.root), scrubbed(dict(os.environ))), "HEAD")
    assert layers.load(TreeSource(tree, "HEAD")).rules == ()


@pytest.mark.parametrize("linked", [".ahp", ".ahp/hooks.yaml"])
def test_a_link_in_the_place_of_the_project_s_policy_is_none(repo: Repo, tmp_path: Path, linked: str) -> None:
    (repo.root / ".ahp").mkdir(exist_ok=True)
    (repo.root / ".ahp").rename(tmp_path / "there") if linked == ".ahp" else None
    os.symlink(tmp_path / "there", repo.root / linked)
    with pytest.raises(PolicyError, match=r"hooks.yaml:1:1: .* a symbolic link, which is no policy"):
        layers.load(FileSource(str(repo.root)))


def test_files_of_another_ending_are_told_with_the_name_that_is_read(repo: Repo) -> None:
    for name in ("hooks.yml", "waivers.yml", "waivers.yaml", "team.yml", "hooks.yaml.bak"):
        repo.write(f".ahp/{name}", "")
    assert misnamed(str(repo.root)) == [".ahp/hooks.yml is not read; the file is called hooks.yaml"]
    assert misnamed(str(repo.root / "none")) == []


def test_a_link_in_a_commit_is_its_text_and_no_policy(repo: Repo) -> None:
    repo.write("outside.yaml", RULE % "a")
    (repo.root / ".ahp").mkdir()
    os.symlink("../outside.yaml", repo.root / ".ahp" / "hooks.yaml")
    repo.add()
    repo.commit()
    tree = CommitView(discover(str(repo.root), scrubbed(dict(os.environ))), "HEAD")
    with pytest.raises(PolicyError, match="a policy is a mapping of keys"):
        layers.load(TreeSource(tree, "HEAD"))


def test_text_extends_packs_only() -> None:
    assert layers.load(TextSource("extends: core", "x")).rules
    with pytest.raises(PolicyError, match=r"x:1:10: there is no file"):
        layers.load(TextSource("extends: a.yaml", "x"))
    with pytest.raises(PolicyError, match="not UTF-8"):
        layers.load(TextSource(b"\xff"))
