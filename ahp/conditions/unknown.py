"""What a condition yields when it yields no truth value: the absent fact, the undecided condition, the broken
bound.  [light]
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Undecided(Exception):
    """A condition has no value for these facts; the rule's `on_missing` decides (design §4, §5).

    `kind` is missing_fact, null_operand (null, or a map's value of a type that the operation has no meaning for),
    index or zero_division; `path` is the fact that is absent or null, None where no single fact is to blame.
    """

    def __init__(self, kind: str, path: "str | None" = None) -> None:
        Exception.__init__(self, kind, path)
        self.kind = kind
        self.path = path

    def __str__(self) -> str:
        return self.kind + (": " + self.path if self.path else "")


class Bound(Exception):
    """A fact or a calculation past a bound; a decision that meets it fails closed (design §5)."""


class PlanError(ValueError):
    """A plan that is not one: cut, foreign or of another version. The cache holding it has to be rebuilt."""


def _refuse(*_: object) -> "object":
    raise Undecided("missing_fact")


class Missing:
    """The value of an absent fact. Every operation on it raises Undecided, so that a fact that is there costs no
    check.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> "object":
        # Python's own protocols (copy, pickle) ask for dunder names and must be told no in their own way.
        if name[:2] == "__":
            raise AttributeError(name)
        raise Undecided("missing_fact")

    def __reduce__(self) -> str:
        return "MISSING"  # copies and pickles are the one there is

    def __repr__(self) -> str:
        return "MISSING"

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse  # type: ignore[assignment]
    __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = _refuse  # type: ignore[assignment]
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _refuse
    __neg__ = __pos__ = __abs__ = _refuse


MISSING = Missing()


def present(value: "Any") -> "Any":
    """The value itself; raises Undecided for MISSING where no operation on it would."""
    if value is MISSING:
        raise Undecided("missing_fact")
    return value


# What native operations raise when an operand is absent, null, short or zero; `evaluate.locate` gives each its kind.
FAULTS = (Undecided, TypeError, AttributeError, IndexError, ZeroDivisionError)

MAX_ITEMS = 1_000_000  # items of a list that a condition goes through
MAX_CHARS = 16 * 1024 * 1024  # characters of a text that a pattern is asked of (design §11: what a host may send)
