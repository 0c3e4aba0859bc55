"""Compiled modules of other packages without those packages, whose Python imports much that no hook uses.  [light]"""

import sys

from ahp.system import ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any


def load(name: str, unused: tuple[str, ...] = ()) -> "Any":
    """The extension module `package._module`; None where it is not installed.

    `unused` are names of the standard library (`re.compile`) that it asks for when it is loaded, for what ahp never has
    it do. A hook, whose process nobody else uses, does not import their modules for that.
    """
    if name in sys.modules:
        return sys.modules[name]
    folders = [f"{folder}/{name.partition('.')[0]}" for folder in sys.path]
    for finder in sys.meta_path:
        spec = finder.find_spec(name, folders)
        if spec is not None:
            return (_alone(spec, unused) if unused and ready.packed else None) or _loaded(spec)
    return None


def _loaded(spec: "ModuleSpec") -> "Any":
    """The module of a spec, made as an import makes it (PEP 451), but without its package."""
    loader: Any = spec.loader
    sys.modules[spec.name] = module = loader.create_module(spec)
    loader.exec_module(module)
    return module


def _alone(spec: "ModuleSpec", unused: tuple[str, ...]) -> "Any":
    """The module of a spec, with functions that do nothing for those named `unused`; None where that is not enough.

    Importing `re` and `enum` would take as long as starting Python does.
    """
    before, standing = set(sys.modules), set()
    for module, _, name in [full.partition(".") for full in unused]:
        if module not in before:
            standing.add(module)
            setattr(sys.modules.setdefault(module, type(sys)(module)), name, lambda *given: None)
    try:
        made = _loaded(spec)
    except (ImportError, AttributeError, TypeError):  # a version that wants more of them
        made = None
    new = sys.modules.keys() - before
    if new != standing | {spec.name}:  # or one that imports more, which may have kept what stood there
        made = None
    for name in standing if made else new:
        del sys.modules[name]
    return made
