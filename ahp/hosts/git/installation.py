"""Where this ahp is installed: what the hooks have to know of it, since they start Python without its site packages."""

import os
import re
import shlex
import sys
from importlib import metadata

from ahp.protocol.text import one_line
from ahp.system import environ, installed, process

_REQUIRED = re.compile(r"[A-Za-z0-9._-]+")
# A folder with this file may be emptied at any time (https://bford.info/cachedir/), as that of uv; pipx has .cache.
_CACHE_TAG = "CACHEDIR.TAG"


def import_paths() -> list[str]:
    """The folders of ahp and of all that it needs, in the order in which Python looks into them.

    Often it is one. Where a package was there already, for all users or below a virtual environment, it is another.
    """
    import re2

    import ahp

    places = [os.path.dirname(os.path.dirname(os.path.abspath(module.__file__ or ""))) for module in (ahp, re2)]
    places += [os.path.abspath(str(found.locate_file(""))) for found in _distributions()]
    order = {os.path.abspath(place): number for number, place in enumerate(sys.path)}
    return sorted(dict.fromkeys(places), key=lambda place: order.get(place, len(order)))


def interpreter() -> str:
    """The interpreter itself, not a virtual environment's link to it, nor a version manager's shim."""
    base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    code = f"import sys; sys.path += {import_paths()!r}; import ahp.hosts.git.main"
    probe = process.capture([base, "-I", "-S", "-c", code], timeout=30.0, env=environ.current())
    return base if probe.code == 0 else sys.executable


def in_cache() -> tuple[str, str] | None:
    """(what is wrong, what mends it) where this ahp lies in a cache, as `uvx` and `pipx run` leave it."""
    if found := _cache():
        why = f"this ahp lies in a cache, {one_line(found, 1000)}; once that is emptied, the hooks find it no more"
        what = shlex.join(installed.requirement())
        return why, f"uv tool install {what}, or pipx install {what}; then: ahp install"
    return None


def _cache() -> str:
    place = os.path.abspath(sys.prefix)
    while (above := os.path.dirname(place)) != place:
        if os.path.basename(above) == ".cache" or os.path.isfile(f"{above}/{_CACHE_TAG}"):
            return above
        place = above
    return ""


def _distributions() -> list[metadata.Distribution]:
    """ahp's own, and each that is installed of those that it requires; none where ahp runs from its sources."""
    found: list[metadata.Distribution] = []
    names = [installed.NAME]
    for name in names:
        try:
            found.append(metadata.distribution(name))
        except metadata.PackageNotFoundError:
            if name == installed.NAME:
                break
            continue  # it is for another Python or system
        for line in found[-1].requires or ():
            requirement, _, marker = line.partition(";")
            needed = _REQUIRED.match(requirement)
            if needed and needed[0] not in names and "extra" not in marker:
                names.append(needed[0])
    return found
