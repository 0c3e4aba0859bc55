"""Where a policy comes from: files on disk, a git tree, or text (design §13)."""

import os
import stat
from typing import Protocol

from ahp.policy.cache import PROJECT, layer_paths
from ahp.policy.problems import Place, PolicyError, Problem
from ahp.policy.yamltext import MAX_BYTES
from ahp.system import files, wings
from ahp.system.digest import tagged
from ahp.system.errors import AhpError

PACKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "packs")

_NAMES = ("hooks.yaml", "hooks.local.yaml", "waivers.yaml", "agent.yaml")

_OF_A_USER = "; it is a user's own policy: where another user installed the hooks, ahp install git"

# A file a policy depends on: its absolute path and content digest, None where it is absent.
Watched = tuple[str, str | None]


class PolicySource(Protocol):
    """The layers of one policy and the files they extend. `watched` grows with every file that is read."""

    watched: list[Watched]

    def layers(self) -> list[tuple[str, str, bytes]]:
        """(layer, name for errors, content) of each layer that exists: the project first, then user, then local."""

    def beside(self, layer: str, relative: str) -> bytes | None:
        """A file in the folder of `layer`; None when there is none. Raises AhpError when it may not be read."""


class TreeReader(Protocol):
    """What a git tree must offer: a view of a commit has it."""

    def read(self, path: str) -> bytes | None:
        """The blob at `path` of the tree, None when there is none."""


class Tree(TreeReader, Protocol):
    """A state of the repository's files: a view has it."""

    def paths(self) -> list[str]:
        """Every path, relative to the root; none where that is not known."""


class FileSource:
    """The policy of a work tree: `root`/.ahp/hooks.yaml, the user's file, `root`/.ahp/hooks.local.yaml.

    `user` is the absolute path of the user's file, "" to leave that layer out.
    """

    def __init__(self, root: str, user: str = "") -> None:
        self.root = root
        self.watched: list[Watched] = []
        self.contents: list[tuple[str, bytes | None]] = []
        self.paths = dict(layer_paths(root, user))

    def layers(self) -> list[tuple[str, str, bytes]]:
        found = []
        for layer, path in self.paths.items():
            if layer == "project":
                self._refuse_links(path)
            data = self._read(path, _OF_A_USER if layer == "user" else "")
            self.contents.append((path, data))
            if data is not None:
                found.append((layer, self._name(path), data))
        return found

    def beside(self, layer: str, relative: str) -> bytes | None:
        folder = os.path.dirname(self.paths[layer])
        path = folder
        for part in relative.split("/"):
            path = os.path.join(path, part)
            if _is_link(path):
                raise AhpError(f"{self._name(path)} is a symbolic link; a policy extends regular files only")
        return self._read(path)

    def _refuse_links(self, path: str) -> None:
        for one, what in ((os.path.dirname(path), "the folder is"), (path, "this is")):
            if _is_link(one):
                why = f"{what} a symbolic link, which is no policy; put the file itself here"
                raise PolicyError([Problem(Place(self._name(path)), why)])

    def _read(self, path: str, mend: str = "") -> bytes | None:
        try:
            data = files.read(path, MAX_BYTES)
        except AhpError as error:
            why = str(error).removeprefix(f"{path} ") + mend
            raise PolicyError([Problem(Place(self._name(path)), why)]) from None
        self.watched.append((path, None if data is None else tagged(data)))
        return data

    def _name(self, path: str) -> str:
        return os.path.relpath(path, self.root) if path.startswith(self.root + os.sep) else path


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False


class TreeSource:
    """The project's policy as a commit or the index has it, without the user's and the local layer (design §4).

    `name` is put before the files' names in messages, "" for none.
    """

    def __init__(self, tree: TreeReader, name: str = "") -> None:
        self.tree, self.name = tree, f"{name}:" if name else ""
        self.watched: list[Watched] = []

    def layers(self) -> list[tuple[str, str, bytes]]:
        name = self.name + PROJECT[1:]
        try:
            data = self._read(PROJECT[1:])
        except AhpError as error:
            raise PolicyError([Problem(Place(name), str(error))]) from None
        return [] if data is None else [("project", name, data)]

    def beside(self, layer: str, relative: str) -> bytes | None:
        return self._read(f".ahp/{relative}")

    def _read(self, path: str) -> bytes | None:
        data = self.tree.read(path)
        if data is not None:
            self.watched.append((path, tagged(data)))
        return data


class TextSource:
    """A policy given as text, as one project layer that can extend packs only."""

    def __init__(self, text: str | bytes, name: str = "policy") -> None:
        self.data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self.name = name
        self.watched: list[Watched] = []

    def layers(self) -> list[tuple[str, str, bytes]]:
        return [("project", self.name, self.data)]

    def beside(self, layer: str, relative: str) -> bytes | None:
        return None


def misnamed(root: str) -> list[str]:
    """Files in the policy's folder that look like its own and are never read, with the name that each should have."""
    try:
        there = sorted(os.listdir(root + "/.ahp"))
    except OSError:
        return []
    known = {stem.removesuffix(".yaml"): stem for stem in _NAMES}
    return [
        f".ahp/{name} is not read; the file is called {known[stem]}"
        for name in there
        for stem, ending in (os.path.splitext(name),)
        if ending == ".yml" and stem in known and known[stem] not in there
    ]


def packs() -> list[str]:
    """Names of the packs: those that came with this ahp, and those that other packages add."""
    own = [name.removesuffix(".yaml") for name in os.listdir(PACKS) if name.endswith(".yaml")]
    return sorted({*own, *wings.added("packs")})


def pack(name: str) -> tuple[str, bytes] | None:
    """Absolute path and content of a pack, None when there is none of that name."""
    path = os.path.join(PACKS, name + ".yaml")
    data = files.read(path, MAX_BYTES)
    if data is None and (place := wings.added("packs").get(name)):  # a file beside the module of another package
        path = os.path.join(os.path.dirname(os.path.abspath(wings.load(place, "packs").__file__)), name + ".yaml")
        data = files.read(path, MAX_BYTES)
    return None if data is None else (path, data)
