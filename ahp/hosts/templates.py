"""The texts that get installed: `hooks/` of a checkout, `ahp/hosts/installed/` of an installation."""

import os

from ahp.system import files
from ahp.system.errors import Incomplete


def template(name: str) -> str:
    """The text of a template, named as in `hooks/`: `monoco/shim.sh`. Raises AhpError."""
    for folder in (f"{package()}/hosts/installed", f"{os.path.dirname(package())}/hooks"):
        data = files.read(f"{folder}/{name}")
        if data is not None:
            return data.decode()
    raise Incomplete(f"its hook template {name}")


def package() -> str:
    """The folder of the package `ahp` that runs."""
    import ahp

    return os.path.dirname(os.path.abspath(ahp.__file__))
