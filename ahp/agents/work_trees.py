"""To which work tree a path belongs."""

import os
import stat


def top_of(path: str) -> str:
    """The folder above `path`, or itself, that holds a `.git`; "" for none. What follows a wildcard does not count."""
    known = []
    for part in path.split("/"):
        if any(sign in part for sign in "*?["):
            break
        known.append(part)
    while len(known) > 1:
        folder = "/".join(known)
        try:
            os.lstat(f"{folder}/.git")
            return folder if stat.S_ISDIR(os.lstat(folder).st_mode) else ""
        except OSError:
            known.pop()
    return ""
