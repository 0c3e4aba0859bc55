"""What the closures of a condition stand on: the absent fact, why a condition has no value, the builder.  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Slots = list[Any]  # one value a fact
    Closure = Callable[[Slots], Any]

MAX_ITEMS = 1_000_000  # items of a list that a condition goes through
MAX_CHARS = 16 * 1024 * 1024  # characters of a text that a pattern is asked of (design §11: what a host may send)


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

    def told(self) -> str:
        """Half a sentence for people: what has no value, and why."""
        if self.path:
            return self.path + (" is null" if self.kind == "null_operand" else " is missing")
        return _TOLD[self.kind]


_TOLD = {
    "missing_fact": "a fact is missing",
    "null_operand": "a value is null, or of another type than its condition needs",
    "index": "a list has no such item",
    "zero_division": "a number is divided by zero",
}


class Bound(Exception):
    """A fact or a calculation exceeds a limit; the gate then refuses (design §5)."""


class PlanError(ValueError):
    """A plan that is cut, foreign or of another version. The cache holding it has to be rebuilt."""


def _refuse(*_: object) -> "object":
    raise Undecided("missing_fact")


class Missing:
    """The value of an absent fact. Every operation on it raises Undecided, so facts that are there need no check."""

    __slots__ = ()

    def __getattr__(self, name: str) -> "object":
        # copy and pickle ask for dunder names and expect an AttributeError.
        if name[:2] == "__":
            raise AttributeError(name)
        raise Undecided("missing_fact")

    def __reduce__(self) -> str:
        return "MISSING"  # copies and pickles are the same object

    def __repr__(self) -> str:
        return "MISSING"

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse  # type: ignore[assignment]
    __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = _refuse  # type: ignore[assignment]
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _refuse
    __neg__ = __pos__ = __abs__ = _refuse


MISSING = Missing()

# What native operations raise when an operand is absent, null, short or zero; `evaluate` finds the kind of each.
FAULTS = (Undecided, TypeError, AttributeError, IndexError, ZeroDivisionError)


def key_of(path: str) -> "tuple[str, str | None]":
    """The path of a map and the key of one of its values that is a fact of its own, as `content.after['a.json']`; None
    for the path of any other fact.
    """
    name, opened, key = path.partition("['")
    return (name, key[:-2]) if opened else (path, None)


def present(value: "Any") -> "Any":
    """The value itself. Raises Undecided for MISSING, where no operation on the value would."""
    if value is MISSING:
        raise Undecided("missing_fact")
    return value


def number(value: "Any") -> "Any":
    """The result of arithmetic. Raises Bound where that is no number, which nothing is less or greater than."""
    if value != value:
        raise Bound("a calculation beyond floats has no number for a result")
    return value


def unusable(value: "Any") -> Undecided:
    """Why `value` is none that an operation can work with: it is absent, or null or of another type."""
    return Undecided("missing_fact" if value is MISSING else "null_operand")


def names(plan: "Any", var: str) -> bool:
    """Whether a plan reads a loop's variable."""
    return plan[:2] == ["item", var] or any(names(part, var) for part in plan if isinstance(part, list))


def _kept(made: "Closure", value: "list[Any]") -> "Closure":
    """The closure, asked once until `value` is emptied: it keeps what it gave, or the fault that it raised."""

    def found(facts: "Slots") -> "Any":
        if not value:
            try:
                value[:] = made(facts), None
            except FAULTS as error:
                value[:] = None, error
        if value[1] is not None:
            raise value[1].with_traceback(None)
        return value[0]

    return found


class Builder:
    """Makes the closures of one condition: they share the index of each fact's slot, and a cell for each loop
    variable that holds the item the loop is at.

    `operations` is the table of the language by name (`ahp.conditions.language`); `var` the variable of an `each`, ""
    without one. What a loop gives is kept, so that one that stands twice, inside of another or in an `each` is gone
    through once: `kept` are their closures by text, `once` the values for these facts, `per_item` those for this item.
    """

    __slots__ = ("cells", "kept", "once", "open", "operations", "per_item", "slots", "var")

    def __init__(self, operations: "dict[str, Any]", slots: "dict[str, int]", var: str = "") -> None:
        self.operations = operations
        self.slots = slots
        self.var = var
        self.open = 0  # loops that what is being built stands in
        self.cells: dict[str, list[Any]] = {}
        self.kept: dict[str, Closure] = {}
        self.once: list[list[Any]] = []
        self.per_item: list[list[Any]] = []

    def cell(self, var: str) -> "list[Any]":
        """The cell of a loop variable."""
        return self.cells.setdefault(var, [MISSING])

    def build(self, node: "Any") -> "Closure":
        """The closure of one node. Raises PlanError, or KeyError and the like, for what is no node of a plan."""
        if self.operations[node[0]].call == "loop":
            return self._loop(node)
        return self.operations[node[0]].make(self, node)  # type: ignore[no-any-return]

    def _loop(self, node: "Any") -> "Closure":
        text = repr(node)
        if text in self.kept:
            return self.kept[text]
        self.open += 1
        made = self.operations[node[0]].make(self, node)
        self.open -= 1
        is_items = bool(self.var) and names(node, self.var)
        if is_items and not self.open:
            return made  # type: ignore[no-any-return]
        value: list[Any] = []
        (self.per_item if is_items else self.once).append(value)
        self.kept[text] = _kept(made, value)
        return self.kept[text]

    def slot(self, node: "Any") -> "int | None":
        """The index of a fact node, None for any other."""
        return self.slots[node[1]] if node[0] == "fact" else None
