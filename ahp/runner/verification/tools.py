"""The project's own interpreter and tools, and what tells one version of them from another."""

import os
import re
import sys
from collections.abc import Mapping
from hashlib import sha256

from ahp.runner.verification.project import Project, joined
from ahp.system import files, process
from ahp.system.errors import AhpError

_ASKED = 20.0  # s that a tool has to tell its version
_INSTALLED = (".dist-info", ".egg-info", ".egg-link", ".pth")
_PATHS = "import sys; print('\\n'.join(sys.path[1:]))"
_MANIFEST = 1 << 20


def upwards(directory: str) -> list[str]:
    """A folder and those above it, up to the root "."."""
    parts = [] if directory == "." else directory.split("/")
    return ["/".join(parts[:length]) for length in range(len(parts), 0, -1)] + ["."]


def interpreter(project: Project, directory: str, env: Mapping[str, str]) -> str:
    """The Python of a folder of the project, absolute.

    That of its virtual environment, of one above it, of the active one; the one that uv or poetry keep elsewhere; the
    one on the PATH; else this one.
    """
    named = env.get("UV_PROJECT_ENVIRONMENT", "")
    for folder in upwards(directory):
        for name in (named, ".venv", "venv") if named else (".venv", "venv"):
            python = os.path.join(project.root, folder, name, "bin", "python")
            if os.access(python, os.X_OK):
                return os.path.normpath(python)
    active = os.path.join(env.get("VIRTUAL_ENV", ""), "bin", "python")
    if os.path.isabs(active) and os.access(active, os.X_OK):
        return active
    return _managed(project, directory, env) or process.find("python3", dict(env)) or sys.executable


def _managed(project: Project, directory: str, env: Mapping[str, str]) -> str | None:
    """The interpreter that uv or poetry name, where the project is one of theirs and they are there."""
    for folder in upwards(directory):
        for lock, command in (
            ("uv.lock", ["uv", "python", "find"]),
            ("poetry.lock", ["poetry", "env", "info", "--executable"]),
        ):
            if project.has(joined(folder, lock)):
                told = asked(command, os.path.join(project.root, folder), env)
                python = told.strip().rpartition("\n")[2]
                if os.path.isabs(python) and os.access(python, os.X_OK):
                    return python
    return None


def asked(command: list[str], folder: str, env: Mapping[str, str]) -> str:
    """What a tool prints to a question, "" where it cannot be asked."""
    try:
        ran = process.capture(command, cwd=folder, env=dict(env), timeout=_ASKED)
    except AhpError:
        return ""
    return ran.out.decode("utf-8", "replace") if ran.code == 0 else ""


def beside(python: str, tool: str) -> str | None:
    """A tool of the environment of `python`."""
    path = os.path.join(os.path.dirname(python), tool)
    return path if os.access(path, os.X_OK) else None


def node_tool(project: Project, directory: str, tool: str) -> str | None:
    """A tool of `node_modules/.bin` of a folder of the project or of one above it, absolute."""
    for folder in upwards(directory):
        path = os.path.normpath(os.path.join(project.root, folder, "node_modules", ".bin", tool))
        if os.access(path, os.X_OK):
            return path
    return None


def file_version(path: str | None) -> str:
    """What tells one version of a program's file from another: where it really lies, size and time."""
    if path is None:
        return "none"
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
    except OSError:
        return f"{real} missing"
    return f"{real} {status.st_size} {status.st_mtime_ns}"


def python_versions(python: str, folder: str, env: Mapping[str, str]) -> list[str]:
    """The interpreter and every package that is installed for it."""
    told = [file_version(python)]
    home = os.path.dirname(os.path.dirname(python))
    config = _text(os.path.join(home, "pyvenv.cfg"))
    libraries = [
        os.path.join(home, "lib", name, "site-packages")
        for name in _listed(os.path.join(home, "lib"))
        if name.startswith("python")
    ]
    if not config or re.search(r"(?im)^include-system-site-packages\s*=\s*true", config):
        libraries += asked([python, "-c", _PATHS], folder, env).split("\n")
    told.append(config)
    for library in dict.fromkeys(libraries):
        told += [f"{library}/{name}" for name in _installed(library)]
    return told


def node_versions(project: Project, directory: str, tool: str | None, env: Mapping[str, str]) -> list[str]:
    """Node, the tool with its package, and what the package manager notes of all that it has installed."""
    told = [file_version(process.find("node", dict(env))), file_version(tool)]
    if tool is not None:
        told.append(_package_of(os.path.realpath(tool)))
    for folder in upwards(directory):
        modules = os.path.join(project.root, folder, "node_modules")
        for name in (".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml", ".pnpm/lock.yaml"):
            told.append(_digest(os.path.join(modules, name)))
    return told


def _package_of(program: str) -> str:
    """The digest of the manifest of the package that a program belongs to."""
    folder = os.path.dirname(program)
    while len(folder) > 1:
        manifest = os.path.join(folder, "package.json")
        if os.path.exists(manifest):
            return _digest(manifest)
        folder = os.path.dirname(folder)
    return ""


def _installed(library: str) -> list[str]:
    """The packages of a folder of libraries by name and version, with the time when each was put there."""
    found = []
    for name in _listed(library):
        if name.endswith(_INSTALLED):
            try:
                found.append(f"{name} {os.stat(os.path.join(library, name)).st_mtime_ns}")
            except OSError:
                found.append(name)
    return found


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        return (files.read(path, _MANIFEST) or b"").decode("utf-8", "replace")
    except AhpError:
        return ""


def _digest(path: str) -> str:
    try:
        data = files.read(path)
    except AhpError:
        return ""
    return sha256(data).hexdigest() if data is not None else ""
