"""Compiled modules of other packages without those packages, whose Python imports much that no hook uses.  [light]"""

import sys

from ahp.system import ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(name: str, unused: tuple[str, ...] = ()) -> "Any":
    """The extension module `package._module`; None where it is not installed.

    `unused` are names of the standard library (`re.compile`) that it asks for when it is loaded, for what ahp never has
    it do. A hook, whose process nobody else uses, does not import their modules for that.
    """
    module = sys.modules.get(name)
    if module is not None:
        return module
    import _frozen_importlib as bootstrap
    import _frozen_importlib_external as files
    import _imp

    loader = (files.ExtensionFileLoader, _imp.extension_suffixes())
    for folder in sys.path:
        spec = files.FileFinder(f"{folder}/{name.partition('.')[0]}", loader).find_spec(name)
        if spec is not None:
            if unused and ready.packed:
                try:
                    with _StandIns(unused):
                        return bootstrap._load(spec)  # type: ignore[attr-defined]
                except (AttributeError, TypeError):
                    sys.modules.pop(name, None)  # a version that wants more of them: it gets them
            return bootstrap._load(spec)  # type: ignore[attr-defined]
    return None


class _StandIns:
    """While it lasts, modules that are not loaded yet have nothing but the names given, which do nothing."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.modules = {}
        for module, _, name in [full.partition(".") for full in names]:
            if module not in sys.modules:
                self.modules[module] = type(sys)(module)
                setattr(self.modules[module], name, lambda *given: None)

    def __enter__(self) -> None:
        sys.modules.update(self.modules)

    def __exit__(self, *_: object) -> None:
        for module in self.modules:
            del sys.modules[module]
