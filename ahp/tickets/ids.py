"""Issue ids: `FEAT-0001`, alone, in a file name, in a branch name, in a reference."""

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")


def leading(text: str) -> str:
    """The id that `text` begins with, upper case, or "": `feat-0001-login` gives `FEAT-0001` (Monoco's branch rule).

    An id is ASCII letters and digits, a hyphen, digits, and then anything that is neither letter nor digit.
    """
    prefix, hyphen, rest = text[:80].partition("-")
    upper = prefix.upper()
    if not hyphen or not prefix.isascii() or upper[:1] not in _LETTERS or not set(upper) <= _LETTERS | _DIGITS:
        return ""
    count = 0
    while count < len(rest) and rest[count] in _DIGITS:
        count += 1
    if not count or (count < len(rest) and rest[count].isalnum()):
        return ""
    return f"{upper}-{rest[:count]}"


def exact(text: str) -> str:
    """The id that `text` is, upper case, or "" when it is none."""
    found = leading(text)
    return found if len(found) == len(text) else ""


def of_file(path: str) -> str:
    """The id in the file name of a ticket, or "": `Issues/Features/open/FEAT-0001-登录.md` gives `FEAT-0001`."""
    name = path.rpartition("/")[2]
    return leading(name[:-3]) if name.endswith(".md") else ""


def of_branch(name: str) -> str:
    """The id a branch is about, or "": `FEAT-0001-login` (Monoco) and `feat/FEAT-0001-login`."""
    return leading(name.rpartition("/")[2])


def reference(text: str) -> tuple[str, str]:
    """Project and id of a reference: `#FEAT-1` is ("", "FEAT-1"), `lab::FEAT-1` is ("lab", "FEAT-1").

    ("", "") when the text refers to no ticket (`config:db`).
    """
    project, colons, rest = text.strip().removeprefix("#").rpartition("::")
    found = exact(rest)
    return ("", "") if not found or (colons and not project) else (project, found)
