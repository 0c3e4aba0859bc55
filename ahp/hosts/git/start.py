"""The first code of a hook: takes the light modules from one bundle, or from their files when it is stale.

Python finds a module by looking into folders, once for each, and most of what it then reads are docstrings,
annotations and column numbers. The bundle holds the bare code in one file, and is used only while every source is as
old and as long as it was, as with `.pyc` files (PEP 552). `ahp.hosts.git.bundle` writes it; its first code is this
module, outside any package.
"""

import _imp
import gc
import marshal
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, ModuleType
    from typing import Any


class Later:
    """Finder and loader of the bundled modules that not every hook needs (PEP 451): name → (code, file)."""

    def __init__(self, modules: "dict[str, tuple[bytes, str]]") -> None:
        self.modules = modules

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        """The spec of a bundled module, None for any other."""
        if name not in self.modules:
            return None
        spec: Any = type(sys.__spec__)
        made = spec(name, self, origin=self.modules[name][1])
        made.has_location = True
        folder, _, file = made.origin.rpartition("/")
        if file == "__init__.py":
            made.submodule_search_locations = [folder]
        return made

    def create_module(self, spec: object) -> None:
        """The default module."""

    def exec_module(self, module: "ModuleType") -> None:
        """Runs a module's code."""
        exec(marshal.loads(self.modules[module.__name__][0]), module.__dict__)  # noqa: S102, S302  # our own byte code


def fresh(stamps: list[tuple[str, int, int]]) -> bool:
    """Whether each source still has the modification time (ns) and size (bytes) that it had."""
    try:
        for path, modified, size in stamps:
            status = posix.stat(path)
            if status.st_mtime_ns != modified or status.st_size != size:
                return False
    except OSError:
        return False
    return True


def begin(
    stamps: list[tuple[str, int, int]],
    paths: list[str],
    now: "Iterable[tuple[str, CodeType, str, bool]]",
    later: "dict[str, tuple[bytes, str]]",
    compiled: list[tuple[str, str]],
) -> bool:
    """Makes `ahp` importable, from the bundle where it is fresh; whether it was.

    `now` are (name, code, file, whether it is a package) in the order in which they can be run, `later` what is run
    when it is imported, `compiled` the extension modules of the standard library that it needs, with their files.
    `paths` go to the end of sys.path.
    """
    gc.disable()  # the process ends before a collection would find anything
    sys.path += paths
    if not fresh(stamps):
        return False
    module = type(sys)
    spec: Any = type(sys.__spec__)
    for name, file in compiled:  # found without listing the folders of the standard library
        extension = _imp.create_dynamic(spec(name, None, origin=file))
        _imp.exec_dynamic(extension)
        sys.modules[name] = extension
    for name, code, file, is_package in now:
        made = module(name)
        made.__file__ = file
        parent, _, leaf = name.rpartition(".")
        made.__package__ = name if is_package else parent
        if is_package:
            made.__path__ = [file.rpartition("/")[0]]
        sys.modules[name] = made
        exec(code, made.__dict__)  # noqa: S102  # our own byte code
        if parent:
            setattr(sys.modules[parent], leaf, made)
    sys.meta_path.insert(0, Later(later))
    return True
