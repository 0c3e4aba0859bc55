"""Expected errors: each carries a sentence for the person or agent who reads it."""


class AhpError(Exception):
    """Something the user can mend; its text says what is wrong, where, and what to do. Exit code 2 (design §10)."""


class Timeout(AhpError):
    """A time budget was used up: a process, a lock or a whole decision (design §11)."""
