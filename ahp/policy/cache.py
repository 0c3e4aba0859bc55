"""The compiled policies of a work tree: found and trusted by content digest, never by time stamp (design §2).

A folder is named by the digest of the root and the contents of the three layers, so that reading a policy is reading
those and one file more. Every file that took part is looked at again: packs and extended files by their digest.
"""

from ahp import __version__
from ahp.system import files, jsontext
from ahp.system.digest import sha256, tagged
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event

FORMAT = 2
PROJECT, LOCAL = "/.ahp/hooks.yaml", "/.ahp/hooks.local.yaml"
_SOURCE_LIMIT = 1 << 20
_CACHE_LIMIT = 64 << 20


class Program:
    """The rules of one trigger. `data` is the light half; `answers` the words and actions, None until they are read.

    Light half: format, ahp, trigger, policy (digest), root, sources ([path, digest or null]), mode, slots (fact paths),
    reads (namespace → fields), settings, whens (plans), rules ({key, plan, each, when, costly}), costly, escalates.
    Each is an attribute, too.
    """

    __slots__ = ("answers", "data", "path")

    def __init__(self, data: "dict[str, Any]", path: str, answers: "dict[str, Any] | None" = None) -> None:
        self.data, self.path, self.answers = data, path, answers

    def __getattr__(self, name: str) -> "Any":
        if name == "data" or name not in self.data:  # "data": a copy that is being made has none yet
            raise AttributeError(name)
        return self.data[name]


def load(event: "Event") -> Program | None:
    """The compiled policy of the event's trigger; None when it has to be compiled."""
    return find(event.root, event.journal, event.trigger, event.user_policy)


def find(root: str, folder: str, trigger: str, user: str = "") -> Program | None:
    """The compiled policy of `trigger` for the work tree at `root`; None when it has to be compiled.

    `folder` is the ahp folder of the repository (`<git common dir>/ahp`), `user` the path of the user's policy, "" for
    none. A cache that was cut, is another version's or no longer fits its sources counts as none.
    """
    contents = _layers(root, user)
    if contents is None:
        return None
    path = place(root, folder, contents) + "/" + trigger
    data = _read(path)
    if data is None or data.get("trigger") != trigger or data.get("root") != root:
        return None
    known = {name: None if content is None else tagged(content) for name, content in contents}
    for name, digest in data["sources"]:
        if (known[name] if name in known else _digest(name)) != digest:
            return None
    return Program(data, path)


def _layers(root: str, user: str) -> "list[tuple[str, bytes | None]] | None":
    """Path and content of each layer; None when one cannot be read, which compiling then explains."""
    try:
        return [(path, files.read(path, _SOURCE_LIMIT)) for _, path in layer_paths(root, user)]
    except AhpError:
        return None


def layer_paths(root: str, user: str) -> "list[tuple[str, str]]":
    """(layer, path of its file) in the order they apply; a bare repository (`root` "") has the user's only."""
    paths = [("user", user)] if user else []
    return [("project", root + PROJECT), *paths, ("local", root + LOCAL)] if root else paths


def place(root: str, folder: str, contents: "list[tuple[str, bytes | None]]") -> str:
    """The folder of the compiled policy that these layers make at `root`."""
    parts = [__version__.encode(), b"%d" % FORMAT, _bytes(root)]
    for name, content in contents:
        parts += [_bytes(name), b"-" if content is None else b"%d:" % len(content) + content]
    return folder + "/cache/" + sha256(b"\0".join(parts))[:32]


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _digest(name: str) -> str | None:
    try:
        content = files.read(name, _SOURCE_LIMIT)
    except AhpError:
        return ""  # no digest is empty: whatever cannot be read differs from what was
    return None if content is None else tagged(content)


def _read(path: str) -> "dict[str, Any] | None":
    """One half of a program: a line with the digest of the rest, then JSON. None unless it is whole and of this ahp."""
    try:
        content = files.read(path, _CACHE_LIMIT)
    except AhpError:
        return None
    if content is None or len(content) < 66 or content[64:65] != b"\n":
        return None
    if sha256(content[65:]).encode() != content[:64]:
        return None
    try:
        data = jsontext.decode(content[65:].decode())
    except ValueError:
        return None
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("ahp") != __version__:
        return None
    return data


def read_answers(program: Program) -> bool:
    """Reads the half with words and actions; False where its file was cut or is another policy's."""
    answers = _read(program.path + ".answers")
    if answers is None or (answers.get("trigger"), answers.get("policy")) != (program.trigger, program.policy):
        return False
    program.answers = answers
    return True
