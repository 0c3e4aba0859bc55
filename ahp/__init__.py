"""ahp: one policy file governs what people and coding agents do to a repository.

For programs: `ahp.Gate` (docs/embedding.md).
"""

__all__ = ["AhpError", "Gate", "Verdict", "__version__"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.hosts.api import Gate
    from ahp.protocol.verdict import Verdict
    from ahp.system.errors import AhpError
    from ahp.system.version import __version__

_LAZY = {
    "AhpError": "ahp.system.errors",
    "Gate": "ahp.hosts.api",
    "Verdict": "ahp.protocol.verdict",
    "__version__": "ahp.system.version",
}


def __getattr__(name: str) -> object:
    """The names for programs are imported when first asked for: the git hooks enter this package, too."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(__import__(_LAZY[name], None, None, (name,)), name)
    return value
