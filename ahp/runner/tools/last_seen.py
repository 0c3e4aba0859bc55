"""What a run's tools last saw in files: writing one whole must not undo what somebody else has saved since."""

from ahp.runner.tools import project_files
from ahp.system import digest
from ahp.system.errors import AhpError


class LastSeen:
    """The files of one project folder by their places, as `project_files.resolve` gives them."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def note(self, place: str, data: bytes) -> None:
        """A tool has shown the model these bytes of the file, or written them for it."""
        self._digests[place] = digest.sha256(data)

    def follow(self, place: str, before: bytes, after: bytes) -> None:
        """A tool has changed a part of the file: what else was in it is as well known as it was."""
        if self._digests.get(place) == digest.sha256(before):
            self.note(place, after)

    def check(self, root: str, place: str, path: str) -> None:
        """Raises AhpError where the file holds something else than was noted; nothing was noted of most files."""
        known = self._digests.get(place)
        if known is None or not project_files.exists(root, place):
            return
        if digest.sha256(project_files.read(root, place)) != known:
            raise AhpError(
                f"{path} has changed since you last read or wrote it, by a command or by somebody else; nothing was "
                "written. Read it again and keep what is new"
            )
