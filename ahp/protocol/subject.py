"""Whose progress an escalation follows: the issue that a branch names, else the branch (design §1)."""

DETACHED = "detached"


def subject_of(branch: str, issue: str | None = None, session: str | None = None) -> str:
    """The issue id, else the branch, else the agent's session; a detached head without any is `detached`."""
    return issue or issue_in(branch) or branch or session or DETACHED


def issue_in(branch: str) -> str:
    """The issue id that a branch name carries as a word of its own: `FEAT-0123` of `feat/FEAT-0123-login`, else "".

    An id is two to ten capital letters, a hyphen and at least three digits, as issue trackers write them; fewer digits
    would take `UTF-8` for an issue.
    """
    for part in branch.split("/"):
        letters, _, rest = part.partition("-")
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        named = 2 <= len(letters) <= 10 and letters.isascii() and letters.isalpha() and letters.isupper()
        if named and 3 <= len(digits) <= 9 and rest[len(digits) :][:1] in ("", "-", "_", "."):
            return f"{letters}-{digits}"
    return ""
