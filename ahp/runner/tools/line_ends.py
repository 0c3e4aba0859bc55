"""Line ends of files that tools change: what is put in ends its lines as the others do."""


def line_ends(text: str) -> str:
    """What every line of a text ends with: CR LF, or else LF."""
    return "\r\n" if "\r\n" in text and "\n" not in text.replace("\r\n", "") else "\n"


def lines_of(text: str) -> list[str]:
    """Lines with their ends, by newlines alone, as git and editors number them.

    `str.splitlines` also parts at form feeds and the like.
    """
    parts = text.split("\n")
    return [*(part + "\n" for part in parts[:-1]), *([parts[-1]] if parts[-1] else [])]
