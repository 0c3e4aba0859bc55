"""Where ahp is installed: with what hooks are started, and what becomes of them when that changes."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import ahp
from ahp.hosts.git import installation
from ahp.system import installed
from ahp.system.errors import lost_dependency


def test_a_package_that_lies_elsewhere_is_found_in_the_order_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `pip install --user`, or in an environment that sees the system's packages, what was there is not copied."""
    elsewhere = tmp_path / "system"
    elsewhere.mkdir()
    (elsewhere / "yaml").symlink_to(Path(yaml.__file__).parent)
    info = next(file for file in metadata.files("PyYAML") or () if file.name == "METADATA").locate()
    (elsewhere / "PyYAML-6.dist-info").symlink_to(Path(str(info)).parent)
    usual = installation.import_paths()
    assert str(Path(ahp.__file__).parent.parent) in usual and str(elsewhere) not in usual
    monkeypatch.setattr(sys, "path", [str(elsewhere), *sys.path])
    assert installation.import_paths() == [str(elsewhere), *usual]


def test_without_metadata_ahp_runs_from_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert set(installation.import_paths()) >= {str(Path(ahp.__file__).parent.parent)}
    assert installed.program() == ""


def test_the_program_is_the_one_that_the_installation_made() -> None:
    done = subprocess.run([installed.program(), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ahp, version {ahp.__version__}\n"


def test_the_base_interpreter_is_preferred_and_a_broken_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.access(installation.interpreter(), os.X_OK)
    monkeypatch.setattr(sys, "_base_executable", "/bin/false")
    assert installation.interpreter() == sys.executable


def test_only_what_is_not_of_ahp_is_a_lost_dependency() -> None:
    lost = lost_dependency(ModuleNotFoundError("No module named 'yaml'", name="yaml"))
    assert (
        lost is not None
        and "cannot import yaml" in str(lost)
        and f"fix: {installed.command()} && ahp install git" in str(lost)
    )
    assert lost_dependency(ModuleNotFoundError("x", name="ahp.nothing")) is None
    assert lost_dependency(ValueError()) is None
