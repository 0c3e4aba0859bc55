"""`ahp install monoco`: a shim for PATH, and an adapter inside Monoco that registers with its own hooks (design §9).

The shim lies in the git directory and serves this repository. The adapter is a feature of the Monoco that is
installed, which its loader finds by its folder; it serves every repository that asked for it and goes with the last.
"""

import os
import shlex
import shutil
import sys
from dataclasses import dataclass

from ahp.hosts.git import installation
from ahp.hosts.templates import package, template
from ahp.system import files, installed, jsontext, process
from ahp.system.errors import AhpError
from ahp.system.git import Repository

MARK = "put here by `ahp install monoco`"
_HEAD = 1 << 12
_TIMEOUT = 300.0  # s; it imports most of Monoco, which a busy machine may be long at
_PROBE = """\
import importlib.metadata, importlib.util, json
spec = importlib.util.find_spec("monoco.features")
hooks, loader = map(importlib.util.find_spec, ("monoco.features.issue.hooks.dispatcher", "monoco.core.loader"))
print(json.dumps([list(spec.submodule_search_locations)[0], importlib.metadata.version("monoco-toolkit")]
      if spec and hooks and loader else None))
"""
_RECORD = "/monoco.json"
_SHIMS = "/bin"
_USERS = "/repositories.json"
_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Monoco:
    """An installed Monoco: its command, the folder where its features lie, its version."""

    program: str
    features: str
    version: str


@dataclass(frozen=True, slots=True)
class Installed:
    """Where things are: the folder of the shim, that of the adapter, and Monoco itself."""

    shims: str
    adapter: str
    monoco: Monoco


def install(repo: Repository, env: dict[str, str]) -> Installed:
    """Writes shim and adapter; a second time it renews them. Raises AhpError, and then nothing is half installed."""
    monoco = find(repo.root or repo.git_dir, env)
    adapter = monoco.features + "/ahp"
    if os.path.lexists(adapter) and not is_ours(f"{adapter}/adapter.py"):
        raise AhpError(f"{adapter} is there and not ours; remove it if nothing needs it")
    earlier = _record(repo)
    if earlier and earlier != adapter:  # Monoco was made anew somewhere else
        _leave(earlier, repo.common_dir)
    start = f"import sys; sys.path += {installation.import_paths()!r}; from ahp.cli.main import main; main()"
    try:
        os.makedirs(adapter, exist_ok=True)
    except OSError as error:
        raise AhpError(f"cannot write into Monoco at {monoco.features}: {error.strerror}") from None
    users = sorted({*_users(adapter), repo.common_dir})
    files.replace(adapter + _USERS, _json(users), 0o644)
    files.replace(f"{adapter}/__init__.py", f'"""{MARK}"""\n'.encode(), 0o644)
    text = template("monoco/adapter.py").replace('"@COMMAND@"', ascii([sys.executable, "-I", "-c", start]))
    files.replace(f"{adapter}/adapter.py", text.encode("utf-8", "surrogateescape"), 0o644)
    files.make_dirs(repo.ahp_dir + _SHIMS)
    files.replace(f"{repo.ahp_dir}{_SHIMS}/monoco", _shim(monoco.program, start), 0o755)
    files.replace(repo.ahp_dir + _RECORD, _json({"adapter": adapter}))
    return Installed(repo.ahp_dir + _SHIMS, adapter, monoco)


def is_installed(repo: Repository) -> bool:
    """Whether Monoco itself asks here before it moves an issue."""
    return os.path.isfile(_record(repo) + "/adapter.py")


def uninstall(repo: Repository) -> bool:
    """Removes the shim, and the adapter when no other repository uses it; whether there was any. Raises AhpError."""
    adapter = _record(repo)
    _leave(adapter, repo.common_dir)
    was_there = bool(adapter) or os.path.lexists(repo.ahp_dir + _SHIMS)
    shutil.rmtree(repo.ahp_dir + _SHIMS, ignore_errors=True)
    if os.path.lexists(repo.ahp_dir + _RECORD):
        os.unlink(repo.ahp_dir + _RECORD)
    return was_there


def _shim(program: str, start: str) -> bytes:
    known = {"PYTHON": sys.executable, "PACKAGE": f"{package()}/__init__.py"}
    known |= {"PROGRAM": installed.program(), "INSTALL": installed.command(here=False)}
    known |= {"START": start, "MONOCO": program}
    text = template("monoco/shim.sh")
    for name, value in known.items():
        text = text.replace(f"@{name}@", shlex.quote(value))
    return text.encode("utf-8", "surrogateescape")


def _leave(adapter: str, common_dir: str) -> None:
    """Takes one repository off the adapter's list, and the adapter away with the last of them."""
    if not adapter or not is_ours(f"{adapter}/adapter.py"):
        return
    users = [user for user in _users(adapter) if user != common_dir]
    try:
        if users:
            files.replace(adapter + _USERS, _json(users), 0o644)
        else:
            shutil.rmtree(adapter)
    except OSError as error:
        raise AhpError(f"cannot remove {adapter}: {error.strerror}") from None


def _users(adapter: str) -> list[str]:
    """The git directories of the repositories that use an adapter, as far as they still exist."""
    found = _decoded(files.read(adapter + _USERS, _LIMIT))
    return [user for user in found if isinstance(user, str) and os.path.isdir(user)] if isinstance(found, list) else []


def _record(repo: Repository) -> str:
    """The folder of the adapter that this repository was installed with, "" when it was not."""
    found = _decoded(files.read(repo.ahp_dir + _RECORD, _LIMIT))
    adapter = found.get("adapter") if isinstance(found, dict) else ""
    return adapter if isinstance(adapter, str) else ""


def _decoded(data: bytes | None) -> object:
    try:
        return jsontext.decode((data or b"null").decode("utf-8", "surrogateescape"))
    except ValueError:
        return None


def _json(value: object) -> bytes:
    return (jsontext.encode(value) + "\n").encode("utf-8", "surrogateescape")


def find(root: str, env: dict[str, str]) -> Monoco:
    """The Monoco on the PATH of `env`, else in the virtual environment `.venv` of the project at `root`.

    Raises AhpError where there is none, or one that the adapter does not fit.
    """
    folders = [folder for folder in env.get("PATH", "").split(":") if folder] + [f"{root}/.venv/bin"]
    programs = [f"{folder}/monoco" for folder in folders]
    program = next((one for one in programs if _runs(one) and not is_ours(one)), "")
    if not program:
        raise AhpError("monoco is neither on PATH nor in .venv; install it first: pip install monoco-toolkit")
    program = os.path.abspath(program)
    python = _python(program)
    # In /, so that the import finds the installed package and nothing of the current folder.
    asked = process.capture([python, "-c", _PROBE], timeout=_TIMEOUT, cwd="/", env=env)
    try:
        told = jsontext.decode(asked.out.decode("utf-8", "surrogateescape"))
    except ValueError:
        told = None
    if asked.code or not isinstance(told, list):
        raise AhpError(f"{python}, which runs {program}, has no Monoco with issue hooks (monoco-toolkit 0.4 has them)")
    return Monoco(program, str(told[0]), str(told[1]))


def is_ours(path: str) -> bool:
    """Whether a file was put there by `ahp install monoco`."""
    return MARK.encode() in _head(path)


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _python(program: str) -> str:
    """The interpreter that the command names, else the one beside it. Raises AhpError."""
    first = _head(program).partition(b"\n")[0]
    named = os.fsdecode(first[2:].strip()) if first.startswith(b"#!") else ""
    beside = f"{os.path.dirname(os.path.realpath(program))}/python"
    for python in (named, beside):
        # pip writes a /bin/sh wrapper where the interpreter's path is too long for a shebang, or has blanks.
        if os.path.basename(python).startswith("python") and _runs(python):
            return python
    raise AhpError(f"cannot tell which Python runs {program}; give it a first line that names it")
