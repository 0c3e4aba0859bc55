"""Variables of a script, and what `${X…}` makes of them (bash(1), Parameter Expansion)."""

from ahp.agents.shell.marks import ANYTHING, Marks, Unknown, is_known, literal
from ahp.system.regex import DOTALL, MULTILINE, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Value = str | list[str]
"""A text, in which marks stand for what is not known, or the items of an array or of the arguments."""

_MOST = 1 << 10
_BRACED = regex(r"\$\{([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!_-])(?:\[([^\]]*)\])?(.*)\}", DOTALL)
_OPERATION = regex(r"(:?[-=?+]|##?|%%?|//?|:|\^\^?|,,?|@)(.*)", DOTALL)
_GLOB = regex(r"[*?\[\\]")
_PLACES = {"HOME": "~", "PWD": ".", "TMPDIR": "/tmp"}  # noqa: S108
_VARIABLE = regex(r"(\$\{?)?\b([A-Za-z_]\w*)")
# `eval`, `. FILE`; words that are taken apart otherwise; a name with quotes in it: `export A"B"=c`.
_SETS_UNSEEN = regex(r"\b(?:eval|source|IFS|select)\b|(?:^|[\s;&|({])\.\s|\w['\"\\]+\w*['\"]*\+?=", MULTILINE)
_ONE_WORD = regex(r"[\w./@+~][\w./@+~-]*")
# Numbers and names that the shell sets itself: never an option, never two words.
_SET_BY_THE_SHELL = "# ? $ ! RANDOM SECONDS LINENO UID EUID PPID BASHPID HOSTNAME OSTYPE HOSTTYPE SHLVL"
_HARMLESS = frozenset(_SET_BY_THE_SHELL.split())


def only_read(script: str, environment: "Mapping[str, str] | None") -> dict[str, str]:
    """The variables that a script names, each time behind a `$`, and their values outside of it; "" where it has none.

    A name that stands anywhere else may be set there, also for a command alone or in the next round of a loop; so may
    any in a text that is not seen here.
    """
    if environment is None or "$" not in script or _SETS_UNSEEN.search(script):
        return {}
    named = _VARIABLE.findall(script)
    others = {name for sign, name in named if not sign}
    return {name: environment.get(name, "") for sign, name in named if sign and name not in others}


class Variables:
    """What the script has set so far. A name that it gives two different values is not known from then on.

    `environment` is what the variables hold that the script does not set. It tells programs, not what is written: the
    shell that runs the script may have others.
    """

    def __init__(self, marks: Marks, environment: dict[str, str] | None = None) -> None:
        self._marks = marks
        self._environment = environment or {}
        self._values: dict[str, Value | None] = {"IFS": " \t\n"}
        self.exported: dict[str, str] = {}
        """What later commands find in their environment."""
        self.globs_hidden = False
        """Whether `*` has been made to match hidden names, too: `shopt -s dotglob`."""

    def set(self, name: str, value: Value, appends: bool = False) -> None:
        """`NAME=value`."""
        size = len(value) if isinstance(value, str) else sum(map(len, value))
        known = value if not appends and size <= _MOST else None
        self._values[name] = known if self._values.get(name, known) == known or name == "IFS" else None

    def has(self, name: str) -> bool:
        """Whether the script has given it a value."""
        return name in self._values and name != "IFS"

    def bind(self, name: str, value: Value | None) -> None:
        """The value of a loop variable or an argument: the former one does not matter."""
        self._values[name] = value

    def forget_environment(self, name: str = "") -> None:
        """Something else may have set the variable, or any of them."""
        if name in self._environment or not name:
            self._environment = {kept: value for kept, value in self._environment.items() if name and kept != name}

    def export(self, name: str, value: str) -> None:
        """`export NAME=value`."""
        self.exported[name] = value

    def give(self, assignments: "Iterable[str]") -> list[str]:
        """`NAME=value` before a command, as what it runs finds them; returns the names."""
        names = []
        for name, _, value in (one.partition("=") for one in assignments):
            is_told = not is_known(value) or not any(sign in value for sign in "$`")
            self.bind(name, value if is_told else self._mark(value, "outside", False))
            self.export(name, value)
            names.append(name)
        return names

    def take_back(self, names: "Iterable[str]", exported: dict[str, str]) -> None:
        """Those names as they were exported before."""
        for name in names:
            self.exported.pop(name, None)
        self.exported |= {name: exported[name] for name in names if name in exported}

    def copy(self) -> dict[str, Value | None]:
        """The values, to be given back to `restore`."""
        return dict(self._values)

    def restore(self, values: dict[str, Value | None], names: "Iterable[str]" = ()) -> None:
        """Forgets what was set since, or what was set of `names`."""
        for name in names:
            self._values.pop(name, None)
        self._values = self._values | {name: values[name] for name in names if name in values} if names else values

    def expand(self, raw: str, quoted: bool) -> Value:
        """What `$X` or `${X…}` stands for; a list where it stands for several words even between quotes."""
        found = _BRACED.fullmatch(raw)
        prefix, name, index, rest = found.groups() if found else ("", raw[1:], None, "")
        value = self._values.get(name)
        if name not in self._values:
            return self._outside(raw, name, rest, quoted, plain=not prefix and index is None)
        if prefix == "!" and isinstance(value, str) and value.isidentifier() and not rest:
            return self.expand(f"${{{value}}}", quoted)
        if isinstance(value, list):
            value = _item(value, index, name)
        if value is None or prefix:
            return self._mark(raw, "script", quoted)
        if not rest:
            return value if isinstance(value, list) else self._marks.quoted(value, quoted)
        return self._operated(raw, value, rest, quoted)

    def separated(self, value: str) -> str:
        """A value with blanks where the script's own IFS ends words."""
        separators = self._values["IFS"]
        for sign in separators if isinstance(separators, str) and is_known(separators) else "":
            value = value if sign.isspace() else value.replace(sign, " ")
        return value

    def _outside(self, raw: str, name: str, rest: str, quoted: bool, plain: bool) -> str:
        operation = _OPERATION.fullmatch(rest)
        given = operation[2] if operation and operation[1].lstrip(":") in ("-", "=", "+") else ""
        word = self._word_outside(name, operation[1] if operation else rest, given) if plain else ""
        if name in _PLACES and not given:
            return self._mark(raw, "outside", quoted, _PLACES[name] if not rest else ANYTHING, word)
        chosen = given.lstrip("\"'\\").startswith(("-", "$", "`"))  # `${X:--n}` is an option where X is not set
        several = name in ("@", "*") and not (name == "*" and quoted)
        is_one = name in _HARMLESS or (quoted and not several)
        return self._mark(raw, "script" if chosen else "outside", is_one, name=word)

    def _word_outside(self, name: str, sign: str, given: str) -> str:
        """The one word that a variable of the environment holds, or that stands in for it where it is not set."""
        if sign not in ("", "-", ":-", "=", ":=", "?", ":?"):
            return ""
        value = (self._environment[name] or given) if name in self._environment else ""
        return value if _ONE_WORD.fullmatch(value) else ""

    def _operated(self, raw: str, value: Value, rest: str, quoted: bool) -> Value:
        operation = _OPERATION.fullmatch(rest)
        sign, operand = (operation[1], operation[2]) if operation else ("", "")
        if sign.lstrip(":") in ("-", "=", "?") and sign and value:
            return value
        text = value if isinstance(value, str) else ""
        result = _computed(text, sign, operand) if isinstance(value, str) and is_known(text) else None
        if result is not None:
            return result
        origins = {part.origin for part in self._marks.of(text)}
        origin = "outside" if origins == {"outside"} else "script"
        kept = self._marks.pattern(text).rpartition("/")[0] if sign in ("%", "%%") and text else ""
        return self._mark(raw, origin, quoted, f"{kept}/{ANYTHING}" if kept else ANYTHING)

    def _mark(self, source: str, origin: str, quoted: bool, pattern: str = ANYTHING, name: str = "") -> str:
        return self._marks.mark(Unknown(source, origin, quoted, pattern, name))


def _item(items: list[str], index: str | None, name: str) -> Value | None:
    if name in ("@", "*") or index in ("@", "*"):
        return items
    place = index or "0"
    return items[int(place)] if place.isdigit() and int(place) < len(items) else "" if place.isdigit() else None


def _computed(value: str, sign: str, operand: str) -> str | None:
    """The result of an operation on a known text; None where it takes more than plain text to tell."""
    if _GLOB.search(operand) or not operand.isascii() or any(char in operand for char in "$`\"'"):
        return None
    if sign in ("#", "##"):
        return value.removeprefix(operand)
    if sign in ("%", "%%"):
        return value.removesuffix(operand)
    if sign in ("/", "//"):
        old, _, new = operand.partition("/")
        return value.replace(old, new, -1 if sign == "//" else 1) if old and old[0] not in "#%" else None
    if sign == ":":
        start, _, length = operand.partition(":")
        if not start.isdigit() or (length and not length.isdigit()):
            return None
        return value[int(start) :][: int(length) if length else None]
    if sign in ("^^", ",,") and not operand:
        return value.upper() if sign == "^^" else value.lower()
    return literal(value) if sign in (":+", "+") and not value else None
