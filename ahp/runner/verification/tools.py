"""The project's own interpreter and tools, and what tells one version of them from another."""

import glob
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from ahp.runner.verification.project import Project, joined
from ahp.system import files, process
from ahp.system.errors import AhpError

_ASKED = 20.0  # s that a tool has to tell its version
_PATHS = "import sys; print('\\n'.join(sys.path[1:]))"


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
    """What tells one version of a file, or of what is installed in a folder, from another: place, size and time."""
    if path is None:
        return "none"
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
    except OSError:
        return f"{real} missing"
    return f"{real} {status.st_size} {status.st_mtime_ns}"


def python_versions(python: str, folder: str, env: Mapping[str, str]) -> list[str]:
    """The interpreter and the folders of what is installed for it: each change there is one of the folder itself."""
    home = os.path.dirname(os.path.dirname(python))
    config = os.path.join(home, "pyvenv.cfg")
    libraries = glob.glob(os.path.join(glob.escape(home), "lib", "python*", "site-packages"))
    text = (files.read(config) or b"") if os.path.exists(config) else b"include-system-site-packages = true"
    if re.search(rb"(?im)^include-system-site-packages\s*=\s*true", text):
        libraries += asked([python, "-c", _PATHS], folder, env).split()
    return [file_version(one) for one in dict.fromkeys([python, config, *sorted(libraries)])]


def node_versions(project: Project, directory: str, tool: str | None, env: Mapping[str, str]) -> list[str]:
    """Node, the tool with its package, and what the package manager notes of all that it has installed."""
    told = [process.find("node", dict(env)), tool]
    if tool is not None:
        above = Path(os.path.realpath(tool)).parents
        told += [str(one / "package.json") for one in above if (one / "package.json").exists()][:1]
    for folder in upwards(directory):
        modules = os.path.join(project.root, folder, "node_modules")
        for name in (".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml", ".pnpm/lock.yaml"):
            told.append(os.path.join(modules, name))
    return list(map(file_version, told))
