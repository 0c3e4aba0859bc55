"""Expected errors: each carries a sentence for the person or agent who reads it.  [light]"""


class AhpError(Exception):
    """Something the user can mend; its text says what is wrong, where, and what to do. Exit code 2 (design §10)."""


class Timeout(AhpError):
    """A time budget was used up: a process, a lock or a whole decision (design §11)."""

    printed = b""  # what a program that was ended had printed until then


class OutputLimit(AhpError):
    """A program printed more than it may (design §11)."""

    printed = b""  # what it had printed until it was ended


class LostDependency(AhpError):
    """A library that ahp needs is gone, or another version took its place, as where other programs share it."""

    def __init__(self, error: Exception) -> None:
        from ahp.system import libraries

        found = libraries.problems()
        told, mends = [problem for problem, _ in found], [mend for _, mend in found] or [libraries.reinstall()]
        if isinstance(error, ImportError):
            told.insert(0, f"Python cannot import {error.name}, which ahp needs ({error})")
        else:
            told.append(f"so this failed: {type(error).__name__}: {error}")
        apart = "pipx or uv tool installs ahp where no other package replaces what it needs"
        super().__init__(f"{'; '.join(told)}; fix: {' && '.join(mends)}; {apart}")


class Incomplete(AhpError):
    """A file of ahp's own is gone."""

    def __init__(self, file: str) -> None:
        from ahp.system import installed

        super().__init__(f"this installation of ahp lacks {file}; fix: {installed.command()}")


def lost_dependency(error: BaseException) -> LostDependency | None:
    """What an error that nobody expected means where a library is not what ahp needs; None where all of them are."""
    if isinstance(error, ImportError) and error.name and error.name.partition(".")[0] != "ahp":
        return LostDependency(error)
    if isinstance(error, AhpError | OSError) or not isinstance(error, Exception):
        return None
    from ahp.system import libraries

    return LostDependency(error) if libraries.problems() else None


class Unknown(AhpError):
    """What changed cannot be told from the objects that are here: never the same as nothing (authority §3).

    `reason` is half a sentence for people, `command` what they run to have it told, "" when no command helps.
    """

    def __init__(self, reason: str, command: str = "") -> None:
        super().__init__(f"{reason}; fix: {command}" if command else reason)
        self.reason, self.command = reason, command
