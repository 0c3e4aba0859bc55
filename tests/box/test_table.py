"""What is in a box, from inside."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.box import table
from ahp.system import guarded
from tests.conftest import Repo

from .conftest import Boxed

box = pytest.mark.box


def test_settings_are_copied_without_keys() -> None:
    text = b"registry=https://me:pw@npm.example/\n//npm.example/:_authToken=abc\nalways=1\npassword=x\n"
    assert table.without_secrets(text) == b"registry=https://npm.example/\nalways=1\n"


def test_ahp_in_something_writable_is_no_box(repo: Repo, home: Path) -> None:
    package = os.path.dirname(os.path.dirname(table.__file__))
    with pytest.raises(table.CannotBox, match="outside the project, as pipx"):
        table.plan(str(repo.root), None, {"writable": [os.path.dirname(package)]}, dict(os.environ), [])


def test_a_guarded_place_that_is_a_link_is_no_box(repo: Repo) -> None:
    (repo.root / "elsewhere").mkdir()
    (repo.root / ".claude").symlink_to("elsewhere")
    with pytest.raises(table.CannotBox, match=r"\.claude is a symbolic link"):
        table.plan(str(repo.root), None, {}, dict(os.environ), [])


@box
@pytest.mark.parametrize(
    "place",
    ["/etc/passwd", "/usr/bin/x", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "$GIT/HEAD", "$GIT/hooks/x"]
    + ["$GIT/config", "$GIT/refs/heads/evil", "$GIT/ahp/signals.jsonl", "$AHP/box/table.py"]
    + [f"$ROOT/{name}" for name in (".ahp/hooks.yaml", ".claude/settings.json", ".mcp.json", ".github/hooks/x")],
)
def test_what_a_call_may_not_write(boxed: Boxed, place: str) -> None:
    known = {
        "ROOT": boxed.repo.root,
        "GIT": boxed.repo.root / ".git",
        "AHP": os.path.dirname(os.path.dirname(table.__file__)),
    }
    for name, value in known.items():
        place = place.replace(f"${name}", str(value))
    before = Path(place).read_bytes() if os.path.exists(place) and not place.startswith("/proc/sysrq") else None
    writes = "echo x" if "/.git/" in place else ":"  # where no box held, opening it harms nothing
    done = boxed(f"mkdir -p '{os.path.dirname(place)}'; {writes} >> '{place}' && echo WRITTEN")
    assert "WRITTEN" not in done.stdout or "/.git/" in place  # that is a copy
    if before is not None:
        assert Path(place).read_bytes() == before
    else:
        assert not os.path.exists(place) or place.startswith("/proc/sysrq")


@box
def test_every_guarded_place_of_the_project_stays_as_it_is(boxed: Boxed, tree: Callable[[Path], list[str]]) -> None:
    boxed.repo.commit("settings", **{".claude/settings.json": "{}", ".ahp/hooks.yaml": "version: 1\n"})
    before = tree(boxed.repo.root)
    names = dict.fromkeys(name for kind in ("policy", "agent settings") for name in guarded.IN_PROJECT[kind])
    attempts = [
        f"rm -rf {name}; mv {name} x; rm -rf x; echo 1 > {name}; mkdir -p {name}; ln -s a.txt {name}" for name in names
    ]
    boxed("; ".join([*attempts, "mv .github g; mv .claude c; rm -rf .github .vscode g c"]))
    assert tree(boxed.repo.root) == before
    assert boxed.repo.git("status", "--porcelain") == ""


@box
def test_covers_are_never_staged(boxed: Boxed, tree: Callable[[Path], list[str]]) -> None:
    listed = boxed("echo b > b.txt; git status --porcelain --untracked-files=all").stdout.splitlines()
    assert listed == ["?? b.txt"]
    assert tree(boxed.repo.root) == ["a.txt", "b.txt"]


@box
def test_texts_for_a_model_are_the_agents_work(boxed: Boxed) -> None:
    boxed.repo.commit("skills", **{".claude/skills/a.md": "a\n"})
    assert boxed("echo b > .claude/skills/b.md").returncode == 0
    assert (boxed.repo.root / ".claude/skills/b.md").read_text() == "b\n"


@box
def test_a_second_name_of_a_guarded_file_writes_another_file(boxed: Boxed) -> None:
    hook = boxed.repo.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\n")
    boxed.repo.commit("policy", **{".ahp/hooks.yaml": "version: 1\n"})
    os.link(hook, boxed.repo.root / "hook")
    os.link(boxed.repo.root / ".ahp/hooks.yaml", boxed.repo.root / "policy")
    assert boxed("echo evil >> hook; echo evil >> policy").returncode == 0
    assert "evil" not in hook.read_text() + (boxed.repo.root / ".ahp/hooks.yaml").read_text()


@box
def test_a_home_shows_its_tools_and_none_of_its_keys(boxed: Boxed, home: Path) -> None:
    for name in (
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".cargo/credentials.toml",
        ".cargo/bin/c",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("SECRET\n")
    (home / ".npmrc").write_text("registry=https://npm.example/\n//npm.example/:_authToken=SECRET\n")
    done = boxed("find ~ -type f | sort; cat ~/.npmrc ~/.cargo/bin/c; cat ~/.cargo/credentials.toml ~/.ssh/*; true")
    assert "id_ed25519" not in done.stdout and "hosts.yml" not in done.stdout
    assert done.stdout.count("SECRET") == 1  # what is a tool
    assert "registry=https://npm.example/" in done.stdout


@box
def test_writes_into_caches_stay_in_the_session(boxed: Boxed, home: Path) -> None:
    (home / ".cache").mkdir()
    (home / ".cache/known").write_text("old\n")
    assert boxed("echo new > ~/.cache/known; echo x > ~/.cache/more", "s").returncode == 0
    assert boxed("cat ~/.cache/known ~/.cache/more", "s").stdout == "new\nx\n"
    assert boxed("cat ~/.cache/known; ls ~/.cache", "t").stdout == "old\nknown\n"
    assert (home / ".cache/known").read_text() == "old\n" and not (home / ".cache/more").exists()


@box
def test_a_home_that_is_the_project_hides_its_keys(home: Path, engine_here: None) -> None:
    repo = Repo(home)
    repo.git("init", "-q")
    repo.commit("begin", **{"a.txt": "a\n", ".editorconfig": "x\n"})
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("SECRET")
    (home / ".netrc").write_text("SECRET")
    done = Boxed(repo)("cat .ssh/id .netrc; cat .editorconfig; echo b > b.txt")
    assert (done.stdout, (home / "b.txt").read_text()) == ("x\n", "b\n")


@box
def test_variables_that_are_not_listed_are_nowhere(boxed: Boxed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_TOKEN", "SECRET")
    monkeypatch.setenv("SHOWN_NAME", "shown")
    seen = "cat /proc/*/environ | tr '\\0' '\\n'; env"
    assert "SECRET" not in boxed(seen).stdout
    assert boxed("echo $SHOWN_NAME", keys={"shown": ["$SHOWN_NAME"]}).stdout == "shown\n"


@box
def test_nothing_listens_inside_that_listens_outside(boxed: Boxed, tmp_path: Path) -> None:
    path = boxed.repo.root / "socket"
    with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as abstract, socket.socket() as tcp:
        one.bind(str(path))
        abstract.bind("\0ahp-test")
        tcp.bind(("127.0.0.1", 0))
        for listener in (one, abstract, tcp):
            listener.listen()
        code = (
            "import socket\n"
            f"for kind, at in ((1, {str(path)!r}), (1, '\\0ahp-test'), (2, ('127.0.0.1', {tcp.getsockname()[1]}))):\n"
            "    try: socket.socket(kind).connect(at); print('CONNECTED', at)\n"
            "    except OSError as error: print(error)\n"
        )
        done = boxed(f"python3 -c '{code.replace(chr(39), chr(34))}'")
    assert "CONNECTED" not in done.stdout and done.stdout.count("refused") >= 2


@box
def test_there_is_a_loopback_and_nothing_else(boxed: Boxed) -> None:
    serve = "python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 & for i in $(seq 100); do "
    serve += "python3 -c 'import urllib.request as u; u.urlopen(\"http://127.0.0.1:8123\")' 2> /dev/null && break; done"
    assert boxed(f"{serve} && echo served; cut -d: -f1 -s /proc/net/dev").stdout.split() == ["served", "lo"]


@box
@pytest.mark.parametrize("shape", ["link", "linked work tree", "submodule"])
def test_shapes_of_a_project(boxed: Boxed, tmp_path: Path, shape: str) -> None:
    repo = boxed.repo
    if shape == "link":
        (tmp_path / "link").symlink_to(repo.root)
        repo = Repo(tmp_path / "link")
    elif shape == "linked work tree":
        repo.git("worktree", "add", "-q", str(tmp_path / "other"))
        repo = Repo(tmp_path / "other")
    else:
        repo.git("submodule", "--quiet", "add", str(repo.root / ".git"), "sub")
        repo.git("commit", "-qm", "sub")
    link = (repo.root / ".git").read_text() if shape == "linked work tree" else ""
    done = Boxed(repo)(
        "git status --porcelain && echo b > b.txt && git log -1 --format=%s; echo x >> .git; echo x > sub/.git"
    )
    assert done.stdout.splitlines() == ["sub" if shape == "submodule" else "begin"]
    assert (repo.root / "b.txt").read_text() == "b\n"
    if shape == "linked work tree":
        assert (repo.root / ".git").read_text() == link
    assert subprocess.run(["git", "status"], cwd=repo.root, capture_output=True, check=False).returncode == 0
