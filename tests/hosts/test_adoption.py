from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ahp.cli import main
from ahp.hosts import adoption, policy_test
from ahp.hosts.asking import around
from ahp.policy import cache, cases
from ahp.protocol.event import identify
from ahp.system.errors import AhpError
from tests.conftest import Repo


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)


def adopt(*packs: str, force: bool = False) -> adoption.Adoption:
    where = around(os.getcwd())
    return adoption.adopt(where, identify(where.env), packs, force)


def written(repo: Repo) -> str:
    return (repo.root / ".ahp/hooks.yaml").read_text()


def test_an_empty_repository_gets_the_core_pack(repo: Repo) -> None:
    done = adopt()
    assert "extends: [core]" in written(repo)
    assert done.tally.judged == 0 and done.trusted == [] and done.waiting == []
    assert (repo.root / ".ahp/.gitignore").read_text() == "hooks.local.yaml\n"


def test_whoever_may_read_the_work_tree_may_read_the_policy(repo: Repo) -> None:
    before = os.umask(0o022)
    try:
        adopt()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((repo.root / name).stat().st_mode) for name in (".ahp", ".ahp/hooks.yaml")]
    assert modes == [0o755, 0o644]


def test_a_file_in_the_place_of_the_folder_is_named(repo: Repo) -> None:
    repo.write(".ahp", "")
    with pytest.raises(AhpError, match=r"\.ahp"):
        adopt()


def test_the_policy_is_compiled_before_the_first_commit(repo: Repo) -> None:
    adopt()
    where = around(os.getcwd())
    assert cache.find(where.root, where.journal, "pre-commit", where.user_policy) is not None


def test_a_policy_that_is_there_stays_unless_forced(repo: Repo) -> None:
    repo.write(".ahp/hooks.yaml", "version: 1\n")
    repo.write(".ahp/.gitignore", "mine\n")
    with pytest.raises(AhpError, match="is there already, and stays"):
        adopt()
    assert written(repo) == "version: 1\n"
    adopt(force=True)
    assert "extends: [core]" in written(repo) and (repo.root / ".ahp/.gitignore").read_text() == "mine\n"


def test_a_dangling_link_counts_as_a_policy(repo: Repo) -> None:
    (repo.root / ".ahp").mkdir()
    (repo.root / ".ahp/hooks.yaml").symlink_to("elsewhere.yaml")
    with pytest.raises(AhpError, match="stays"):
        adopt()


def test_more_packs_can_be_asked_for_by_name(repo: Repo) -> None:
    adopt("node", "core")
    assert "extends: [core, node]" in written(repo)


def test_an_unknown_pack_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(AhpError, match="did you mean `python`"):
        adopt("pyton")


def test_outside_a_work_tree_there_is_nothing_to_write_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AhpError, match="git init"):
        adopt()


def test_a_rule_that_would_have_blocked_the_past_starts_as_shadow(repo: Repo) -> None:
    repo.commit("one", **{"a.py": "AKIA" + "ABCDEFGHIJ234567\n"})
    repo.commit("two", **{"b.py": "x = 1\n"})
    done = adopt()
    assert set(done.plan.watched) == {"no-secrets"} and set(done.plan.asked) == {"protect-main"}
    assert "  # It would have blocked 1 of the last 2 commits" in written(repo)
    assert "  no-secrets: {shadow: true}" in written(repo)
    assert {rule.key for rule in done.policy.rules if rule.shadow} == {"no-secrets"}


def commits_of(repo: Repo, authors: list[str], subject: str, **files: str) -> None:
    for number, author in enumerate(authors):
        repo.write(f"{number}.txt", "x\n")
        repo.add()
        repo.git("commit", "--quiet", "--author", f"{author} <{author}@x.y>", "--message", f"{subject} {number}")


def test_a_rule_that_history_breaks_rarely_starts_as_a_prompt(repo: Repo) -> None:
    commits_of(repo, ["ann", "bob"] * 6, "Change (#1)")
    repo.commit("last (#2)", **{"a.py": "AKIA" + "ABCDEFGHIJ234567\n"})
    done = adopt()
    assert set(done.plan.asked) == {"no-secrets"} and done.plan.watched == {}
    assert "  # It would have blocked 1 of the last 13 commits" in written(repo)
    assert {rule.intensity["default"] for rule in done.policy.rules if rule.key == "no-secrets"} == {"prompt"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("authors", "subject", "asked", "watched"),
    [
        (["ann"] * 12, "Change (#1)", True, False),
        (["ann", "bob"] * 4, "Change (#1)", True, False),
        (["ann", "bob"] * 6, "Change (#1)", False, False),
        (["ann", "bob"] * 6, "straight", False, True),
    ],
)
def test_how_the_default_branch_is_protected_depends_on_who_works_here(
    repo: Repo, authors: list[str], subject: str, asked: bool, watched: bool
) -> None:
    commits_of(repo, authors, subject)
    plan = adopt().plan
    assert ("protect-main" in plan.asked, "protect-main" in plan.watched) == (asked, watched)


def test_the_border_of_a_shallow_clone_is_no_commit_that_adds_everything(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("one", **{"a.py": "AKIA" + "ABCDEFGHIJ234567\n"})
    repo.commit("two", **{"b.py": "x = 1\n"})
    repo.commit("three", **{"c.py": "x = 1\n"})
    repo.git("clone", "--quiet", "--depth", "2", f"file://{repo.root}", str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")
    done = adopt()
    assert done.tally.judged == 1 and done.tally.unjudged == [] and "no-secrets" not in done.plan.watched


def test_the_first_test_is_written_once_and_holds(repo: Repo) -> None:
    done = adopt()
    path = repo.root / ".ahp/tests/first.yaml"
    report = policy_test.run(done.policy, cases.read(path.read_bytes(), "first.yaml", done.policy))
    assert report.failed == [] and report.rules
    path.rename(path.with_name("own.yaml"))
    adopt(force=True)
    assert not path.exists()


def test_a_project_that_is_reviewed_keeps_its_default_branch_protected(repo: Repo) -> None:
    commits_of(repo, ["ann", "bob"] * 5, "Change (#1)")
    done = adopt()
    assert done.plan.watched == done.plan.asked == {} and done.on_default
    repo.git("switch", "--quiet", "--create", "topic")
    assert not adopt(force=True).on_default


def test_the_types_of_conventional_commits_are_those_in_use(repo: Repo) -> None:
    for subject in ("feat: a (#1)", "bump: b (#2)", "bump: c (#3)", "fix: d (#4)", "docs: e (#5)"):
        repo.commit(subject)
    done = adopt()
    assert "'bump'" in written(repo) and done.plan.watched == {} and done.tally.count("block") == 0


def test_a_type_that_rested_for_a_while_is_in_use(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adoption, "_LOOKED_AT", 5)
    for number, kind in enumerate(["types", "types", *["feat"] * 6]):
        repo.commit(f"{kind}: a (#{number})")
    adopt()
    assert "'types'" in written(repo)


def test_the_branch_is_named_where_only_its_name_tells_that_it_is_the_default(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "stable")
    repo.commit("root")
    adopt()
    assert "limits:\n  protected: ['stable']" in written(repo)
    repo.git("switch", "--quiet", "--detach")
    adopt(force=True)
    assert "protected" not in written(repo)


def test_the_commands_it_wrote_are_trusted_for_a_person(repo: Repo, person: list[str]) -> None:
    repo.write("pyproject.toml", "[tool.ruff]\n")
    done = adopt()
    assert done.trusted == ["facts.ruff"] and done.waiting == []
    record = json.loads((repo.root / ".git/ahp/signals.jsonl").read_text().splitlines()[-1])
    assert record["kind"] == "trust" and list(record["commands"]) == ["facts.ruff"]
    again = adopt(force=True)
    assert again.trusted == ["facts.ruff"]
    assert len((repo.root / ".git/ahp/signals.jsonl").read_text().splitlines()) == 2


def test_without_a_terminal_nobody_trusts_them(repo: Repo, nobody: None) -> None:
    repo.write("pyproject.toml", "[tool.ruff]\n")
    assert adopt().waiting == ["facts.ruff"]


def test_an_agent_cannot_trust_them(repo: Repo, monkeypatch: pytest.MonkeyPatch, person: list[str]) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    repo.write("pyproject.toml", "[tool.ruff]\n")
    done = adopt()
    assert done.trusted == [] and done.waiting == ["facts.ruff"]
    assert not (repo.root / ".git/ahp/trust.json").exists()


def test_commands_of_a_person_s_own_layer_are_not_trusted_along(repo: Repo, person: list[str]) -> None:
    repo.write(
        ".ahp/hooks.local.yaml",
        "facts: {mine: {run: [sh, x.sh]}}\nrules: {own: {at: pre-push, block: mine.count > 0}}\n",
    )
    repo.write("pyproject.toml", "[tool.ruff]\n")
    done = adopt()
    assert (done.trusted, done.waiting) == (["facts.ruff"], ["facts.mine"])


def test_a_person_s_own_layer_that_does_not_fit_is_named(repo: Repo) -> None:
    repo.write(".ahp/hooks.local.yaml", "rules: {no-secrets: {shadow: true}}\n")
    with pytest.raises(AhpError, match="does not go with your own layer"):
        adopt()
    assert os.path.exists(".ahp/hooks.yaml")


def test_what_was_never_committed_is_looked_at_too(repo: Repo) -> None:
    repo.write("package.json", '{"devDependencies": {"eslint": "1"}}')
    assert adopt().plan.survey.found() == ["node", "eslint"]


def test_a_rule_about_words_begins_as_a_warning_and_all_of_the_history_tells_types(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adoption, "_LOOKED_AT", 5)
    monkeypatch.setattr(adoption, "_SUBJECTS", (6, 50))
    for number, kind in enumerate(["wip", "wip", *["feat"] * 6, "bump", "bump"]):
        repo.commit(f"{kind}: a (#{number})")
    done = adopt()
    assert "conventional-subject" in done.plan.asked
    assert "conventional-subject: {level: prompt}" in written(repo)
    assert done.plan.types[-2:] == ["bump", "wip"]


def test_what_git_tracks_already_is_meant(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.commit("one", **{".env.development": "HOST=localhost\n", "assets/a.bin": "\0\1", "tests/b.bin": "\0"})
    repo.commit("two", **{"ship/app.keystore": "x\n", "doc/a.png": "\0"})
    done = adopt()
    assert sorted(done.plan.meant) == [".env.development", "/assets/*.bin", "/ship/*.keystore"]
    assert "meant: ['" in written(repo)
    repo.write("assets/b.bin", "\0\2")
    repo.write("other/b.bin", "\0\2")
    repo.add()
    assert main.run(["check", "pre-commit"]) == 0
    said = capsys.readouterr().out
    assert "other/b.bin" in said and "assets/b.bin" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("commitlint.config.js", "rules: { // feat, nope, fix\n 'type-enum': [2, 'always', ['feat', 'fix', 'deps']] }"),
        (".commitlintrc.yml", "rules:\n  type-enum:\n    - 2\n    - always\n    - - feat\n      - fix\n      - deps\n"),
        ("scripts/verify-commit.js", "const re = /^(revert: )?(feat|fix|docs|deps)(\\(.+\\))?: .{1,50}/\n"),
        (
            ".github/workflows/title.yml",
            "- uses: amannn/action-semantic-pull-request@v5\n  with:\n   types: |\n    feat\n    fix\n    deps\n",
        ),
        (".gitmessage", "# feat: something new\n# fix: a bug\n# deps(x): dependencies\n"),
    ],
)
def test_the_types_of_a_checker_that_is_there_are_read(repo: Repo, path: str, text: str) -> None:
    repo.commit("feat: one", **{path: text})
    done = adopt()
    assert "conventional-commits" in done.plan.packs and "deps" in done.plan.types
    assert "nope" not in done.plan.types
    levels = {rule.intensity["default"] for rule in done.policy.rules if rule.trigger == "commit-msg"}
    assert levels == {"prompt"}
