"""What every test stands on: a home, an environment and a git of its own."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import posix
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import coverage
import pytest

import ahp
from ahp.conditions import reference
from ahp.conditions.evaluate import set_deadline
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import Checked
from ahp.hosts.git import bundle
from ahp.policy import lint
from ahp.system import clock, files, terminal
from tests import examples

examples.load_profile()

PROJECT = Path(__file__).resolve().parent.parent
REAL_HOME = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)

# An allow-list: the markers of agents and CI systems are many and grow, and so are the GIT_* variables of a hook that
# happens to run the tests.
KEPT = frozenset({"PATH", "TMPDIR", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "NO_PROXY", "HTTPS_PROXY"})
KEPT_PREFIXES = ("PYTEST_", "COV_", "COVERAGE_", "HYPOTHESIS_", "AHP_TEST_")

# What pytest was started with. Only package managers get it: they need their configuration and the way to the network.
OUTSIDE = dict(os.environ)

GIT_CONFIG = """\
[user]
\tname = Test Person
\temail = person@example.org
[init]
\tdefaultBranch = main
[core]
\teditor = true
\tfsync = none
[commit]
\tgpgSign = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[protocol "file"]
\tallow = always
"""


class TouchedRealHome(RuntimeError):
    """A test opened, made, moved or removed something in the home of the person who runs the tests."""


class _HomeGuard:
    """An audit hook, because it also sees what C code opens. It cannot be taken out again, only switched off."""

    # The interpreter, its packages, this checkout and the temporary folders may lie in the home.
    ALLOWED = tuple(
        os.path.realpath(place) + os.sep
        for place in (sys.prefix, sys.base_prefix, PROJECT, tempfile.gettempdir(), *filter(os.path.isdir, sys.path))
    )
    EVENTS = frozenset(
        {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.listdir", "os.scandir"}
        | {"os.link", "os.symlink", "os.truncate", "os.chmod"}
    )

    def __init__(self) -> None:
        self.active = False
        self.touched: list[str] = []

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.active or event not in self.EVENTS:
            return
        for argument in arguments[:2]:
            if not isinstance(argument, (str, bytes, os.PathLike)):
                continue
            path = os.path.abspath(os.fsdecode(argument))
            if path.startswith(REAL_HOME + os.sep) and not (path + os.sep).startswith(self.ALLOWED):
                self.touched.append(f"{event} {path}")
                raise TouchedRealHome(f"{event}: {path}")


_MEASURED = pytest.StashKey[coverage.Coverage]()

_guard = _HomeGuard()
# A home of "/" (some containers) holds everything: nothing could be told apart.
if len(REAL_HOME) > 1:
    sys.addaudithook(_guard)


def _move_in(home: Path, tmp_path_factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> None:
    """Makes `home` the home of this process and of what it starts, with a git identity, and drops all else."""
    (home / ".gitconfig").write_text(GIT_CONFIG)
    # The interpreter's folder first: `python3` and `ahp` of the tests, not a version manager's shims.
    path = os.pathsep.join([os.path.dirname(sys.executable), OUTSIDE.get("PATH", os.defpath)])
    own = {
        **{name: f"{home}/{place}" for name, place in _XDG.items()},
        "HOME": str(home),
        "PATH": path,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_SYSTEM": str(home / "system.gitconfig"),
        "GIT_CEILING_DIRECTORIES": str(tmp_path_factory.getbasetemp()),
        "GIT_TERMINAL_PROMPT": "0",
        "AHP_PATIENCE": "0",  # a slow machine makes hooks speak
    }
    before = dict(os.environ)  # most of it is as the session's first home left it
    for name in before:
        if name not in own and name not in KEPT and not name.startswith(KEPT_PREFIXES):
            patch.delenv(name)
    for name, value in own.items():
        if before.get(name) != value:
            patch.setenv(name, value)

    # The user policy is found through the password database, not through HOME.
    entry = pwd.getpwuid(os.getuid())
    person = pwd.struct_passwd((*entry[:5], str(home), entry.pw_shell))
    patch.setattr(pwd, "getpwuid", lambda uid: person)


@pytest.fixture
def an_hour_passes_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """`an_hour_passes_at(path)`: for this process an hour goes by when the file gets its first content.

    So what a program did before its time limit is done, however slow the machine is, and no test waits for the limit.
    """
    real = time.monotonic

    def set_clock(path: Path) -> None:
        def later() -> float:
            return real() + (3600 if path.exists() and path.stat().st_size else 0)

        monkeypatch.setattr(time, "monotonic", later)
        monkeypatch.setattr(clock, "monotonic", later)

    return set_clock


@pytest.fixture
def no_hang() -> Iterator[None]:
    """Ends a test that hangs, as a pattern does whose time grows with the square of the text; no measure of speed."""

    def over(number: int, frame: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Measures of a collection only what modules of ahp do when they are imported; tests are collected untraced."""
    measured = coverage.Coverage.current()
    if session.config.pluginmanager.hasplugin("dsession"):
        if measured:
            measured.stop()  # nothing runs here: the workers collect and test
        return (yield)
    if measured:
        for module in pkgutil.walk_packages(ahp.__path__, "ahp."):
            if not module.name.startswith("ahp.integrations."):  # they need somebody's framework
                importlib.import_module(module.name)
        measured.stop()
        # In a worker pytest-cov starts two, and saves the second: whenever that stops, the first would go on tracing.
        while beneath := coverage.Coverage.current():
            beneath.stop()
    _import_share(session.config)
    try:
        return (yield)
    finally:
        if measured:
            measured.start()


def _import_share(config: pytest.Config) -> None:
    """Each worker begins with other test modules, so that it finds what pytest makes of most of them.

    To rewrite their assertions takes longer than all else in a collection, and every worker collects every module.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1 or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    own = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    for path in sorted((PROJECT / "tests").rglob("test_*.py"))[own::workers]:
        with suppress(Exception, pytest.skip.Exception):  # it is told when the module is collected
            importlib.import_module(".".join(path.relative_to(PROJECT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Takes thousands of collected tests, and the modules that they import, out of the garbage collector's sight.

    Else every collection looks at all of them again: a tenth of the time that the tests take.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.hookimpl(trylast=True)  # after Hypothesis has marked its own
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What property tests run is measured in other tests: hundreds of examples take more than twice as long traced."""
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker("no_cover")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measures coverage only where a test itself runs: traced, pytest and the fixtures take twice as long."""
    if not (measured := coverage.Coverage.current()):
        return (yield)
    measured.stop()
    item.stash[_MEASURED] = measured
    try:
        return (yield)
    finally:
        measured.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Outside of pytest-cov's hook of this name, which sees to `no_cover`."""
    if not (measured := item.stash.get(_MEASURED, None)):
        return (yield)
    measured.start()
    try:
        return (yield)
    finally:
        measured.stop()


@pytest.fixture(scope="session")
def session_patch() -> Iterator[pytest.MonkeyPatch]:
    """What holds for every test, and for the fixtures that serve several."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="session", autouse=True)
def first_home(tmp_path_factory: pytest.TempPathFactory, session_patch: pytest.MonkeyPatch) -> None:
    """The home of fixtures that serve a whole module or session: they run before any test has its own."""
    _move_in(tmp_path_factory.mktemp("first-home"), tmp_path_factory, session_patch)


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk(session_patch: pytest.MonkeyPatch) -> None:
    """Nothing in this process waits for the disk; tests of what is synced say so themselves."""
    session_patch.setattr(os, "fsync", lambda fd: None)
    session_patch.setattr(posix, "fsync", lambda fd: None)


@pytest.fixture(autouse=True)
def no_deadline() -> None:
    """The deadline of an event that an earlier test judged in this process does not apply to conditions of this one."""
    set_deadline(float("inf"))


_bundles: dict[object, bytes] = {}


@pytest.fixture(scope="session", autouse=True)
def bundles_made_once(session_patch: pytest.MonkeyPatch) -> None:
    """The bundles that installing writes: each is made once, for they hold nothing of the repository."""
    make = bundle.write

    def write(path: str, interpreter: str, paths: list[str], starter: str = "ahp.hosts.git.bundle:GIT") -> None:
        key = (interpreter, *paths, starter)
        if key not in _bundles:
            make(path, interpreter, paths, starter)
            _bundles[key] = Path(path).read_bytes()
        else:
            files.make_dirs(os.path.dirname(path))
            files.replace(path, _bundles[key])

    session_patch.setattr(bundle, "write", write)


_agreed: set[str] = set()
_disagreement = reference.disagreement


@pytest.fixture(scope="session", autouse=True)
def conditions_compared_once(session_patch: pytest.MonkeyPatch) -> None:
    """What both evaluators agree on is not compared again for the next policy of this process that has it."""

    def once(checked: Checked, schema: Schema) -> str | None:
        key = repr((checked, [schema.facts.get(path) for path in sorted(checked.reads)]))
        if key in _agreed and reference.disagreement is _disagreement:
            return None
        found = reference.disagreement(checked, schema)
        if found is None:
            _agreed.add(key)
        return found

    session_patch.setattr(lint, "reference", SimpleNamespace(disagreement=once))


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home of this test: empty but for git's configuration, in the environment and in the password database."""
    home = tmp_path_factory.mktemp("home")
    _move_in(home, tmp_path_factory, monkeypatch)
    _guard.touched.clear()
    _guard.active = True
    yield home
    _guard.active = False
    # Code under test may have swallowed the exception.
    assert not _guard.touched, f"the real home was touched: {_guard.touched}"


_XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_RUNTIME_DIR": ".run",
}


class Repo:
    """A real git repository; names are str (surrogateescape) or bytes, relative to `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> str:
        """What git printed, without the last newline.

        Raises AssertionError with git's words if it failed and `check`.
        """
        done = self.run("git", *arguments, stdin=stdin, env=env)
        if check and done.returncode:
            raise AssertionError(f"git {arguments} exited with {done.returncode}: {os.fsdecode(done.stderr)}")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def run(
        self, *argv: str | bytes, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Any command in the repository; `env` is added to the test's."""
        return subprocess.run(
            argv, cwd=self.root, input=stdin, capture_output=True, env={**os.environ, **(env or {})}, check=False
        )

    def write(self, name: str | bytes, content: str | bytes = "text\n", mode: int | None = None) -> Path:
        """The path of the file, made with its folders."""
        path = self.root / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        if mode is not None:
            path.chmod(mode)
        return path

    def add(self, *names: str | bytes) -> None:
        """Stage these names, taken literally; none: everything."""
        if names:
            self.git("--literal-pathspecs", "add", "--", *names)
        else:
            self.git("add", "--all")

    def commit(self, message: str = "change", *options: str, **files: str | bytes) -> str:
        """The new commit's id. `files` are written and staged first: `commit("first", **{"a.txt": "text"})`."""
        for name, content in files.items():
            self.write(name, content)
            self.add(name)
        self.git("commit", "--quiet", "--allow-empty", "--message", message, *options)
        return self.head()

    def head(self) -> str:
        """The id of HEAD's commit."""
        return self.git("rev-parse", "HEAD")


@pytest.fixture(scope="session")
def empty_repository(tmp_path_factory: pytest.TempPathFactory, first_home: None) -> Path:
    """What `git init` makes but for the sample hooks, to be copied: a process takes six times as long."""
    made = Repo(tmp_path_factory.mktemp("empty"))
    made.git("init", "--quiet")
    for sample in (made.root / ".git" / "hooks").glob("*.sample"):
        sample.unlink()
    return made.root


@pytest.fixture
def repo(tmp_path: Path, empty_repository: Path) -> Repo:
    """An empty repository on branch main, without a commit."""
    return Repo(shutil.copytree(empty_repository, tmp_path / "repo", symlinks=True))


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A person at the terminal of this process, who says yes; the questions that were asked."""
    asked: list[str] = []

    def agree(question: str, patience: float = 0) -> bool:
        asked.append(question)
        return True

    monkeypatch.setattr(terminal, "ask", agree)
    monkeypatch.setattr(terminal, "attended", lambda: True)
    return asked


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No terminal, whoever runs the tests."""
    monkeypatch.setattr(terminal, "ask", lambda question, patience=0: None)
    monkeypatch.setattr(terminal, "attended", lambda: False)


@pytest.fixture(scope="session")
def hostile_names() -> list[str]:
    """File names that git and the file system take and careless code does not; decoded with surrogateescape."""
    names = [
        b"with space.txt",
        b" leading and trailing ",
        b"single'quote",
        b'double"quote',
        b"new\nline",
        b"tab\there",
        b"back\\slash",
        b"carriage\rreturn",
        b"-rf",
        b"--all",
        b"$(touch pwned)",
        b"`touch pwned`",
        b"a;b|c&d",
        b"*",
        b"[a-z]?.py",
        b":(top)magic",
        b":!exclude",
        b"#hash",
        b"~tilde",
        b"{x,y}",
        b"{files.changed_count}",
        b"[red]markup[/red]",
        b"esc\x1b[2J",
        b"bell\x07",
        b"=>",
        b"a => b",
        b"null",
        "ünïcödé/ümläut".encode(),
        "e\u0301 decomposed".encode(),
        "bidi\u202etxt.exe".encode(),
        "line\u2028separator".encode(),
        "\U0001f512".encode(),
        b"n" * 200,
        b"deep/" * 30 + b"file",
    ]
    # macOS refuses names that are not UTF-8, and folds the decomposed one.
    if sys.platform != "darwin":
        names += [b"not-utf8-\xff\xfe", b"latin1-\xe9.py", b"\xed\xa0\x80 surrogate"]
    return [os.fsdecode(name) for name in names]
