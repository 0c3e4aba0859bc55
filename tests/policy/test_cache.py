from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ahp
from ahp.cli.main import run
from ahp.policy import cache, compile, layers, sources
from ahp.policy import compile as compiling
from ahp.policy.judge import WORKING, Judge, working
from ahp.policy.problems import PolicyError
from ahp.policy.program import Program
from ahp.protocol.event import Actor, Event, Workspace
from ahp.protocol.triggers import TRIGGERS
from ahp.system import jsontext
from ahp.system.errors import AhpError
from tests.conftest import Repo

POLICY = "rules: {a: {at: pre-push, block: push.is_force, message: no}}\n"


class Place:
    """A work tree with a policy, and the ahp folder of its repository."""

    def __init__(self, base: Path) -> None:
        self.root = str(base / "work")
        self.folder = str(base / "git" / "ahp")
        self.user = str(base / "user.yaml")
        os.makedirs(self.root + "/.ahp")
        self.write(POLICY)

    def write(self, text: str, name: str = "hooks.yaml") -> None:
        Path(self.root, ".ahp", name).write_text(text)

    def find(self, trigger: str = "pre-push", user: bool = True) -> Program | None:
        return cache.find(self.root, self.folder, trigger, self.user if user else "")

    def compile(self, trigger: str = "pre-push", user: bool = True) -> Program:
        return compiling.build(self.root, self.folder, self.user if user else "")[1][trigger]

    def homes(self) -> list[Path]:
        return [path for path in Path(self.folder, "cache").iterdir() if len(path.name) == 32]

    def event(self, trigger: str = "pre-push") -> Event:
        where = Workspace(self.root, self.folder, {}, user_policy=self.user)
        return Event(trigger, "git", Actor("human"), where, 0.0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_policy_is_compiled_once_and_then_found(place: Place) -> None:
    assert place.find() is None
    made = place.compile()
    found = place.find()
    assert found is not None
    assert jsontext.encode(found) == jsontext.encode(made)
    assert jsontext.encode(Judge(found, WORKING).answers(place.event())) == jsontext.encode(made.answers)
    assert Judge(found, WORKING).answers(place.event()).rules["a"].message == "no"
    assert [rule.key for rule in found.rules] == ["a"]
    with pytest.raises(AttributeError):
        found.nothing
    for trigger in TRIGGERS:
        assert place.find(trigger) is not None


def test_an_event_finds_its_own_program(place: Place) -> None:
    assert place.find() is None
    assert working(place.event()).trigger == "pre-push"
    found = place.find()
    assert found is not None and found.trigger == "pre-push"


@pytest.mark.parametrize("name", ["hooks.yaml", "hooks.local.yaml"])
def test_a_changed_or_new_layer_is_another_policy(place: Place, name: str) -> None:
    place.compile()
    place.write(POLICY + "limits: {x: 1}\n", name)
    assert place.find() is None
    os.unlink(f"{place.root}/.ahp/{name}")
    assert (place.find() is None) == (name == "hooks.yaml")


def test_the_users_layer_counts_and_can_be_left_out(place: Place) -> None:
    place.compile()
    assert place.find(user=False) is None
    Path(place.user).write_text("rules: {b: {at: pre-push, block: push.is_new}}\n")
    assert place.find() is None
    assert [rule.key for rule in place.compile().rules] == ["a", "b"]
    assert [rule.key for rule in place.compile(user=False).rules] == ["a"]
    assert place.find() is not None and place.find(user=False) is not None


def test_a_changed_file_that_is_extended_is_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("extends: [team.yaml, core]\n" + POLICY)
    place.write("limits: {x: 1}\n", "team.yaml")
    place.compile()
    assert place.find() is not None
    place.write("limits: {x: 2}\n", "team.yaml")
    assert place.find() is None
    place.compile()
    os.unlink(f"{place.root}/.ahp/team.yaml")
    assert place.find() is None
    os.mkdir(f"{place.root}/.ahp/team.yaml")
    assert place.find() is None


def test_a_policy_is_bound_to_its_root(place: Place) -> None:
    place.compile()
    moved = place.root + "2"
    os.rename(place.root, moved)
    assert cache.find(moved, place.folder, "pre-push", place.user) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: b"",
        lambda text: text.replace(b'"block"', b'"allow"').replace(b"is_force", b"is_new__"),
        lambda text: b"0" * 64 + text[64:],
        lambda text: text[:65] + b"not json",
        lambda text: b"x" * 40,
    ],
)
def test_a_damaged_cache_is_rebuilt(place: Place, damage: object) -> None:
    place.compile()
    (home,) = place.homes()
    assert callable(damage)
    (home / "pre-push").write_bytes(damage((home / "pre-push").read_bytes()))
    assert place.find() is None
    place.compile()
    found = place.find()
    assert found is not None
    (home / "pre-push.answers").write_bytes(damage((home / "pre-push.answers").read_bytes()))
    assert Judge(found, WORKING).answers(place.event()).rules["a"].intensity == {"default": "block"}


def test_what_is_json_but_no_program_is_none(place: Place) -> None:
    place.compile()
    (home,) = place.homes()
    for content in (b"[]", b"nonsense", b"{}", b"[1, 2]"):
        from ahp.system.digest import sha256

        (home / "pre-push").write_bytes(sha256(content).encode() + b"\n" + content)
        assert place.find() is None


def test_another_programs_file_is_not_taken_for_this_one(place: Place) -> None:
    place.compile()
    (home,) = place.homes()
    (home / "pre-push").write_bytes((home / "pre-commit").read_bytes())
    assert place.find() is None


def test_answers_of_a_policy_that_changed_meanwhile_are_refused(place: Place) -> None:
    place.compile()
    found = place.find()
    (home,) = place.homes()
    (home / "pre-push.answers").unlink()
    place.write("rules: {a: {at: pre-push, prompt: push.is_force}}\n")
    assert found is not None
    with pytest.raises(AhpError, match="changed while it was judging"):
        Judge(found, WORKING).answers(place.event())


def run_copy(package: Path, place: Place, call: str) -> str:
    """The program that `cache.find` or `compiling.build` gives in a process that imports ahp from `package`."""
    given = {
        "cache.find": f"cache.find({place.root!r}, {place.folder!r}, 'pre-push', {place.user!r})",
        "compiling.build": f"compiling.build({place.root!r}, {place.folder!r}, {place.user!r})[1]['pre-push']",
    }
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "from ahp.policy import cache, compile as compiling\n"
        f"found = {given[call]}\n"
        "assert cache.__file__.startswith(sys.path[0]); print(found and [rule.key for rule in found.rules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(package)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_what_other_code_compiled_is_not_used(place: Place, tmp_path: Path) -> None:
    package = tmp_path / "copy"
    shutil.copytree(os.path.dirname(ahp.__file__), package / "ahp")
    assert run_copy(package, place, "compiling.build") == "['a']"
    assert run_copy(package, place, "cache.find") == "['a']"
    for source in ("policy/program.py", "facts/files.py"):
        with (package / "ahp" / source).open("a") as file:
            file.write("\n_ADDED = 1\n")
        assert run_copy(package, place, "cache.find") == "None", source
        assert run_copy(package, place, "compiling.build") == "['a']", source
        assert run_copy(package, place, "cache.find") == "['a']", source


def test_every_module_that_compiling_loads_is_among_the_sources_that_count(place: Place) -> None:
    code = (
        "import sys\nfrom ahp.policy import cache, compile as compiling\n"
        f"compiling.build({place.root!r}, {place.folder!r})\n"
        # What wings and packages add is written into the program, each with the digest of its file.
        "loaded = {m.__file__ for name, m in sys.modules.items() if name.split('.')[0] == 'ahp'}\n"
        "loaded -= {m.__file__ for name, m in sys.modules.items() if name.startswith('ahp.') and m.__file__ and"
        " ('wing.py' in m.__file__ or m.__file__.count('/ahp/') and m.__file__.endswith('__init__.py'))}\n"
        "print(*sorted(loaded - set(cache.compiler_sources())))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_an_installation_without_sources_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "__file__", "/nowhere/ahp/policy/cache.py")
    with pytest.raises(AhpError, match="lacks its sources in /nowhere/ahp"):
        cache.compiler_sources()


def test_a_layer_that_cannot_be_read_is_not_passed_over(place: Place) -> None:
    os.unlink(place.root + "/.ahp/hooks.yaml")
    os.mkdir(place.root + "/.ahp/hooks.yaml")
    assert place.find() is None
    with pytest.raises(PolicyError, match="is not a regular file"):
        place.compile()
    place.write("x" * (1 << 20) + "y", "hooks.local.yaml")
    os.rmdir(place.root + "/.ahp/hooks.yaml")
    with pytest.raises(PolicyError, match="more than the 1048576 allowed"):
        place.compile()


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_no_reason_to_refuse(place: Place) -> None:
    os.makedirs(place.folder)
    os.chmod(place.folder, 0o500)
    assert place.compile().rules


def test_where_nothing_can_be_written_the_policy_is_compiled_each_time(place: Place) -> None:
    Path(place.folder).parent.mkdir()
    Path(place.folder).write_text("a file where the folder should be")
    program = place.compile()
    assert [rule.key for rule in program.rules] == ["a"]
    assert program.answers and program.answers.rules
    assert place.find() is None


def test_whoever_only_asks_where_no_policy_is_is_left_no_folder(tmp_path: Path) -> None:
    made = compiling.build(str(tmp_path), str(tmp_path / ".ahp"))[1]["pre-commit"]
    assert not made.rules and not made.path and list(tmp_path.iterdir()) == []
    (tmp_path / ".ahp").mkdir()
    assert compiling.build(str(tmp_path), str(tmp_path / ".ahp"))[1]["pre-commit"].path


def test_only_the_newest_policies_are_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "KEPT", 2)
    place.compile()
    (first,) = place.homes()
    os.utime(first, (1, 1))
    for number in range(4):
        place.write(f"limits: {{x: {number}}}\n" + POLICY)
        place.compile()
    assert len(place.homes()) == 2 and first not in place.homes()
    compile.prune(place.folder + "/none")


def test_what_is_known_of_reports_lies_beside_policies_and_stays(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "KEPT", 1)
    results = Path(place.folder, "cache", "reports")
    results.mkdir(parents=True)
    os.utime(results, (1, 1))
    place.compile()
    place.write("limits: {x: 1}\n" + POLICY)
    place.compile()
    assert results.is_dir()


def test_paths_that_are_no_text_are_found_again(tmp_path: Path) -> None:
    root = os.fsdecode(os.fsencode(str(tmp_path)) + b"/w\xff\nx")
    os.makedirs(root + "/.ahp")
    Path(root, ".ahp", "hooks.yaml").write_text(POLICY)
    compiling.build(root, str(tmp_path / "ahp"))
    found = cache.find(root, str(tmp_path / "ahp"), "pre-push")
    assert found is not None and found.sources[0][0] == root + "/.ahp/hooks.yaml"


def test_finding_a_program_imports_next_to_nothing(place: Place) -> None:
    place.compile()
    code = (
        f"import sys; sys.path.insert(0, {str(Path(ahp.__file__).parent.parent)!r}); before = set(sys.modules)\n"
        "from ahp.policy import cache\n"
        f"found = cache.find({place.root!r}, {place.folder!r}, 'pre-push', {place.user!r})\n"
        "assert cache.read_answers(found) and found.answers.rules\n"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('ahp')))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"_json", "_sha256", "_sha2", "_thread", "_signal", "errno", "posix", "time"}


def test_a_bare_repository_has_the_users_layer_only(place: Place) -> None:
    Path(place.user).write_text("rules: {b: {at: pre-push, block: push.is_new}}\n")
    program = compiling.build("", place.folder, place.user)[1]["pre-push"]
    assert [rule.key for rule in program.rules] == ["b"]
    assert [name for name, _ in program.sources] == [place.user]
    assert cache.find("", place.folder, "pre-push", place.user) is not None


def test_a_program_can_be_copied(place: Place) -> None:
    assert copy.copy(place.compile()).trigger == "pre-push"


def test_packs_are_listed_by_name() -> None:
    assert "core" in sources.packs()
    assert sources.pack("none") is None


def test_a_policy_that_the_work_tree_has_as_it_is_committed_is_compiled_once(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root)
    text = "rules: {r: {at: pre-commit, block: files.changed_count > 9}}\n"
    repo.commit("start", **{".ahp/hooks.yaml": text})
    asked, load = [], layers.load
    monkeypatch.setattr(layers, "load", lambda source: asked.append(source) or load(source))
    assert run(["check", "pre-commit"]) == 0
    assert len(asked) == 1
    repo.write(".ahp/hooks.yaml", text + "  # another\n")
    assert run(["check", "pre-commit"]) == 0
    assert len(asked) == 2
