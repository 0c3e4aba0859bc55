"""JSON without the `json` package, whose import costs more than judging a quiet commit (design §12)."""

from _json import encode_basestring, make_encoder, make_scanner

_DEPTH = 64


class _Context:
    """What the C scanner asks of its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012  # the scanner clears it after each call

    @staticmethod
    def parse_constant(name: str) -> object:
        raise ValueError(f"{name} is not JSON")


_scan = make_scanner(_Context)  # type: ignore[arg-type]


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
    """One line of JSON with `, ` and `: ` as in seed 002 §6.2; only lone surrogates and line separators are escaped.

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
    # Line separators of Unicode would cut a line for some readers of JSON lines.
    return text.replace("\x85", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _is_deeper(value: object, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    return inner is not None and (depth == 0 or any(_is_deeper(item, depth - 1) for item in inner))


def _refuse(value: object) -> object:
    raise ValueError(f"a {type(value).__name__}")


_chunks = make_encoder(None, _refuse, encode_basestring, None, ": ", ", ", False, False, False)
