"""Writing the bundle that `start` reads: the light modules of this installation as one `.pyc` file."""

import ast
import functools
import hashlib
import importlib
import importlib.util
import marshal
import os
import sys
from types import CodeType
from typing import NamedTuple

from ahp.facts import registry
from ahp.policy import cache
from ahp.system import environ, files, process, wings
from ahp.system.errors import AhpError, Incomplete

PLACE = "/cache/light.pyc"  # in a repository's ahp folder


class Starter(NamedTuple):
    """What one kind of hook starts with: the module whose `main` runs, what is loaded at once and what may be loaded.

    `tables` names a function (`module:name`) that gives the files that are read into tables, after reading them.
    `ahead` is a module whose `ask` runs before anything is loaded; its variable `ahead` holds what that returned.
    """

    entry: str
    at_once: tuple[str, ...]
    later: tuple[str, ...]
    tables: str = ""
    ahead: str = ""


GIT = Starter(
    "ahp.hosts.git.main",
    ("ahp.hosts.git.pre_commit", "ahp.facts.branch", "ahp.facts.commit", "ahp.facts.files"),
    ("ahp.hosts.git.commit_msg", "ahp.facts.commit_message", "ahp.policy.succession"),
    ahead="ahp.hosts.git.staged",
)
_GIT = "ahp.hosts.git.bundle:GIT"
_MAKING = ("ahp.hosts.git.bundle", "ahp.system.process", "ahp.system.wings")
_BUILD = "from ahp.hosts.git.bundle import build; sys.stdout.buffer.write(build({paths!r}, {light!r}, {starter!r}))"
_MAIN = """
{ask}parts = begin(sys.argv[0], {paths!r}, {where!r})
if parts:
    from ahp.policy import cache
    cache.compiler = {compiler!r}
{ready}from {entry} import main
main("" if parts else sys.argv[0])
"""
_ASK = """\
ahead = ask(sys.argv[1], sys.argv[2], sys.argv[5])
"""
_TOLD = """\
    import {ahead}
    {ahead}.ahead = ahead
"""
_READY = """\
    from ahp.system import ready
    ready.packed = parts
"""
_UNCHECKED = (1).to_bytes(4, "little")  # PEP 552: never compared with a source; `start` compares all of them


def write(path: str, interpreter: str, paths: list[str], starter: str = _GIT) -> None:
    """Writes the bundle of a `starter` (the place of a Starter) for `interpreter`, which imports ahp from `paths`.

    It compiles for itself. Raises AhpError.
    """
    light = [name for name, declared in registry.declared().items() if declared.light]
    # The process is short, and a collection would look at every node of the syntax trees, in vain.
    program = f"import gc, sys; gc.disable(); sys.path += {paths!r}; "
    program += _BUILD.format(paths=paths, light=light, starter=starter)
    argv = [interpreter, "-I", "-S", "-X", "no_debug_ranges", "-c", program]
    result = process.capture(argv, timeout=60.0, env=environ.current())
    if result.code:
        raise AhpError(f"cannot import ahp with {interpreter}: {result.err.decode('utf-8', 'replace')[-300:]}")
    files.make_dirs(os.path.dirname(path))
    files.replace(path, result.out)


def build(paths: list[str], light: list[str], starter: str = _GIT) -> bytes:
    """The bytes of a starter's bundle for the running interpreter, with the namespaces `light`.

    Raises AhpError when a source is gone.
    """
    _bare.cache_clear()  # a source may be another one by now
    start: Starter = wings.load(starter)
    making = (*_MAKING, starter.partition(":")[0])
    for name in (start.entry, *start.at_once):
        importlib.import_module(name)
    eager = _ours(making)
    for name in (*start.later, *[f"ahp.facts.{namespace}" for namespace in light]):
        importlib.import_module(name)
    tables: list[str] = []
    packed: dict[str, bytes] = {}
    if start.tables:
        from ahp.system import ready

        tables, packed = wings.load(start.tables)(), ready.pack()
    lazy = [name for name in _ours(making) if name not in eager]
    now = [(name, _code(name), _file(name), hasattr(sys.modules[name], "__path__")) for name in _runnable(eager)]
    later = {name: _file(name) for name in lazy}
    # What compiles policies is stamped, too: as long as none of it changed, its digest is known without reading it.
    sources = dict.fromkeys([*map(_file, [*eager, *lazy]), *cache.compiler_sources(), *tables])
    stamps = [(file, os.stat(file).st_mtime_ns, os.stat(file).st_size) for file in sources]
    parts = {**{name: marshal.dumps(_code(name)) for name in lazy}, **packed}
    behind, where = tail(stamps, now, later, parts)
    text = _MAIN.format(
        paths=paths,
        where=where,
        compiler=cache.compiler_digest(),
        ready=(_READY if packed else "") + (_TOLD.format(ahead=start.ahead) if start.ahead else ""),
        entry=start.entry,
        ask=_ASK if start.ahead else "",
    )
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
    ahead = _bare(_file(start.ahead)).body if start.ahead else []
    main = ast.Module([*_bare(source).body, *ahead, *ast.parse(text).body], [])
    code = compile(main, source, "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + _UNCHECKED + bytes(8) + marshal.dumps(code) + behind


def tail(
    stamps: list[tuple[str, int, int]],
    now: list[tuple[str, CodeType, str, bool]],
    later: dict[str, str],
    parts: dict[str, bytes],
) -> tuple[bytes, tuple[bytes, int, int]]:
    """What stands behind the first code, and where in it `start.begin` finds its contents."""
    places, at = {}, 0
    for name, part in parts.items():
        places[name] = at, len(part)
        at += len(part)
    contents, behind = marshal.dumps((stamps, now, later, places)), b"".join(parts.values())
    key = _key(contents, behind)
    whole = contents + key + behind
    return whole, (key, len(contents) + len(key), len(whole))


def _key(contents: bytes, behind: bytes) -> bytes:
    return hashlib.sha256(contents + behind).digest()[:16]


def is_fresh(data: bytes) -> bool:
    """Whether a bundle is whole, and was made by this Python from the sources as they are now."""
    from ahp.hosts.git.start import fresh

    if data[:4] != importlib.util.MAGIC_NUMBER:
        return False
    try:
        code = marshal.loads(data[16:])  # noqa: S302  # ours: it is what every hook runs
    except (EOFError, TypeError, ValueError):
        return False
    for where in code.co_consts if isinstance(code, CodeType) else ():
        if isinstance(where, tuple) and [type(one) for one in where] == [bytes, int, int]:
            key, length, size = where
            found = data[-size:]
            contents, behind = found[: length - len(key)], found[length:]
            if found[len(contents) : length] == key == _key(contents, behind):
                return fresh(marshal.loads(contents)[0])  # noqa: S302  # as whole as it was written
    return False


def _ours(making: tuple[str, ...]) -> list[str]:
    """The modules of ahp that are loaded, but for those that make the bundle."""
    return [name for name in sys.modules if name.split(".")[0] == "ahp" and name not in making]


def _runnable(names: list[str]) -> list[str]:
    """`names` so that each comes after what it imports."""
    done: list[str] = []

    def visit(name: str) -> None:
        if name in done or name not in names:
            return
        visit(name.rpartition(".")[0])
        for other in _imports(name):
            visit(other)
        done.append(name)

    for name in names:
        visit(name)
    return done


def _imports(name: str) -> list[str]:
    """What a module imports at its head, as module names; of `from a import b` both `a` and `a.b`."""
    found: list[str] = []
    for node in _bare(_file(name)).body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *[f"{node.module}.{alias.name}" for alias in node.names]]
    return found


def _file(name: str) -> str:
    return str(sys.modules[name].__file__)


def _code(name: str) -> CodeType:
    return compile(_bare(_file(name)), _file(name), "exec", dont_inherit=True)


def _stripped(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without what no hook uses: docstrings, annotations, imports for the type checker.

    Only statements are looked into: no expression holds any of it, and most nodes are expressions.
    """
    made: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.AnnAssign):
            if node.value:
                made.append(ast.copy_location(ast.Assign([node.target], node.value), node))
            continue
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            made += _stripped(node.orelse)
            continue
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for one in ast.walk(node.args):
                if isinstance(one, ast.arg):
                    one.annotation = None
        _strip_bodies(node)
        made.append(node)
    return made


def _strip_bodies(node: ast.stmt | ast.excepthandler | ast.match_case) -> None:
    """Strips the statements in a statement; a body never becomes empty."""
    for part in ("handlers", "cases"):
        for inner in getattr(node, part, ()):
            _strip_bodies(inner)
    for part in ("body", "orelse", "finalbody"):
        inside = getattr(node, part, None)
        if inside:
            documented = isinstance(node, ast.ClassDef | ast.FunctionDef) and _is_docstring(inside[0])
            kept = _stripped(inside[documented:])
            setattr(node, part, kept or [ast.copy_location(ast.Pass(), inside[0])])


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@functools.cache
def _bare(file: str) -> ast.Module:
    data = files.read(file)
    if data is None:
        raise Incomplete(file)
    tree = ast.parse(data, file)
    tree.body = _stripped(tree.body[1:] if tree.body and _is_docstring(tree.body[0]) else tree.body)
    return tree
