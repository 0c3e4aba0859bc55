"""Writes compiled policies where `cache` finds them, and removes those nobody needs."""

import os
import shutil

from ahp.policy.program import Program
from ahp.system import files, jsontext
from ahp.system.digest import sha256
from ahp.system.errors import AhpError

KEPT = 48  # compiled policies of all work trees of a repository: two for each, at several commits


def write(home: str, programs: list[Program]) -> bool:
    """Stores the programs of one policy in the folder `home`, each file atomically; False where that cannot be.

    A gate that cannot cache still judges, only slower: a read-only git directory is no reason to refuse.
    """
    try:
        files.make_dirs(home)
        for program in programs:
            _write(f"{home}/{program.trigger}.answers", program.answers)
            _write(f"{home}/{program.trigger}", program)
    except AhpError:
        return False
    prune(os.path.dirname(home))
    return True


def _write(path: str, data: object) -> None:
    content = jsontext.encode(data).encode()
    files.replace(path, sha256(content).encode() + b"\n" + content)


def prune(folder: str) -> None:
    """Removes all but the newest compiled policies."""
    try:
        homes = [name for name in os.listdir(folder) if len(name) == 32]  # results of commands lie beside them
        homes.sort(key=lambda name: os.stat(os.path.join(folder, name)).st_mtime_ns, reverse=True)
    except OSError:
        return  # another process removes some at this moment
    for name in homes[KEPT:]:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
