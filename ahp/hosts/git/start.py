"""The first code of a hook: takes the light modules from one bundle, or from their files when it is stale.

Python finds a module by looking into folders, once for each, and most of what it then reads are docstrings,
annotations and column numbers. The bundle holds the bare code in one file, and is used only while every source is as
old and as long as it was, as with `.pyc` files (PEP 552). `ahp.hosts.git.bundle` writes it. To Python it is a `.pyc`
file with this module in it, outside any package; behind that stand the contents, which are read here in one go, and
after them the parts that not every hook needs.
"""

import gc
import marshal
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


class Parts:
    """Byte strings by name, each read from the bundle when it is asked for: name → (offset, length)."""

    def __init__(self, fd: int, start: int, places: "dict[str, tuple[int, int]]") -> None:
        self.fd, self.start, self.places = fd, start, places

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __getitem__(self, name: str) -> bytes:
        offset, length = self.places[name]
        return posix.pread(self.fd, length, self.start + offset)


class Later:
    """Finder and loader of the bundled modules that not every hook needs (PEP 451), by the file of each."""

    def __init__(self, sources: "dict[str, str]", parts: Parts) -> None:
        self.sources, self.parts = sources, parts

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        """The spec of a bundled module, None for any other."""
        if name not in self.sources:
            return None
        spec: Any = type(sys.__spec__)
        made = spec(name, self, origin=self.sources[name])
        folder, _, file = made.origin.rpartition("/")
        if file == "__init__.py":
            made.submodule_search_locations = [folder]
        return made

    def create_module(self, spec: object) -> None:
        """The default module."""

    def exec_module(self, module: "ModuleType") -> None:
        """Runs a module's code."""
        module.__file__ = self.sources[module.__name__]  # of one that has a location, importlib works out more
        exec(marshal.loads(self.parts[module.__name__]), module.__dict__)  # noqa: S102, S302  # our own byte code


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


def begin(bundle: str, paths: list[str], where: tuple[bytes, int, int]) -> "Parts | None":
    """Makes `ahp` importable, from the `bundle` where it is fresh; then what it holds besides, else None.

    `paths` go to the end of sys.path. `where` are the key that the contents end in, how long they are with it, and how
    many bytes before the end of the file they begin: whoever finds another bundle in its place by now, or one that was
    cut, imports from the sources. The contents are the `stamps` of all sources, (name, code, file, whether it is a
    package) of what is run `now`, in an order that works, the file of each module that is run `later`, when it is
    imported, and the `places` of the parts.
    """
    key, length, size = where
    gc.disable()  # the process ends before a collection would find anything
    sys.path += paths
    try:
        fd = posix.open(bundle, posix.O_RDONLY | posix.O_CLOEXEC)
        start = posix.fstat(fd).st_size - size
        data = posix.pread(fd, length, start)
    except OSError:
        return None
    if data[-len(key) :] != key:
        return None
    stamps, now, later, places = marshal.loads(data)  # noqa: S302  # our own byte code
    if not fresh(stamps):
        return None
    module = type(sys)
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
    parts = Parts(fd, start + length, places)
    sys.meta_path.insert(0, Later(later, parts))
    return parts
