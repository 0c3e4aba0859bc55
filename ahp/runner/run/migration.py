"""Events of former versions of ahp in the form of this one, so that a run can be resumed after an upgrade."""

from collections.abc import Callable

from ahp.runner.run.events import VERSION, Event
from ahp.system.errors import AhpError


def _from_2(event: Event) -> Event:
    """Version 3: several calls a reply, what the work tree's policy was, what the files held when last looked at."""
    added: dict[str, Event] = {
        "run_start": {"policy": None},
        "run_resume": {"changed": []},
        "tool_call": {"id": "", "left": 0},
    }
    return {**added.get(event["event"], {}), **event}


def _from_3(event: Event) -> Event:
    """Version 4: steps that run beside each other, which version 3 had none of."""
    return event


# By the version that an event has; each makes one of the next version.
_STEPS: dict[int, Callable[[Event], Event]] = {2: _from_2, 3: _from_3}


def version_of(start: Event) -> int:
    """In which form the events behind a `run_start` or `run_resume` are. Raises AhpError for an unknown one."""
    version = start.get("version", 2)  # which wrote none into `run_resume`
    if version in _STEPS or version == VERSION:
        return int(version)
    newer = isinstance(version, int) and version > VERSION
    told = "; resume it with that one" if newer else ""
    raise AhpError(f"its events are of version {version}, of {'a newer' if newer else 'another'} ahp{told}")


def upgraded(event: Event, version: int) -> Event:
    """An event of that version as this ahp writes it."""
    for number in range(version, VERSION):
        event = _STEPS[number](event)
    return event
