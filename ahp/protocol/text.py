"""Text from outside, made safe to show: one line, bounded, nothing that moves a cursor or turns the order.  [light]"""

AGENT_LIMIT = 600  # characters that an agent is told at once
_AFTER_HOST = frozenset("/?#\\ \t\r\n\"'<>`")
_BIDI = frozenset("\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")


def one_line(value: object, limit: int = 200) -> str:
    """`value` on one line of at most `limit` characters, without control, bidi or undecodable ones (design §9).

    Of addresses it has no user and no password.
    """
    text = without_credentials(value if isinstance(value, str) else str(value))
    if not (text.isprintable() and text.isascii()):
        text = "".join([_shown(c) for c in text[: limit * 4]])
    return trim(text, limit)


def without_credentials(text: str) -> str:
    """`text` without the user and password of each address in it: what is shown and logged tells no secret."""
    if "://" not in text or "@" not in text:
        return text
    first, *rest = text.split("://")
    return "://".join([first, *map(_without_user, rest)])


def _without_user(address: str) -> str:
    end = next((at for at, c in enumerate(address) if c in _AFTER_HOST), len(address))
    return address[:end].rpartition("@")[2] + address[end:]


def repository_name(address: str) -> str:
    """`host/path` of an address of git, which tells no secret: no user, password, port, query or `.git`."""
    _, scheme, plain = without_credentials(address).rpartition("://")
    if not scheme and ":" in plain:
        plain = plain.rpartition("@")[2].replace(":", "/", 1)
    host, _, path = plain.partition("?")[0].partition("/")
    return one_line(f"{host.partition(':')[0].lower()}/{path}".strip("/").removesuffix(".git"))


def trim(text: str, limit: int) -> str:
    """At most `limit` characters; what was cut is marked by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _shown(c: str) -> str:
    if c in "\n\r\t":
        return " "
    if c in _BIDI or not (c.isprintable() or c == " "):
        return "\ufffd"
    return c


def excerpt(text: str, kept: int) -> str:
    """`text` with at most `kept` of its characters, half from each end, and a word on how many were left out."""
    if len(text) <= kept:
        return text
    head = kept - kept // 2
    tail = text[len(text) - kept // 2 :]
    return f"{text[:head]}\n[… {len(text) - kept} of {len(text)} characters left out …]\n{tail}"


def failure(error: BaseException) -> str:
    """What code from outside raised, on one line, whatever its text does when it is asked for."""
    try:
        return f"{type(error).__name__}: {one_line(error, 500)}"
    except Exception:  # noqa: BLE001  # the bug is theirs, and the type tells enough of it
        return type(error).__name__
