"""Compiled modules of other packages without those packages, whose Python imports much that no hook uses.  [light]"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(name: str) -> "Any":
    """The extension module `package._module`; None where it is not installed."""
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
            return bootstrap._load(spec)  # type: ignore[attr-defined]
    return None
