"""JSON without the `json` package, whose import costs more than judging a quiet commit (design §12).  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> "Any":
        """Tells the type checker which keywords a record takes."""
        return lambda record: record


_DEPTH = 64
_INFINITY = float("inf")
# C1 controls, line separators, marks that turn the reading order, characters without a width.
_HIDDEN = (
    *map(chr, range(0x80, 0xA0)),
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
)


@dataclass_transform(kw_only_default=True)
class Record:
    """Plain data whose JSON form is the list of its fields: `encode` writes it, `of` makes it again.

    A subclass names its `fields`, annotates each, and has them as slots; slots beyond them belong to this process
    alone and begin as None. `parts` are the fields that are records themselves: a class, a list with a class for a list
    of such, `{str: class}` for a mapping.
    """

    fields: "ClassVar[tuple[str, ...]]" = ()
    parts: "ClassVar[dict[str, Any]]" = {}  # noqa: RUF012  # never changed
    __slots__: "tuple[str, ...]" = ()

    def __init__(self, **given: object) -> None:
        if given.keys() != set(self.fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.fields)}; given were {', '.join(given)}")
        for name in self.__slots__:
            setattr(self, name, given.get(name))

    def but(self, **changes: object) -> "Self":
        """A copy with some of it changed."""
        made = type(self).__new__(type(self))
        for name in self.__slots__:
            setattr(made, name, changes[name] if name in changes else getattr(self, name))
        return made

    @classmethod
    def of(cls, values: object) -> "Self":
        """The record of a decoded list. Raises ValueError for anything else than a list of so many values."""
        if not isinstance(values, list) or len(values) != len(cls.fields):
            raise ValueError(f"not the {len(cls.fields)} fields of a {cls.__name__}")
        made = cls.__new__(cls)
        for name, value in zip(cls.__slots__, values + [None] * (len(cls.__slots__) - len(values)), strict=True):
            setattr(made, name, value)
        for name, kind in cls.parts.items():
            setattr(made, name, _parts(kind, getattr(made, name)))
        return made


def _parts(kind: "Any", value: "Any") -> object:
    if value is None:
        return None
    if isinstance(kind, list):
        return [kind[0].of(item) for item in value]
    return {key: kind[str].of(item) for key, item in value.items()} if isinstance(kind, dict) else kind.of(value)


class _Context:
    """What the C scanner asks of its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012  # the scanner clears it after each call

    @staticmethod
    def parse_float(text: str) -> float:
        number = float(text)
        if number in (_INFINITY, -_INFINITY):
            raise ValueError(f"{text[:40]} is too large for a number")
        return number

    @staticmethod
    def parse_constant(name: str) -> object:
        raise ValueError(f"{name} is not JSON")


def decode(text: str) -> object:
    """The value of one JSON text. Raises ValueError for anything else, too deep nesting included."""
    start = 0
    while text[start : start + 1] in (" ", "\t", "\r", "\n") and start < len(text):
        start += 1
    try:
        value, end = _scan(text, start)
    except StopIteration as stop:
        raise ValueError(f"not JSON at character {stop.value}") from None
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    except SystemError:  # before 3.12 the scanner finds no error to raise unless `json.decoder` happens to be loaded
        raise ValueError("not JSON: it is cut") from None
    if text[end:].strip(" \t\r\n"):
        raise ValueError(f"text after the JSON value at character {end}")
    return value


def encode(value: object) -> str:
    """One line of JSON with `, ` and `: ` as in seed 002 §6.2; escaped are lone surrogates and what is not seen.

    Raises ValueError for NaN, infinities, values that JSON lacks, and nesting beyond 64.
    """
    try:
        text = "".join(_chunks(value, 0))
    except RecursionError:
        raise ValueError("value nested too deeply for JSON") from None
    except (TypeError, ValueError) as error:  # a key, a number or a value that JSON lacks
        raise ValueError(f"no JSON form: {error}") from None
    # Few values have that many brackets; only they are walked.
    if text.count("[") + text.count("{") > _DEPTH and _is_deeper(value, _DEPTH):
        raise ValueError("value nested too deeply for JSON")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # File names may hold bytes that are no UTF-8; as \udcXX they survive the log and come back byte for byte.
        text = "".join([f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text])
    return visible(text)


def visible(text: str) -> str:
    """JSON text with what a terminal would obey or an eye would miss written as escapes; it means the same."""
    for c in () if text.isascii() else _HIDDEN:
        if c in text:
            text = text.replace(c, f"\\u{ord(c):04x}")
    return text


def _is_deeper(value: object, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    return inner is not None and (depth == 0 or any(_is_deeper(item, depth - 1) for item in inner))


def _plain(value: object) -> object:
    if isinstance(value, Record):
        return [getattr(value, name) for name in value.fields]
    raise ValueError(f"a {type(value).__name__}")


def _engines() -> "tuple[Any, Any]":
    """What reads the value at a place of a text, and what writes one in chunks; of `json` where its own are others."""
    try:
        from _json import encode_basestring, make_encoder, make_scanner

        scan = make_scanner(_Context)  # type: ignore[arg-type]
        chunks = make_encoder(None, _plain, encode_basestring, None, ": ", ", ", False, False, False)
        if "".join(chunks({"é": [1.5, None]}, 0)) == '{"é": [1.5, null]}':
            return scan, chunks
    except (ImportError, AttributeError, TypeError):  # such as a scanner that asks its decoder for more
        pass
    from json import JSONDecoder, JSONEncoder

    reader = JSONDecoder(parse_float=_Context.parse_float, parse_constant=_Context.parse_constant)
    writer = JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, default=_plain)
    return reader.raw_decode, lambda value, _: (writer.encode(value),)


_scan, _chunks = _engines()
