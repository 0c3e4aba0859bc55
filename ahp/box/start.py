"""The launcher of a rewritten shell call: `python -I -S start.py PATHS ROOT SESSION NUMBER KEYS SHELL COMMAND`.

It is a program of its own because it starts with nothing but ahp's light modules and the standard library. PATHS are
where the libraries lie that judging takes.
"""

import os
import stat
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

INSIDE = "/run/ahp-folder-"
# The folder in which the command ends is told by its shell; what the shell itself says stays as it is.
TELLS = 'trap \'pwd -P >|"$0"\' EXIT; eval "$1"'


def main() -> int:
    """Runs the command in the box; its exit code. The folder where it ended is noted for the client's shell."""
    import json

    from ahp.box import session
    from ahp.system import environ, git

    paths, root, name, number, keys, shell, command = sys.argv[1:]
    sys.path += [one for one in paths.split(":") if one]
    repo = None
    try:
        repo = git.discover(root, environ.current())
    except git.NotARepository:
        pass
    argv = [shell, "-c", TELLS, INSIDE + number, command]
    code = session.call(argv, root, repo, json.loads(keys), name, takes_in=bool(number))
    if name:
        _note_folder(session.place_of(repo, name), number, root)
    return code


def _note_folder(folder: str, number: str, root: str) -> None:
    """Notes where the command ended, where that is a folder of the project outside, too."""
    told = f"{folder}/own/run/ahp-folder-{number}"
    try:
        file = os.open(told, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    try:
        path = os.read(file, 4096) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    finally:
        os.close(file)
        os.unlink(told)
    whole = os.path.realpath(os.fsdecode(path.removesuffix(b"\n")))
    if os.path.isdir(whole) and (whole + "/").startswith(os.path.realpath(root).rstrip("/") + "/"):
        with open(f"{folder}/folder-{number}", "wb") as noted:
            noted.write(os.fsencode(whole))


if __name__ == "__main__":
    sys.exit(main())
