"""The libraries that ahp runs with, compared with what the metadata of its own distribution asks for."""

import re
from importlib import import_module, metadata
from typing import NamedTuple

from ahp.system import installed

_DISTRIBUTION = "ahp-engine"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+) *>= *([0-9.]+)(?:.*\bextra *== *['\"]([^'\"]+))?")
_NEVER_IMPORTED = frozenset({"dev", "docs"})


class Library(NamedTuple):
    """A library: `version` is "" where it is not installed, `extra` is "" where every command may need it."""

    name: str
    version: str
    least: str
    extra: str

    def problem(self) -> tuple[str, str] | None:
        """(what is wrong, the command that mends it) where ahp cannot work with this library."""
        wanted = f"'{self.name}>={self.least}'"
        if not self.version:
            return None if self.extra else (f"{self.name} is not installed", f"pip install {wanted}")
        if _numbers(self.version) < _numbers(self.least):
            told = f"{self.name} {self.version} is older than {self.least}, the oldest version that ahp works with"
            return told, f"pip install {wanted}"
        for module in () if self.extra else _modules(self.name):
            try:
                import_module(module)
            except Exception as error:  # noqa: BLE001  # a package of another build may raise anything
                return (
                    f"{self.name} {self.version} cannot be imported: {error}",
                    f"pip install --force-reinstall {wanted}",
                )
        return None


def required() -> list[Library]:
    """What ahp and its extras need, in the order of its metadata; nothing where ahp runs from its sources alone."""
    try:
        asked = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    found = [known.groups(default="") for known in map(_REQUIREMENT.match, asked) if known]
    return [Library(name, _version(name), least, extra) for name, least, extra in found if extra not in _NEVER_IMPORTED]


def problems() -> list[tuple[str, str]]:
    """`Library.problem` of each library that has one, those that every command may need first."""
    return [found for library in sorted(required(), key=lambda one: bool(one.extra)) if (found := library.problem())]


def reinstall() -> str:
    """What mends an installation of which it is not known what it lacks."""
    return f"{installed.command()} && ahp install git"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> list[int]:
    """The numbers of a release (`8.2.0rc1`: 8, 2, 0): enough to compare with a lower bound of our own."""
    numbers = [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def _modules(name: str) -> list[str]:
    """The modules that one imports of a distribution; private ones may need what ahp never uses."""
    sources = [file for file in metadata.distribution(name).files or [] if file.suffix == ".py"]
    tops = {file.parts[0].removesuffix(".py") for file in sources}
    return sorted(top for top in tops if top.isidentifier() and not top.startswith("_"))
