"""What takes long to make and is the same in every process: made with the bundle, and read from it after.  [light]"""

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Made = TypeVar("Made")

packed: dict[str, bytes] = {}
"""By name, as the bundle holds it."""
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
