"""What the event judges, typed for the collectors; outside a repository there is no change, and that is not unknown."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event
    from ahp.system.change import FileChange
    from ahp.system.git import Repository
    from ahp.system.view import View


def view_of(event: "Event") -> "View | None":
    """The state that is judged; None outside a repository and for a tool call that touches no file."""
    view: View | None = event.view  # type: ignore[assignment]  # the floor of events knows no views
    return view


def repository_of(event: "Event") -> "Repository | None":
    """The repository of the event, None outside one."""
    repository: Repository | None = event.repo  # type: ignore[assignment]
    return repository


def entries_of(event: "Event") -> "list[FileChange]":
    """The changed files; none where nothing can have changed. Raises GitError, AhpError."""
    view = view_of(event)
    return [] if view is None else view.change().entries
