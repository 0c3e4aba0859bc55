"""One line of what `ahp doctor` tells."""

from typing import NamedTuple

FIX = "ahp doctor --fix"


class Check(NamedTuple):
    """What was looked at: `status` is ok, note or wrong; `mend` a command or a sentence for a person.

    `ours`: `ahp doctor --fix` can mend it.
    """

    name: str
    status: str
    detail: str
    mend: str = ""
    ours: bool = False
