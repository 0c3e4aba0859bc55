"""A release: the same bytes from every build; it works where pipx or uv installed it. `make test-tools`."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ahp.system.version import __version__
from tests.conftest import OUTSIDE, PROJECT, Repo

pytestmark = pytest.mark.tools
BIN = PROJECT / "build/release/bin"
POLICY = "version: 1\nrules: {no-todo: {at: pre-commit, each: l in diff.added, block: \"contains(l.text, 'TODO')\"}}\n"


@pytest.fixture(scope="module")
def dist() -> Path:
    """What `make dist` leaves of HEAD, with the list of what it is made of."""
    for command in (["make", "--no-print-directory", "dist", f"PYTHON={sys.executable}"], [".ci/sbom"]):
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return PROJECT / "dist"


def test_two_builds_gave_the_same_bytes_and_their_digests_stand_beside(dist: Path) -> None:
    told = dict(line.split("  ")[::-1] for line in (dist / "SHA256SUMS").read_text().splitlines())
    names = [f"ahp_engine-{__version__}-py3-none-any.whl", f"ahp_engine-{__version__}.tar.gz"]
    assert sorted(told) == names
    for name in names:
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == told[name]
    with zipfile.ZipFile(dist / names[0]) as wheel, tarfile.open(dist / names[1]) as sdist:
        inside = {*wheel.namelist(), *sdist.getnames()}
    assert "ahp/hosts/installed/git/pre-commit" in inside and f"ahp_engine-{__version__}/tests/conftest.py" in inside
    assert not [name for name in inside if name.endswith((".pyc", ".so"))]


def test_what_it_is_made_of_names_each_library_and_no_place(dist: Path) -> None:
    text = (dist / "sbom.cdx.json").read_text("utf-8")
    names = {part["name"].lower() for part in json.loads(text)["components"]}
    assert {"ahp-engine", "click", "pydantic", "pyyaml"} <= names and "pytest" not in names
    assert str(PROJECT) not in text and "file:" not in text


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        (f"v{__version__}", ""),
        ("v9.9.9", f"fix: git tag v{__version__}"),
        (__version__, "the tag is"),
        ("", "the tag is"),
    ],
)
def test_a_tag_has_to_be_the_version_that_the_changelog_dates(tag: str, said: str) -> None:
    command = [sys.executable, ".ci/tag-is-version", *filter(None, [tag])]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == bool(said) and said in done.stderr


@pytest.mark.parametrize("installer", ["pipx", "uv"])
def test_what_they_install_from_the_wheel_guards_a_repository(dist: Path, installer: str, tmp_path: Path) -> None:
    env = {**OUTSIDE, "HOME": str(tmp_path), "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    env |= {"UV_TOOL_DIR": str(tmp_path / "uv"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin"), "UV_NO_PROGRESS": "1"}
    env |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
    (wheel,) = dist.glob("*.whl")
    how = ["pipx", "install", "--python", sys.executable] if installer == "pipx" else ["uv", "tool", "install", "-q"]
    done = subprocess.run([BIN / how[0], *how[1:], wheel], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    env["PATH"] = f"{tmp_path}/bin:{env['PATH']}"

    def ahp(*argv: str) -> str:
        done = subprocess.run(["ahp", *argv], cwd=repo.root, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    repo = Repo(tmp_path / "project")
    repo.root.mkdir()
    repo.git("init", "--quiet")
    repo.git("config", "user.name", "Ann")
    repo.git("config", "user.email", "ann@example.org")
    repo.commit("Begin", **{".ahp/hooks.yaml": POLICY})
    assert ahp("--version").strip() == f"ahp, version {__version__}"
    ahp("install", "git")
    ahp("doctor")  # ends with 0: every hook reaches the gate
    repo.write("page.md", "TODO\n")
    repo.add()
    commit = ["git", "commit", "--quiet", "-m", "A page"]
    refused = subprocess.run(commit, cwd=repo.root, env=env, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "no-todo" in refused.stderr, refused.stderr
    repo.write("page.md", "text\n")
    repo.add()
    passed = subprocess.run(commit, cwd=repo.root, env=env, capture_output=True, text=True, check=False)
    assert passed.returncode == 0, passed.stderr
    # What it says how to have more of it names the wheel, and the installer that put it there.
    export = ["ahp", "log", "export", "--format", "parquet", "-o", "x.parquet"]
    told = subprocess.run(export, cwd=repo.root, env=env, capture_output=True, text=True, check=False).stderr
    assert f"{how[0]} {'install' if installer == 'pipx' else 'tool install'} --force" in told and wheel.name in told
