"""Where this ahp is installed: what the hooks have to know of it, since they start Python without its site packages."""

import os
import re
import sys
from importlib import metadata

from ahp.system import environ, installed, process

_REQUIRED = re.compile(r"[A-Za-z0-9._-]+")


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
