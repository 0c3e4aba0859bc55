"""Where runs keep their events: `runs/` beside the signal log (design §3)."""

import os
import secrets

from ahp.journal.place import journal_of
from ahp.runner.run.events import FILE, read_events
from ahp.system import clock, files
from ahp.system.errors import AhpError

SCRIPT = "script.yaml"


def folder(root: str) -> str:
    """The folder of all runs of the project at `root`."""
    return os.path.join(journal_of(root).folder, "runs")


def new_id() -> str:
    """A name for a run, in the order of time: `20260209-100000-3f2a`."""
    stamp = clock.iso(clock.now())
    return f"{stamp[:10].replace('-', '')}-{stamp[11:19].replace(':', '')}-{secrets.token_hex(2)}"


def events_path(root: str, run_id: str) -> str:
    """Where the events of a run are."""
    return os.path.join(folder(root), run_id, FILE)


def kept_script(root: str, run_id: str) -> str | None:
    """The script of a run; None when a model carried it out."""
    path = os.path.join(folder(root), run_id, SCRIPT)
    return path if os.path.isfile(path) else None


def keep_script(root: str, run_id: str, path: str) -> None:
    """Copies the script at `path` to where a resumed run looks for it. Raises AhpError."""
    data = files.read(path)
    if data is not None:
        files.replace(os.path.join(folder(root), run_id, SCRIPT), data)


def find(root: str, prefix: str) -> str:
    """The id of the run that begins so; "" is the last one. Raises AhpError for none or several."""
    found = [run_id for run_id in ids(root) if run_id.startswith(prefix)]
    if not found:
        raise AhpError(f"there is no run {prefix!r}; see `ahp agent list`" if prefix else "there are no runs yet")
    if len(found) > 1 and prefix and prefix not in found:
        raise AhpError(f"several runs begin with {prefix!r}: {', '.join(found[:5])}")
    return prefix if prefix in found else found[-1]


def ids(root: str) -> list[str]:
    """The ids of all runs, oldest first."""
    place = folder(root)
    if not os.path.isdir(place):
        return []
    return sorted(name for name in os.listdir(place) if os.path.isfile(os.path.join(place, name, FILE)))


def summary(root: str, run_id: str) -> dict[str, str]:
    """One run as a list shows it: `{id, started, task, stop_reason}`.

    `stop_reason` is "" while it goes on or when it was killed, UNREADABLE when its events cannot be read.
    """
    try:
        events = read_events(events_path(root, run_id))
    except AhpError as error:
        return {"id": run_id, "started": "", "task": str(error), "stop_reason": "UNREADABLE"}
    first, last = (events[0], events[-1]) if events else ({}, {})
    told = {"started": first.get("at"), "task": first.get("task"), "stop_reason": last.get("stop_reason")}
    return {"id": run_id, **{name: str(value or "") for name, value in told.items()}}
