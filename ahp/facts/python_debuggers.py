"""Debugger statements in Python source, by its syntax tree."""

import ast
import re
import warnings
from collections.abc import Iterator

_MODULES = frozenset(
    (
        *("pdb", "ipdb", "pudb", "bpdb", "rpdb", "rdb", "wdb", "web_pdb", "pdbr", "pdbpp", "remote_pdb"),
        *("celery.contrib.rdb", "pydevd", "pydevd_pycharm", "debugpy", "ptvsd"),
    )
)
_STOPS = frozenset(["set_trace", "settrace", "breakpoint", "wait_for_client", "embed"])
_SHELLS = frozenset(["IPython", "bpython", "ptpython.repl", "code"])  # modules of which only `embed` stops a program
_LIMIT = 2 << 20  # characters of a file whose tree is built
_PLAIN = re.compile(r"(?<![\w.])(breakpoint)\s*\(|\b(set_trace)\s*\(")


def find(text: str) -> list[tuple[int, str]]:
    """(line, name) of each: calls that stop, and imports of debuggers that nothing else uses.

    A library that works with a debugger as a module (`pdb.Pdb`, `pdb.post_mortem`) may import it. What Python of today
    cannot read is searched for the words of the calls.
    """
    if len(text) > _LIMIT:
        return _plain(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _plain(text)
    return _Reading(tree).found()


def _plain(text: str) -> list[tuple[int, str]]:
    numbered = ((number, line.partition("#")[0]) for number, line in enumerate(text.split("\n"), 1))
    return [(number, hit.group(1) or hit.group(2)) for number, line in numbered if (hit := _PLAIN.search(line))]


class _Reading:
    """What a tree imports of debuggers, and what it does with that."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.modules: dict[str, str] = {}  # local name → module
        self.functions: dict[str, str] = {}  # local name → module.function
        self.imports: dict[str, list[tuple[int, str]]] = {}  # local name → where it is imported, as what
        for node in self.nodes:
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._import_from(node)

    def _import(self, node: ast.Import) -> None:
        for one in node.names:
            root = one.name.partition(".")[0]
            if one.name in _MODULES or root in _MODULES or one.name in _SHELLS:
                local = one.asname or root
                self.modules[local] = one.name
                if one.name not in _SHELLS:
                    self.imports.setdefault(local, []).append((node.lineno, f"import {one.name}"))

    def _import_from(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            whole = f"{node.module}.{one.name}"
            if whole in _MODULES:
                self.modules[one.asname or one.name] = whole
            elif one.name in _STOPS and (node.module in _MODULES or (node.module in _SHELLS and one.name == "embed")):
                self.functions[one.asname or one.name] = whole
                self.imports.setdefault(one.asname or one.name, []).append((node.lineno, f"import {whole}"))

    def found(self) -> list[tuple[int, str]]:
        calls = list(self._calls())
        stopping = {id(node) for _, _, nodes in calls for node in nodes}
        used = {
            node.id
            for node in self.nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in stopping
        }
        left = [place for local, places in self.imports.items() if local not in used for place in places]
        told = {line: name for line, name, _ in calls}
        return sorted({*told.items(), *((line, name) for line, name in left if line not in told)})

    def _calls(self) -> Iterator[tuple[int, str, list[ast.expr]]]:
        """Each call that stops: its line, its name, and the names of a debugger in it."""
        assigned = {node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        assigned |= {node.name for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        for node in self.nodes:
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name):
                if called.id in self.functions:
                    yield node.lineno, self.functions[called.id], [called]
                elif called.id == "breakpoint" and "breakpoint" not in assigned:
                    yield node.lineno, "breakpoint", []
                elif called.id == "set_trace" and "set_trace" not in assigned:
                    yield node.lineno, "set_trace", []
            elif isinstance(called, ast.Attribute) and called.attr in _STOPS:
                module, name = self._owner(called.value)
                if module in _MODULES or (module in _SHELLS and called.attr == "embed"):
                    yield node.lineno, f"{module}.{called.attr}", [name] if name is not None else []

    def _owner(self, node: ast.expr) -> tuple[str, ast.expr | None]:
        """The module that an expression names, with the name that stands for it: also `__import__('pdb')`."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id, node.id if node.id in _MODULES else ""), node
        if isinstance(node, ast.Attribute):
            whole = ast.unparse(node)
            return (whole if whole in _MODULES else ""), None
        imported = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__"
        if imported and isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            return str(node.args[0].value), None
        return "", None
