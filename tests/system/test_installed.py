"""ahp.system.installed: what installs this ahp again is told by how it was installed."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ahp
from ahp.system import installed

From = Callable[..., Path]
INDEX = None
FOLDER = {"url": "file:///src/my%20ahp", "dir_info": {}}
EDITABLE = {"url": "file:///src/ahp/", "dir_info": {"editable": True}}
WHEEL = {"url": "file:///w/ahp-1.whl", "archive_info": {}}
ADDRESS = {"url": "https://h.example/ahp-1.whl", "archive_info": {"hash": "sha256=00"}}
REPOSITORY = {"url": "https://h.example/ahp", "vcs_info": {"vcs": "git", "commit_id": "abc", "requested_revision": "v"}}
WITHIN = {**REPOSITORY, "subdirectory": "py"}


@pytest.fixture
def installed_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> From:
    """`installed_from(direct_url, "pip", …)`: an environment with ahp and these installers' files."""

    def made(direct_url: object, *there: str) -> Path:
        site = tmp_path / "env/lib/python3/site-packages"
        folder = site / "ahp_engine-9.9.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: ahp-engine\nVersion: 9.9\n")
        (folder / "RECORD").write_text("../../../bin/ahp,,\n")
        if direct_url is not None:
            (folder / "direct_url.json").write_text(json.dumps(direct_url))
        for name in ("ahp", "python"):
            (tmp_path / "env/bin").mkdir(exist_ok=True)
            (tmp_path / "env/bin" / name).touch(0o755)
        for name in there:
            (site / name).mkdir() if name == "pip" else (tmp_path / "env" / name).touch()
        importlib.import_module("email.message")  # which reads metadata, from Python 3.13 on when it is first asked
        monkeypatch.setattr(sys, "path", [str(site)])
        return tmp_path / "env"

    return made


@pytest.mark.parametrize(
    ("direct_url", "given"),
    [
        (INDEX, ["ahp-engine[insight]"]),
        (FOLDER, ["/src/my ahp[insight]"]),
        (EDITABLE, ["-e", "/src/ahp[insight]"]),
        (WHEEL, ["/w/ahp-1.whl[insight]"]),
        (ADDRESS, ["ahp-engine[insight] @ https://h.example/ahp-1.whl"]),
        (REPOSITORY, ["ahp-engine[insight] @ git+https://h.example/ahp@abc"]),
        ({**REPOSITORY, "url": "file:///src/ahp"}, ["/src/ahp[insight]"]),
        (WITHIN, ["ahp-engine[insight] @ git+https://h.example/ahp@abc#subdirectory=py"]),
    ],
)
def test_the_command_names_where_this_ahp_came_from(installed_from: From, direct_url: object, given: list[str]) -> None:
    env = installed_from(direct_url, "pip")
    assert shlex.split(installed.command("insight")) == [f"{env}/bin/python", "-m", "pip", "install", *given]


@pytest.mark.parametrize(
    ("there", "here", "elsewhere"),
    [
        (["pip"], ["ENV/bin/python", "-m", "pip", "install"], ["pip", "install"]),
        ([], ["uv", "pip", "install", "--python", "ENV/bin/python"], ["pip", "install"]),
        (["pipx_metadata.json"], ["pipx", "install", "--force"], ["pipx", "install", "--force"]),
        (["uv-receipt.toml"], ["uv", "tool", "install", "--force"], ["uv", "tool", "install", "--force"]),
    ],
)
def test_the_installer_is_the_one_that_made_the_environment(
    installed_from: From, there: list[str], here: list[str], elsewhere: list[str]
) -> None:
    env = installed_from(INDEX, *there)
    assert shlex.split(installed.command()) == [word.replace("ENV", str(env)) for word in here] + ["ahp-engine"]
    assert shlex.split(installed.command(here=False)) == [*elsewhere, "ahp-engine"]


@pytest.mark.parametrize(
    ("direct_url", "for_everybody", "pinned", "upgrade"),
    [
        (INDEX, "pip install ahp-engine", "ahp-engine==9.9", "pip install --upgrade 'ahp-engine>=99'"),
        (FOLDER, "", "", "installed from /src/my ahp"),
        (
            ADDRESS,
            "pip install 'ahp-engine @ https://h.example/ahp-1.whl'",
            "ahp-engine @ https://h.example/ahp-1.whl",
            "installed from https://h.example/ahp-1.whl",
        ),
        (REPOSITORY, "pip install 'ahp-engine @ git+https://h.example/ahp@abc'", "", "from git+https://h.example/ahp"),
        ({**REPOSITORY, "url": "file:///src/ahp"}, "", "", "installed from /src/ahp;"),
    ],
)
def test_what_others_are_told_holds_on_their_machines(
    installed_from: From, direct_url: object, for_everybody: str, pinned: str, upgrade: str
) -> None:
    installed_from(direct_url, "pip")
    assert (installed.for_everybody(), installed.pinned()) == (for_everybody, pinned)
    assert upgrade in installed.upgrade(">=99")


def test_from_its_sources_alone_the_folder_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    importlib.import_module("email.message")  # which reads metadata, from Python 3.13 on when it is first asked
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    top = Path(ahp.__file__).parents[1]
    assert installed.origin() == ("editable", str(top)) and installed.program() == ""


def test_nothing_else_names_a_package_to_install() -> None:
    """Messages, hooks, templates and pages: a name that is not published may be anybody's tomorrow."""
    top = Path(ahp.__file__).parents[1]
    files = [
        path for folder in ("ahp", "hooks", "docs", "demo") for path in (top / folder).rglob("*") if path.is_file()
    ]
    told = re.compile(r"(?:\binstall\b|--upgrade|\b-U\b|echo)[^\n]{0,40}\bahp-engine\b|ahp-engine(?:\[|==|>=)")
    found = [
        f"{path.relative_to(top)}: {match[0]}"
        for path in [*files, top / "README.md", top / "CONTRIBUTING.md"]
        if path.suffix in (".py", ".sh", ".md", ".yml", ".yaml", ".js", ".txt", "") and "__pycache__" not in path.parts
        for match in [told.search(path.read_text(errors="replace"))]
        if match
    ]
    assert found == []
