"""Whether Git LFS has its hooks beside ours; `make test-tools` drives git-lfs itself."""

from __future__ import annotations

import pytest

from ahp.hosts.git import doctor, lfs
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

HOOK = '#!/bin/sh\ngit lfs %s "$@"\n'


@pytest.fixture
def kept(gated: Gated) -> Gated:
    gated.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    gated.git("config", "filter.lfs.process", "git-lfs filter-process")
    return gated


def test_only_where_an_attribute_and_the_configuration_say_so(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")  # a machine with git-lfs has it in there
    repo = gated.repository()
    assert not lfs.is_used(repo, everywhere=True) and not lfs.warning(repo)
    gated.write("deep/.gitattributes", "*.bin filter=lfs\n")
    gated.add()
    gated.git("config", "filter.lfs.clean", "git-lfs clean")
    assert lfs.is_used(repo, everywhere=True) and not lfs.is_used(repo)
    gated.git("config", "--unset", "filter.lfs.clean")
    assert not lfs.is_used(repo, everywhere=True)
    assert "git-lfs" not in {check.name for check in doctor.examine(repo, str(gated.user_policy))}


def test_what_is_missing_is_told_by_doctor_and_at_each_push(kept: Gated, ask: Ask) -> None:
    repo = kept.repository()
    check = lfs.check(repo)
    assert (check.status, check.mend) == ("wrong", "git lfs update --force && ahp install git")
    assert check.detail == "its hook pre-push is missing, so the content of its files is not pushed"
    line = f"refs/heads/main {kept.head()} refs/heads/main {'0' * 40}\n".encode()
    for _ in range(2):
        code, said = ask("pre-push", "origin", "elsewhere", stdin=line)
        assert code == 0 and "ahp: git-lfs: its hook pre-push is missing, so the content of its files" in said
    kept.write(".git/hooks/pre-push.before-ahp", HOOK % "pre-push", 0o755)
    assert "git-lfs" not in ask("pre-push", "origin", "elsewhere", stdin=line)[1]
    assert lfs.check(repo).status == "ok"
    lefthook = "#!/bin/sh\ncall_lefthook() { :; }\n"  # it calls git-lfs itself
    kept.write(".git/hooks/pre-push.before-ahp", lefthook, 0o755)
    assert lfs.check(repo).status == "ok"


def test_beside_husky_its_committed_hooks_count(kept: Gated) -> None:
    kept.write(".husky/_/pre-push", "#!/bin/sh\n", 0o755)
    kept.git("config", "core.hooksPath", ".husky/_")
    assert lfs.check(kept.repository()).status == "wrong"
    kept.write(".husky/pre-push", "git-lfs pre-push\n")
    assert lfs.check(kept.repository()).status == "ok"
