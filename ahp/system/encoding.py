"""Whether a file is text, and in which encoding: one NUL makes no text binary, and UTF-16 is text.  [light]"""

LOOKED_AT = 8000  # bytes in which git looks for a NUL
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))
_SOME = 20  # one such byte in so many is still text
_NULS = 4  # the same of NUL bytes
_MARKS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_WIDE = ((b"\xff\xfe\0\0", "utf-32-le", 0), (b"\0\0\xfe\xff", "utf-32-be", 3))


def of(head: bytes) -> str:
    """`utf-8`, `utf-16-` or `utf-32-` with `le` or `be`, or "" for what is no text, by the first bytes of a file.

    Without a NUL it is text, as git has it. With some it is where little but text is left without them, or where every
    other byte is one, or three of four.
    """
    head = head[:LOOKED_AT]
    if b"\0" not in head:
        return "utf-8"
    for mark, name, own in _WIDE:
        rest = [head[at::4] for at in range(4) if at != own]
        if head.startswith(mark) or (
            len(head) >= 8 and not any(one.strip(b"\0") for one in rest) and _is_text(head[own::4])
        ):
            return name
    for mark, name in _MARKS:
        if head.startswith(mark) and head[2:4] != b"\0\0":
            return name
    half = len(head) // 2
    if half >= 2:
        for name, high, low in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
            if high.count(0) * 10 >= half * 9 and not low.count(0) and _is_text(low):
                return name
    return "utf-8" if head.count(0) * _NULS <= len(head) and _is_text(head.replace(b"\0", b"")) else ""


def _is_text(head: bytes) -> bool:
    """Whether hardly a byte is a control character, and nearly all are UTF-8."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    strange = head.decode("utf-8", "replace").count("\ufffd")
    return (controls + strange) * _SOME <= len(head)


def decoded(data: bytes, encoding: str) -> str:
    """The text of a file in UTF-16 or UTF-32, without its mark; half a character at its end, and what is none, is
    replaced.
    """
    return data.decode(encoding, "replace").removeprefix("\ufeff")
