"""The condition language: every function and operator is one entry of one table.  [light]

Checker, inference, normal form, both evaluators, the documentation and the tests read here what they need to know of
one; a new one takes its entry and the page written anew (tests/conditions/test_docs.py). A plan is a list
`[name, operand …]` whose operands are plans; where the entry says `parameter`, its last element is plain data.
"""

from ahp.conditions import closures, globs, logic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.conditions.closures import Maker

    Range = tuple[float, float]

FUNCTION, METHOD, LOOP = "function", "method", "loop"
_INFINITY = float("inf")


class Operation:
    """What is known of one function, operator or other node of a plan.

    name       as it stands in a plan and, for functions and operators, in a condition
    takes      the kinds of its arguments, keys of `calls.KINDS`; a method's first one stands before the dot, a loop's
               only one is asked of every item
    gives      the type of its value: of the schema, `number` (int where all operands are, else float) or `value` (the
               type of its last two operands); "" where `guards.result` has a rule of its own, or nothing is known
    make       the maker of its closure
    doc        what it does, in one line of Markdown
    samples    conditions that are true for the facts of docs/conditions.md
    call       how authors call it by name: FUNCTION, METHOD, LOOP; "" for anything else
    function   what it computes from plain values, where that is all it does; raises TypeError or AttributeError on null
    least      how many arguments it needs, by default those of `takes`
    most       how many it takes at most; further ones are like the last of `takes`
    any_of     whether a literal list as last argument means any of its members
    span       from the ranges of its operands to that of its value; None where nothing narrows the type's
    commutes   whether the order of its operands makes no difference
    parameter  whether the node's last element is plain data
    weight     its share in the static cost of a condition
    """

    def __init__(
        self,
        name: str,
        takes: tuple[str, ...] = (),
        gives: str = "",
        make: "Maker | None" = None,
        doc: str = "",
        *samples: str,
        call: str = "",
        function: "Callable[..., Any] | None" = None,
        least: int = 0,
        most: int = 0,
        any_of: bool = False,
        span: "Callable[..., Range] | None" = None,
        commutes: bool = False,
        parameter: bool = False,
        weight: int = 1,
    ) -> None:
        self.name, self.takes, self.gives, self.make = name, takes, gives, make
        self.doc, self.samples, self.call, self.function = doc, samples, call, function
        self.least, self.most = least or len(takes), most or len(takes)
        self.any_of, self.span, self.commutes = any_of, span, commutes
        self.parameter, self.weight = parameter, weight

    def kinds(self, count: int) -> tuple[str, ...]:
        """The kinds of that many arguments."""
        return (self.takes + self.takes[-1:] * count)[:count]


def children(plan: "Any") -> "list[Any]":
    """The operands of a node, in the order in which they are evaluated."""
    return plan[1:-1] if OPERATIONS[plan[0]].parameter else plan[1:]  # type: ignore[no-any-return]


def with_children(plan: "Any", operands: "list[Any]") -> "list[Any]":
    """The node with other operands, as many as it has."""
    return [plan[0], *operands, *plan[1 + len(operands) :]]


def callables(call: str = "") -> dict[str, Operation]:
    """What authors call by name: all of it, or functions, methods or loops only."""
    return {name: entry for name, entry in OPERATIONS.items() if (entry.call == call if call else entry.call)}


def plain(
    name: str,
    takes: tuple[str, ...],
    gives: str,
    function: "Callable[..., Any]",
    doc: str,
    *samples: str,
    call: str = FUNCTION,
    least: int = 0,
    most: int = 0,
    **known: "Any",
) -> Operation:
    """The entry of a function or method that computes a value from values and does nothing else."""
    known |= {"least": least or len(takes), "most": most or len(takes)}
    make = closures.call(function, known["least"], known["most"])
    return Operation(name, takes, gives, make, doc, *samples, call=call, function=function, weight=2, **known)


def _natural(*_: "Range") -> "Range":
    return 0, _INFINITY


def _product(left: "Range", right: "Range") -> "Range":
    corners = [0 if 0 in (x, y) else x * y for x in left for y in right]
    return min(corners), max(corners)


def _remainder(_: "Range", divisor: "Range") -> "Range":
    return (0, divisor[1]) if divisor[0] > 0 else (-_INFINITY, _INFINITY)


def _ends(pick: "Callable[..., float]") -> "Callable[..., Range]":
    return lambda *operands: (pick(low for low, _ in operands), pick(high for _, high in operands))


_NUMBERS = ("number", "number")

OPERATIONS: dict[str, Operation] = {entry.name: entry for entry in (
    # Facts and literals.
    Operation("const", make=closures.const, parameter=True),
    Operation("fact", make=closures.fact, parameter=True),
    Operation("item", make=closures.item, parameter=True),
    Operation("field", make=closures.member, parameter=True),
    Operation("key", make=closures.member, parameter=True),
    Operation("entry", make=closures.entry, weight=2),
    Operation("index", make=closures.element, parameter=True),
    Operation("list", make=closures.listed),
    Operation("as", make=closures.typed, parameter=True),
    Operation("flag", (), "bool", logic.flag),
    # Operators; `same` and `within` are `==` and `in` where types are known at run time only.
    Operation("or", (), "bool", logic.chain(logic.either), "at least one side holds"),
    Operation("and", (), "bool", logic.chain(logic.both), "both sides hold"),
    Operation("not", (), "bool", logic.negation, "what follows does not hold"),
    Operation("if", (), "value", logic.conditional, "`A if C else B` is A where C holds, else B"),
    Operation("in", (), "bool", closures.contained, "an item of a list, a part of a text, a key of a map", weight=2),
    Operation("within", (), "bool", closures.within, weight=5),
    Operation("==", (), "bool", closures.equal, "equal; values of two types cannot be compared"),
    Operation("!=", (), "bool", closures.unequal, "not equal"),
    Operation("same", (), "bool", closures.same, commutes=True),
    Operation("null", (), "bool", closures.null),
    Operation("<", (), "bool", closures.less, "less, of two numbers or two texts"),
    Operation("<=", (), "bool", closures.less_or_equal, "less or equal"),
    Operation(">", (), "bool", closures.greater, "greater"),
    Operation(">=", (), "bool", closures.greater_or_equal, "greater or equal"),
    Operation("+", _NUMBERS, "number", closures.plus, "sum", commutes=True,
              span=lambda a, b: (a[0] + b[0], a[1] + b[1])),
    Operation("-", _NUMBERS, "number", closures.minus, "difference", span=lambda a, b: (a[0] - b[1], a[1] - b[0])),
    Operation("neg", ("number",), "number", closures.negative, span=lambda a: (-a[1], -a[0])),
    Operation("*", _NUMBERS, "number", closures.times, "product", commutes=True, span=_product),
    Operation("/", _NUMBERS, "float", closures.divided, "quotient, always a float"),
    Operation("//", _NUMBERS, "number", closures.floor_divided, "quotient, rounded down"),
    Operation("%", _NUMBERS, "number", closures.remainder, "remainder of `//`", span=_remainder),
    # Functions.
    plain("len", ("text or list or map",), "int", len, "characters, items or keys",
          "len(files.changed) == 4", span=_natural),
    plain("min", _NUMBERS, "number", min, "the least",
          "min(files.insertions, files.deletions) == 0", most=16, commutes=True, span=_ends(min)),
    plain("max", _NUMBERS, "number", max, "the greatest",
          "max(files.insertions, files.deletions) > 100", most=16, commutes=True, span=_ends(max)),
    plain("abs", ("number",), "number", abs, "the number without its sign",
          "abs(files.deletions - files.insertions) == 120", span=_natural),
    Operation("contains", ("container", "item"), "bool", None, "the same as `item in container`",
              "contains(commit.subject, 'None')", call=FUNCTION),
    Operation("has", ("fact",), "bool", closures.has, "whether it is there, be it null",
              "has(coverage.previous) and not has(coverage.current)", call=FUNCTION),
    Operation("default", ("fact", "value"), "value", closures.default,
              "the fact; the value where that is absent or null",
              "default(coverage.current, 100) == 100", call=FUNCTION),
    Operation("at", ("document", "path"), "", closures.at,
              "what stands at a path of keys, numbers and `*`; keys with a dot in double quotes",
              "at(tool.input, 'timeout') == 30", "len(at(tool.input, '*')) == 3", call=FUNCTION, weight=5),
    plain("days", ("text",), "float", closures.days,
          "days from 1970 to a date, or a time with its zone, in ISO 8601",
          "days('2026-02-09T12:00:00Z') - days('2026-02-08') == 1.5"),
    plain("keys", ("map",), "list[str]", list, "the keys of a map", "'timeout' in keys(tool.input)"),
    Operation("glob", ("text", "pattern"), "bool", closures.pattern(globs.glob), "whether the glob matches the path",
              "glob(files.changed[0], 'src/*.py')", call=FUNCTION, any_of=True, parameter=True, weight=5),
    Operation("matches", ("text", "pattern"), "bool", closures.pattern(closures.regexes),
              "whether the regular expression is found in it",
              "matches(branch.name, '^feature/')", call=FUNCTION, any_of=True, parameter=True, weight=10),
    Operation("groups", ("text", "pattern"), "list[str]", closures.pattern(closures.groups),
              "the groups of RE2's first match, `''` for one that takes no part; `[]` without a match",
              "groups(branch.name, '^([a-z]+)/')[0] == 'feature'",
              call=FUNCTION, parameter=True, weight=10),
    # Loops: `NAME(ask for x in LIST if condition)`.
    Operation("any", ("condition",), "bool", logic.some(True), "whether it holds for an item",
              "any(c.insertions > 50 for c in files.changes)", call=LOOP, parameter=True),
    Operation("all", ("condition",), "bool", logic.some(False), "whether it holds for every item, also of none",
              "all(f.endswith('.py') for f in files.changed if f.startswith('src/'))", call=LOOP, parameter=True),
    Operation("count", ("condition",), "int", logic.count, "for how many items it holds; `count(x for x in …)`: of all",
              "count(glob(f, '*.py') for f in files.changed) == 2",
              "count(f for f in files.changed if glob(f, 'src/**')) == 2", call=LOOP, parameter=True, span=_natural),
    Operation("exists_one", ("condition",), "bool", None, "whether it holds for exactly one item",
              "exists_one(f.endswith('.md') for f in files.changed)", call=LOOP, parameter=True),
    Operation("sum", ("number",), "number", logic.total, "the sum over the items, 0 of none",
              "sum(c.insertions for c in files.changes if c.path != 'README.md') == 100", call=LOOP, parameter=True),
    Operation("distinct", ("text",), "list[str]", logic.distinct, "the different texts that the items give, each once",
              "distinct(f.split('/')[0] for f in files.changed if f.endswith('.py')) == ['src']",
              call=LOOP, parameter=True),
    # Methods of texts.
    plain("startswith", ("text", "text or texts"), "bool", str.startswith, "begins with it",
          "any(branch.name.startswith(p) for p in ['feature/', 'fix/'])", call=METHOD, any_of=True),
    plain("endswith", ("text", "text or texts"), "bool", str.endswith, "ends with it",
          "branch.name.endswith(['-1', '-2'])", call=METHOD, any_of=True),
    plain("lower", ("text",), "str", str.lower, "in lower case", "'Fix'.lower() == 'fix'", call=METHOD),
    plain("upper", ("text",), "str", str.upper, "in upper case", "'Fix'.upper() == 'FIX'", call=METHOD),
    plain("strip", ("text", "text"), "str", str.strip, "without blanks, or the characters given, at both ends",
          "'/src/'.strip('/') == 'src'", call=METHOD, least=1),
    plain("split", ("text", "text"), "list[str]", closures.split, "the parts between another text",
          "'2' in 'FEAT-2'.split('-')", call=METHOD),
    plain("replace", ("text", "text", "text"), "str", closures.replace, "with another text in place of each of one",
          "'src/a.py'.replace('src/', 'tests/test_') == 'tests/test_a.py'", call=METHOD),
)}  # fmt: skip
