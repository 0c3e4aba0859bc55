"""Line ends of files that tools change: what is put in ends its lines as the others do."""


def line_ends(text: str) -> str:
    """What every line of a text ends with: CR LF, or else LF."""
    return "\r\n" if "\r\n" in text and "\n" not in text.replace("\r\n", "") else "\n"
