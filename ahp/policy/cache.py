"""The compiled policies of a repository: found and trusted by content digest, never by time stamp (design §2).  [light]

A work tree's policy is in a folder named by the digest of the root and of its layers, a commit's in one named by the
ids of its blobs: one file to read. Files outside (packs, what a work tree's policy extends) are compared by digest.
"""

import posix

from ahp.policy import tree as trees
from ahp.policy.program import Answers, Program
from ahp.system import files, jsontext
from ahp.system.digest import sha256, tagged
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ahp.policy.tree import PolicyTree

    R = TypeVar("R", bound=jsontext.Record)

PROJECT, LOCAL = "/" + trees.HOOKS, "/" + trees.LOCAL
WAIVERS = trees.WAIVERS
_SOURCE_LIMIT = 1 << 20
_CACHE_LIMIT = 64 << 20
_COMPILING = (
    "system",
    "protocol",
    "conditions",
    "facts",
    "policy",
)  # the rooms whose code a compiled policy is made by

# The digest of their sources. The bundle of the git hooks sets it, and is stale when one of them changes.
compiler = ""


def find(root: str, folder: str, trigger: str, user: str = "") -> Program | None:
    """The compiled policy of `trigger` for the work tree at `root`; None when it has to be compiled.

    `folder` is the ahp folder of the repository (`<git common dir>/ahp`), `user` the path of the user's policy, "" for
    none. A cache that was cut, that other code made or that no longer fits its sources counts as none.
    """
    contents = contents_of(root, user)
    return None if contents is None else _found(place(root, folder, contents), trigger, digests(contents))


def find_committed(tree: "PolicyTree", folder: str, trigger: str) -> Program | None:
    """The compiled policy that a tree has for `trigger`, its project's layer alone; None when it has to be compiled."""
    return _found(committed_place(tree, folder), trigger, None)


def _found(home: str, trigger: str, known: "dict[str, str | None] | None") -> Program | None:
    """The program in the folder `home`, if it fits its sources: `known` by digest, None for those that name `home`."""
    path = home + "/" + trigger
    program = _read(path, Program)
    if program is None or program.trigger != trigger:
        return None
    for name, digest in program.sources:
        if known is None and not name.startswith("/"):
            continue
        if (known[name] if known and name in known else _digest(name)) != digest:
            return None
    program.path = path
    return program


def is_in_work_tree(committed: Program, root: str, contents: "list[tuple[str, bytes | None]]") -> bool:
    """Whether the files at `root` are those of a commit's policy, byte for byte, and no other layer adds to them.

    `contents` are the layers there (`contents_of`): both are one policy then, without a look at what they mean.
    """
    known = digests(contents)
    for name, digest in committed.sources:
        path = name if name.startswith("/") else f"{root}/{name}"
        if (known.pop(path) if path in known else _digest(path)) != digest:
            return False
    return not any(known.values())


def digests(contents: "list[tuple[str, bytes | None]]") -> "dict[str, str | None]":
    """Path → digest of each layer, None where there is none."""
    return {name: None if content is None else tagged(content) for name, content in contents}


def contents_of(root: str, user: str) -> "list[tuple[str, bytes | None]] | None":
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
    parts = [compiler_digest().encode(), _bytes(root)]
    for name, content in contents:
        parts += [_bytes(name), b"-" if content is None else b"%d:" % len(content) + content]
    return folder + "/cache/" + sha256(b"\0".join(parts))[:32]


def committed_place(tree: "PolicyTree", folder: str) -> str:
    """The folder of the compiled policy of these blobs, one for all work trees that are at a commit with them."""
    return folder + "/cache/" + sha256(compiler_digest().encode() + b"\0committed\0" + tree.key)[:32]


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _digest(name: str) -> str | None:
    try:
        content = files.read(name, _SOURCE_LIMIT)
    except AhpError:
        return ""  # no digest is empty: whatever cannot be read differs from what was
    return None if content is None else tagged(content)


def _read(path: str, kind: "type[R]") -> "R | None":
    """One half of a program: a line with the digest of the rest, then JSON. None unless it is whole."""
    try:
        content = files.read(path, _CACHE_LIMIT)
    except AhpError:
        return None
    if content is None or len(content) < 66 or content[64:65] != b"\n":
        return None
    if sha256(content[65:]).encode() != content[:64]:
        return None
    try:
        return kind.of(jsontext.decode(content[65:].decode()))
    except ValueError:
        return None


def read_answers(program: Program) -> bool:
    """Reads the half with words and actions; False where its file was cut or is another policy's."""
    answers = _read(f"{program.path}.answers", Answers)
    if answers is None or (answers.trigger, answers.policy) != (program.trigger, program.policy):
        return False
    program.answers = answers
    return True


def rules_of(program: Program) -> "list[list[object]] | None":
    """Every rule of the policy of a stored program: `[trigger, key, levels by environment, digest]`; None if cut."""
    if not program.path:
        return None
    home = program.path.rpartition("/")[0]
    rules: list[list[object]] = []
    for trigger in program.triggers:
        answers = _read(f"{home}/{trigger}.answers", Answers)
        if answers is None or answers.policy != program.policy:
            return None
        rules += [[trigger, key, rule.intensity, rule.digest] for key, rule in answers.rules.items()]
    return rules


def compiler_sources() -> list[str]:
    """The files whose code decides what a policy is compiled to. Raises AhpError when this installation lacks them."""
    package = __file__.rsplit("/", 2)[0]
    try:
        listed = [(room, name) for room in _COMPILING for name in sorted(posix.listdir(f"{package}/{room}"))]
    except OSError as error:
        raise AhpError(
            f"this installation of ahp lacks its sources in {package} ({error.strerror}); reinstall"
        ) from None
    return [f"{package}/__init__.py", *[f"{package}/{room}/{name}" for room, name in listed if name.endswith(".py")]]


def compiler_digest() -> str:
    """The digest of the sources that compile: what other code has compiled is not used. Raises AhpError."""
    global compiler
    if not compiler:
        compiler = sha256(b"\0".join([sha256(files.read(path) or b"").encode() for path in compiler_sources()]))
    return compiler
