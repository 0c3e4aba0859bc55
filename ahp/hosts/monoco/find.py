"""Where Monoco is: the command on PATH, the Python that runs it, and the folder of its features."""

import os
from dataclasses import dataclass

from ahp.system import jsontext, process
from ahp.system.errors import AhpError

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


@dataclass(frozen=True, slots=True)
class Monoco:
    """An installed Monoco: its command, the folder where its features lie, its version."""

    program: str
    features: str
    version: str


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
