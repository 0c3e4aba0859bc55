"""A library that is not what ahp needs is named with what mends it, wherever it makes something fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ahp.system import libraries
from ahp.system.errors import lost_dependency

OLD = "click 8.1.7 is older than 8.2, the oldest version that ahp works with"


def put(folder: Path, name: str, version: str, module: str, code: str) -> None:
    """Makes a distribution with one module in `folder`."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{module}.py,,\n")
    (folder / f"{module}.py").write_text(code)


def test_what_ahp_needs_is_here_and_what_its_development_needs_is_not_asked() -> None:
    known = {one.name.lower(): one for one in libraries.required()}
    assert {"click", "pyyaml", "tree-sitter-bash"} <= {name for name, one in known.items() if not one.extra}
    assert known["orjson"].extra == "insight" and "pytest" not in known
    assert libraries.problems() == []


def test_an_old_library_is_named_and_explains_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "click", "8.1.7", "click", "")
    monkeypatch.syspath_prepend(tmp_path)
    assert libraries.problems() == [(OLD, "pip install 'click>=8.2'")]
    told = str(lost_dependency(TypeError("type 'ParamType' is not subscriptable")))
    assert told.startswith(f"{OLD}; so this failed: TypeError: type 'ParamType'")
    assert "; fix: pip install 'click>=8.2'; " in told
    assert lost_dependency(FileNotFoundError("x")) is None  # no library makes the file system fail


@pytest.mark.parametrize(
    ("version", "least", "is_old"),
    [
        ("8.2", "8.2.0", False),
        ("8.10.0", "8.2", False),
        ("8.2.0rc1", "8.2", False),
        ("1.1.20240702", "1.1.20250722", True),
        ("1.9.0.post1", "1.9", False),
        ("25", "25.0.1", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, least: str, is_old: bool) -> None:
    assert (libraries.Library("x", version, least, "runner").problem() is not None) is is_old


def test_an_extra_may_be_missing_and_the_rest_may_not() -> None:
    assert libraries.Library("x", "", "1", "runner").problem() is None
    assert libraries.Library("x", "", "1", "").problem() == ("x is not installed", "pip install 'x>=1'")


def test_a_library_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "simpleeval", "99", "simpleeval", "raise OSError('another machine')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "simpleeval", raising=False)
    [(told, mend)] = libraries.problems()
    assert told == "simpleeval 99 cannot be imported: another machine"
    assert mend.startswith("pip install --force-reinstall 'simpleeval>=")


def test_where_ahp_has_no_metadata_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert libraries.required() == [] == libraries.problems()


@pytest.mark.parametrize("code", ["raise AttributeError('x')", "raise ImportError('no x', name='click.x')", ""])
def test_a_program_whose_click_is_another_says_so_and_shows_no_traceback(tmp_path: Path, code: str) -> None:
    put(tmp_path, "click", "8.1.7", "click", code)
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom ahp.cli.start import main\nmain()"
    done = subprocess.run([sys.executable, "-c", script, "check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ahp: ") and OLD in done.stderr and "Traceback" not in done.stderr
