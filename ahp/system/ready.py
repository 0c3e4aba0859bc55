"""What takes long to make and is the same in every process: made with the bundle, and read from it after.  [light]"""

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeVar

    Made = TypeVar("Made")

    class Packed(Protocol):
        """Byte strings by name, in memory or in the bundle."""

        def __contains__(self, name: object, /) -> bool: ...
        def __getitem__(self, name: str, /) -> bytes: ...


packed: "Packed" = {}
"""What comes with the bundle."""
_made: "dict[str, Any]" = {}


def made(name: str, make: "Callable[[], Made]") -> "Made":
    """The value called `name`: from the bundle, else what `make` gives, once a process. Plain data only."""
    if name not in _made:
        _made[name] = marshal.loads(packed[name]) if name in packed else make()  # noqa: S302  # our own bundle
    value: Made = _made[name]
    return value


def pack() -> dict[str, bytes]:
    """All that was made in this process, for the bundle."""
    return {name: marshal.dumps(value) for name, value in _made.items()}
