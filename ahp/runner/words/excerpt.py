"""Text from outside made short: long text by its beginning and its end, errors on one line."""

from ahp.protocol.text import one_line


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
