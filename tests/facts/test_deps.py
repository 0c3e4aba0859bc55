"""`deps`: manifests and lock files of the common ecosystems, and manifests whose lock was left behind."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import deps

ALL = [f"deps.{field}" for field in deps.NAMESPACE.schema]


@pytest.mark.parametrize(
    ("manifest", "lock"),
    [
        ("pyproject.toml", "uv.lock"),
        ("pyproject.toml", "poetry.lock"),
        ("Pipfile", "Pipfile.lock"),
        ("package.json", "package-lock.json"),
        ("package.json", "yarn.lock"),
        ("web/package.json", "pnpm-lock.yaml"),
        ("crates/a/Cargo.toml", "Cargo.lock"),
        ("go.mod", "go.sum"),
        ("Gemfile", "Gemfile.lock"),
        ("composer.json", "composer.lock"),
        ("requirements.in", "requirements.txt"),
    ],
)
def test_a_manifest_that_left_its_lock_behind(
    repo: Any, make_event: Any, gather: Any, manifest: str, lock: str
) -> None:
    repo.commit("first", **{manifest: "1", lock: "1"})
    repo.write(manifest, "2")
    repo.add()
    facts = gather(make_event(), *ALL)
    assert facts["deps.changed"] is True and facts["deps.lock_changed"] is False
    assert facts["deps.manifests"] == facts["deps.unlocked"] == [manifest]
    repo.write(lock, "2")
    repo.add()
    facts = gather(make_event(), *ALL)
    assert facts["deps.unlocked"] == []
    if lock != "requirements.txt":  # hand-written as often as locked: it counts as a manifest
        assert facts["deps.lock_changed"] is True and facts["deps.locks"] == [lock]


def test_the_tree_is_not_listed_for_a_plain_question(
    repo: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("go.mod", "1")
    repo.add()
    event = make_event()
    monkeypatch.setattr(type(event.view), "paths", lambda view: pytest.fail("the tree was listed"))
    assert gather(event, "deps.changed") == {"deps.changed": True}


def test_without_a_lock_file_nothing_is_left_behind(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("src/requirements-dev.txt", "x")
    repo.write("App.csproj", "x")
    repo.write("setup.py", "x")
    repo.add()
    facts = gather(make_event(), *ALL)
    assert facts["deps.manifests"] == ["App.csproj", "setup.py", "src/requirements-dev.txt"]
    assert facts["deps.unlocked"] == []


def test_other_peoples_manifests_and_other_files_do_not_count(repo: Any, make_event: Any, gather: Any) -> None:
    for name in ("node_modules/a/package.json", "vendor/x/go.mod", "notes.txt", "Cargo.toml.bak"):
        repo.write(name, "x")
    repo.git("add", "-f", "-A")
    facts = gather(make_event(), *ALL)
    assert facts["deps.changed"] is False and facts["deps.locks"] == facts["deps.unlocked"] == []
    assert set(gather(make_event("pre-tool-use", view=None), *ALL)["missing"]) == set(ALL)
