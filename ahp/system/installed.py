"""How this ahp was installed, and the command that installs it in the same way.

Nothing else names a package to install: whoever registers a name that is not published owns everybody who does what a
message says. The name stands here only for what came from an index, which has it, and before an address (PEP 610).
"""

import os
import shlex
import sys
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ahp.system import jsontext

if TYPE_CHECKING:
    from importlib.metadata import Distribution

NAME = "ahp-engine"


def distribution() -> "Distribution | None":
    """ahp's own; None where it runs from its sources alone."""
    from importlib import metadata

    try:
        return metadata.distribution(NAME)
    except metadata.PackageNotFoundError:
        return None


def program() -> str:
    """The program `ahp` of this installation, "" where it has none.

    It stays where it is when the environment is made anew with another Python, unlike the interpreter and the packages.
    """
    found = distribution()
    for file in (found.files if found is not None else None) or ():
        path = os.path.abspath(str(file.locate()))
        if file.name == "ahp" and os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    return ""


def origin() -> tuple[str, str]:
    """(kind, place): `index` with no place; `editable` or `local` with a path; `address` with a URL as pip takes it;
    `vcs` with that of a repository, which has no digest. A repository on this machine is `local`, since older pips
    refuse `git+file`.
    """
    found = distribution()
    if found is None:
        return "editable", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    told = jsontext.decode(found.read_text("direct_url.json") or "{}")
    if not isinstance(told, dict) or not told:
        return "index", ""
    url, inner = str(told["url"]), told.get("subdirectory", "")
    if url.startswith("file:"):
        path = os.path.join(unquote(urlsplit(url).path), inner).rstrip("/")
        return "editable" if told.get("dir_info", {}).get("editable") else "local", path
    within = f"#subdirectory={inner}" if inner else ""
    if "vcs_info" in told:
        return "vcs", f"{told['vcs_info']['vcs']}+{url}@{told['vcs_info']['commit_id']}{within}"
    return "address", url + within


def requirement(extra: str = "", version: str = "") -> list[str]:
    """What an installer is given, with an extra, or a `version` (`>=0.4`) where an index has several."""
    kind, place = origin()
    more = f"[{extra}]" if extra else ""
    if kind == "index":
        return [f"{NAME}{more}{version}"]
    if kind in ("vcs", "address"):
        return [f"{NAME}{more} @ {place}"]
    return [*(["-e"] if kind == "editable" else []), place + more]


def command(extra: str = "", version: str = "", *, here: bool = True) -> str:
    """The shell command that installs this ahp again: into its environment, or where that is gone (not `here`) by the
    pip on PATH.
    """
    prefix = os.path.dirname(os.path.dirname(program()))
    python = f"{prefix}/bin/python" if os.path.exists(f"{prefix}/bin/python") else sys.executable
    if os.path.exists(f"{prefix}/pipx_metadata.json"):
        how = ["pipx", "install", "--force"]
    elif os.path.exists(f"{prefix}/uv-receipt.toml"):
        how = ["uv", "tool", "install", "--force"]
    elif not here:
        how = ["pip", "install"]
    elif any(os.path.isdir(f"{path}/pip") for path in sys.path):
        how = [python, "-m", "pip", "install"]
    else:
        how = ["uv", "pip", "install", "--python", python]
    how += ["--upgrade"] if version and how[0] != "pipx" else []
    return shlex.join([*how, *requirement(extra, version)])


def upgrade(version: str) -> str:
    """What to do to have a `version` (`>=0.4`)."""
    kind, place = origin()
    if kind == "index":
        return f"run: {command(version=version)}"
    return f"it was installed from {place}; get {version} there, and install that"


def for_everybody() -> str:
    """The command for a machine that has no ahp, "" where this one came from a place on this machine alone."""
    if origin()[0] in ("index", "vcs", "address"):
        return shlex.join(["pip", "install", *requirement()])
    return ""


def pinned(extra: str = "") -> str:
    """The requirement of this very version, with an extra, that has a digest everywhere, "" where there is none."""
    kind, _ = origin()
    if kind == "address":
        return requirement(extra)[0]
    found = distribution()
    return requirement(extra, f"=={found.version}")[0] if kind == "index" and found is not None else ""
