"""A committed hint: who works in a clone without the gate learns of it where the project's own tools run.

git takes no hook from a clone, so the line stands where colleagues come by: npm's `prepare`, direnv, make.
"""

import os
import shlex
from collections.abc import Callable

from ahp.system import files, installed, jsonedit
from ahp.system.errors import AhpError

SCRIPT = ".ahp/hint.sh"
_LIMIT = 1 << 20  # bytes of a file that gets the line
_TEXT = """\
# Written by `ahp init --hint`: tells who has no gate in this clone how to get one. It never fails.
[ -n "$CI" ] || ! ahp=$(git rev-parse --git-common-dir 2>/dev/null) || [ -e "$ahp/ahp/install.json" ] ||
    printf '%s\\n' {said} >&2
exit 0
"""
_LINE = f"[ ! -e {SCRIPT} ] || sh {SCRIPT}"
# By git, which brings `sh` along on Windows, too.
_PREPARE = f'git -c "alias.hint=!sh {SCRIPT}" hint || exit 0'


def write(root: str) -> list[str]:
    """Writes the script and a line that runs it; what was done, in words. Raises AhpError."""
    how = installed.for_everybody()
    mend = (
        f"install ahp ({how}), then: ahp install" if how else "ahp install (.ahp/hooks.yaml tells how to install ahp)"
    )
    said = f"ahp: no gate in this clone, so CI alone judges what you commit; fix: {mend}"
    files.replace(f"{root}/{SCRIPT}", _TEXT.format(said=shlex.quote(said)).encode(), 0o644)
    done = [f"{SCRIPT}: written"]
    for name, (change, when) in _PLACES.items():
        text = _read(f"{root}/{name}")
        if text is None:
            continue
        new = text if SCRIPT in text else change(text)
        if new is not None:
            files.replace(f"{root}/{name}", new.encode("utf-8", "surrogateescape"), 0o644)
            return [*done, f"{name}: tells it {when}", f"next: commit {SCRIPT} and {name}"]
    return [*done, f"next: run it where colleagues come by, as in a set-up script: sh {SCRIPT}"]


def _read(path: str) -> str | None:
    if os.path.islink(path):
        return None
    data = files.read(path, _LIMIT)
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _prepared(text: str) -> str | None:
    """package.json with the line in `scripts.prepare`; None where it has no scripts."""
    try:
        scripts = jsonedit.parse(text).members.get("scripts")
    except AhpError:
        return None
    if scripts is None or not isinstance(scripts.value, dict):
        return None
    old = scripts.value.get("prepare")
    return jsonedit.replace(text, scripts, {**scripts.value, "prepare": f"{old} && {_PREPARE}" if old else _PREPARE}, 1)


def _with(line: str) -> Callable[[str], str]:
    return lambda text: text + "\n" * (text[-1:] not in ("", "\n")) + line + "\n"


_PLACES: dict[str, tuple[Callable[[str], str | None], str]] = {
    "package.json": (_prepared, "at `npm install`"),
    ".envrc": (_with(_LINE), "when direnv enters the folder; it asks once: direnv allow"),
    "Makefile": (_with(f"$(shell {_LINE})"), "at each `make`"),
}
