"""What can be wrong with a ticket, always with the place."""

from ahp.protocol.text import one_line
from ahp.system.errors import AhpError


class TicketError(AhpError):
    """A ticket that cannot be read or changed: `path:line: what is wrong` (lines from 1; 0 means the whole file).

    An empty `path` means that no single file is at fault.
    """

    def __init__(self, path: str, line: int, what: str) -> None:
        place = one_line(path) + (f":{line}" if line else "")
        super().__init__(f"{place}: {what}" if path else what)
        self.path, self.line, self.what = path, line, what


class NoTicket(TicketError):
    """No ticket file carries the id that was asked for."""
