"""The bundle of the light modules: whole, fresh, and rebuilt when a source changes."""

from __future__ import annotations

import importlib.util
import marshal
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType

import pytest

import ahp
from ahp.hosts.git import bundle, installation, start
from ahp.system.errors import AhpError
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

QUIET = "version: 1\nrules:\n  many: {at: pre-commit, block: files.changed_count > 100}\n"
PACKAGE = Path(ahp.__file__).parent


@pytest.fixture
def gone(gated: Gated) -> Path:
    """The bundle of the gate."""
    return gated.folder / "cache" / "light.pyc"


def without_notice(said: str) -> str:
    """What a hook said, but for the notice that it takes long: a bundle is not written in two seconds everywhere."""
    return re.sub(r"ahp: pre-commit is slow .*\n", "", said)


@pytest.mark.no_cover
def test_the_bundle_is_one_pyc_of_this_interpreter(gated: Gated, gone: Path) -> None:
    data = gone.read_bytes()
    assert data[:4] == importlib.util.MAGIC_NUMBER
    assert isinstance(marshal.loads(data[16:]), CodeType)


@pytest.mark.slow
def test_build_bundles_what_is_loaded_in_an_order_that_runs() -> None:
    data = bundle.build(installation.import_paths(), ["files", "commit"])
    assert data[:4] == importlib.util.MAGIC_NUMBER
    names = bundle._runnable(["ahp.gate.decide", "ahp.gate.match", "ahp.gate", "ahp", "ahp.conditions.evaluate"])
    assert names.index("ahp") < names.index("ahp.gate") < names.index("ahp.gate.match") < names.index("ahp.gate.decide")


def test_without_its_bundle_a_hook_starts_from_the_sources_and_writes_it(gated: Gated, gone: Path) -> None:
    gated.policy(QUIET)
    gone.unlink()
    gated.write("a.txt")
    gated.add()
    code, said = gated.say("commit", "-q", "-m", "x")
    assert (code, without_notice(said)) == (0, "")
    assert gone.exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["empty", "cut", "fifo", "unreadable"])
def test_a_bundle_that_a_crash_left_unwritten_or_that_is_no_file_stops_nobody(
    gated: Gated, gone: Path, kind: str
) -> None:
    data = gone.read_bytes()
    gone.unlink()
    if kind == "fifo":
        os.mkfifo(gone)
    elif kind == "unreadable":  # as root writes it in a folder of another user's; root reads it all the same
        gone.write_bytes(data)
        gone.chmod(0)
    else:
        gone.write_bytes(data[: len(data) // 2] if kind == "cut" else b"")
    gated.write("a.txt")
    gated.add("a.txt")
    assert gated.say("commit", "-m", "x").code == 0
    assert gone.is_file() and bundle.is_fresh(gone.read_bytes())


def test_a_token_that_is_no_file_is_not_waited_for(gated: Gated) -> None:
    os.mkfifo(gated.root / ".git" / "ahp-token")
    gated.write("a.txt")
    gated.add("a.txt")
    assert gated.say("commit", "--no-verify", "-m", "x").code == 0


@pytest.mark.slow
def test_a_stale_bundle_is_not_used_and_written_anew(tmp_path: Path) -> None:
    # A copy of the package, so that a source can change.
    shutil.copytree(PACKAGE, tmp_path / "lib" / "ahp", ignore=shutil.ignore_patterns("__pycache__"))
    path, paths = tmp_path / "cache" / "light.pyc", [str(tmp_path / "lib"), *installation.import_paths()]
    bundle.write(str(path), installation.interpreter(), paths)
    before = path.read_bytes()
    repo = Gated(tmp_path / "repo")
    repo.root.mkdir()
    repo.git("init", "-q")

    def ask() -> subprocess.CompletedProcess[bytes]:
        argv = [installation.interpreter(), "-I", "-S", str(path), "pre-commit", "1", "", "", "git"]
        return repo.run(*argv)

    assert ask().returncode == 0
    assert path.read_bytes() == before
    main = tmp_path / "lib" / "ahp" / "hosts" / "git" / "main.py"
    main.write_text(main.read_text().replace('actor = Actor("human")', 'posix.write(2, b"changed")\n    actor = None'))
    done = ask()
    assert (done.returncode, without_notice(done.stderr.decode())) == (0, "changed")
    assert path.read_bytes() != before
    renewed = path.read_bytes()
    assert ask().stderr == b"changed"
    assert path.read_bytes() == renewed
    # What only compiles a policy is in no bundle, but decides whether a compiled one is still right.
    with (tmp_path / "lib" / "ahp" / "policy" / "refine.py").open("a") as file:
        file.write("\n_ADDED = 1\n")
    assert not bundle.is_fresh(renewed)
    ask()
    assert bundle.is_fresh(path.read_bytes()) and path.read_bytes() != renewed


def test_a_hook_in_this_process_writes_a_stale_bundle_anew(gated: Gated, ask: Ask, gone: Path) -> None:
    gated.policy(QUIET)
    gone.unlink()
    code, said = ask("pre-commit", bundle=str(gone))
    assert (code, without_notice(said)) == (0, "")
    assert gone.exists()


def test_an_interpreter_that_cannot_import_ahp_is_named(tmp_path: Path) -> None:
    with pytest.raises(AhpError, match="cannot import ahp with"):
        bundle.write(str(tmp_path / "light.pyc"), sys.executable, [])


def test_a_source_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(AhpError, match=r"lacks .*gone\.py; fix: "):
        bundle._bare(str(tmp_path / "gone.py"))


def test_what_no_hook_uses_is_stripped(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text(
        '"""Doc."""\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n    import never\nelse:\n    z = 3\n'
        'x: int = 1\ny: int\n\nclass C:\n    """Doc."""\n\n    z: int\n\ndef f(a: int) -> int:\n    """Doc."""\n'
    )
    import ast

    bare = ast.unparse(bundle._bare(str(source)))
    assert "Doc." not in bare
    assert "never" not in bare
    assert "int" not in bare
    assert "x = 1" in bare
    namespace: dict[str, object] = {}
    exec(compile(bare, "x", "exec"), namespace)
    assert (namespace["x"], namespace["z"]) == (1, 3)


def test_fresh_compares_time_and_size(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("1")
    status = file.stat()
    assert start.fresh([(str(file), status.st_mtime_ns, 1)])
    assert not start.fresh([(str(file), status.st_mtime_ns, 2)])
    assert not start.fresh([(str(file), status.st_mtime_ns - 1, 1)])
    assert not start.fresh([(str(tmp_path / "b"), 0, 0)])


Where = tuple[bytes, int, int]
Bundled = Callable[..., tuple[Path, Where]]


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Bundled]:
    """Writes a bundle of a package with one module for now and one for later; what is imported of it goes again."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))

    def write(stamps: list[tuple[str, int, int]], value: int = 1) -> tuple[Path, Where]:
        now = [
            ("bundled_x", compile("", "x", "exec"), "/x/bundled_x/__init__.py", True),
            ("bundled_x.now", compile(f"value = {value}", "x", "exec"), "/x/bundled_x/now.py", False),
        ]
        parts = {"bundled_x.later": marshal.dumps(compile("value = 2", "x", "exec")), "table": b"packed"}
        behind, where = bundle.tail(stamps, now, {"bundled_x.later": "/x/bundled_x/later.py"}, parts)
        path = tmp_path / "light.pyc"
        path.write_bytes(b"the first code" * value + behind)
        return path, where

    yield write
    for name in [name for name in sys.modules if name.startswith("bundled_x")]:
        del sys.modules[name]


def test_begin_makes_the_bundled_modules_importable(bundled: Bundled) -> None:
    path, where = bundled([])
    parts = start.begin(str(path), ["/somewhere"], where)
    assert sys.path[-1] == "/somewhere"
    assert parts is not None and "table" in parts and "bundled_x.never" not in parts
    path.unlink()  # removed, or replaced by a newer one: this process goes on with what it began with
    package: ModuleType = __import__("bundled_x.later")
    assert (package.now.value, package.later.value, parts["table"]) == (1, 2, b"packed")
    assert (package.now.__package__, package.later.__package__) == ("bundled_x", "bundled_x")
    assert [Path(module.__file__ or "").name for module in (package, package.now, package.later)] == [
        *("__init__.py", "now.py", "later.py")
    ]
    with pytest.raises(ModuleNotFoundError):
        __import__("bundled_x.never")


@pytest.mark.parametrize("what", ["stale", "gone", "cut", "another"])
def test_begin_leaves_a_bundle_alone_that_is_not_its_own(bundled: Bundled, what: str) -> None:
    path, where = bundled([("/no/such/file", 0, 0)] if what == "stale" else [])
    if what == "gone":
        path.unlink()
    elif what == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    elif what == "another":  # written by a second process between this one's start and its first look
        bundled([], value=3)
    assert start.begin(str(path), ["/somewhere"], where) is None
    assert sys.path[-1] == "/somewhere"
    assert "bundled_x" not in sys.modules
