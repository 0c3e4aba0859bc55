"""Long text by its beginning and its end."""


def excerpt(text: str, kept: int) -> str:
    """`text` with at most `kept` of its characters, half from each end, and a word on how many were left out."""
    if len(text) <= kept:
        return text
    head = kept - kept // 2
    tail = text[len(text) - kept // 2 :]
    return f"{text[:head]}\n[… {len(text) - kept} of {len(text)} characters left out …]\n{tail}"
