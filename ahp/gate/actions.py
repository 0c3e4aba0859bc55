"""Control actions: what a rule changes instead of refusing (design §4; seed 002 §2.2 modifications)."""

from ahp.facts import commit, tool
from ahp.facts import commit_message as messages
from ahp.protocol.event import Event
from ahp.protocol.text import one_line, trim
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.policy.program import Action

MESSAGE = "commit.message"
CLEAN = "its action changes nothing: all is as it would have it"
ELSEWHERE = "its fixer runs only where the commit is made"
_INPUT = "tool.input."
_SHOWN = 1000


class CannotApply(AhpError):
    """The host or the target does not take this change; the rule refuses and says what to change."""


def modify(action: "Action", event: Event, reason: str) -> tuple[dict[str, object], Event] | None:
    """The modification `{target, original, updated, reason}` and the event after it; None when nothing would change.

    Raises CannotApply.
    """
    target = action.target or ""
    original = _value(event, target)
    updated = _updated(action, original, target)
    if updated == original:
        return None
    shown = {"target": target, "original": _shown(original), "updated": _shown(updated), "reason": reason}
    return shown, _with(event, target, updated)


def split(size: int, paths: list[str], reason: str) -> dict[str, object]:
    """The answer of `split_suggestion`: the sizes as a modification, and the batches of `size` files, by folder."""
    ordered = sorted(paths)
    batches = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return {
        "target": "batch_size",
        "original": len(paths),
        "updated": size,
        "reason": reason,
        "batches": [[one_line(path, 500) for path in batch] for batch in batches],
    }


def _value(event: Event, target: str) -> object:
    if target == MESSAGE and event.draft is not None:
        return event.draft.decode("utf-8", "surrogateescape")
    if target.startswith(_INPUT) and event.tool is not None:
        value = event.tool.get("input")
        for name in target.removeprefix(_INPUT).split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value
    raise CannotApply(f"{target} is not something that this action has")


def _with(event: Event, target: str, value: object) -> Event:
    """The event with one thing changed; the one it came from stays as it was."""
    if target == MESSAGE:
        given = event.given
        if given is not None and "commit" in given:  # given facts of the message are those of the new one
            given = {**given, "commit": {**given["commit"], **commit.parts(str(value))}}
        return event.but(draft=str(value).encode("utf-8", "surrogateescape"), given=given)
    assert event.tool is not None
    arguments = _put(event.tool.get("input"), target.removeprefix(_INPUT), value)
    return tool.changed(event, arguments)


def _put(given: object, path: str, value: object) -> dict[str, object]:
    """A copy of the mapping `given` with `value` at a dotted path; mappings that lack on the way are made."""
    name, _, rest = path.partition(".")
    kept = dict(given) if isinstance(given, dict) else {}
    kept[name] = _put(kept.get(name), rest, value) if rest else value
    return kept


def _updated(action: "Action", original: object, target: str) -> object:
    kind = action.type
    if kind == "set":
        return action.value
    if kind == "append":
        if isinstance(original, list):
            return [*original, action.value]
        if target == MESSAGE:
            return _appended(str(original), str(action.value))
        return ("" if original is None else str(original)) + str(action.value)
    if kind == "clamp":
        if isinstance(original, bool) or not isinstance(original, int | float):
            raise CannotApply(f"{target} is not a number, so it cannot be clamped")
        if action.min is not None and original < action.min:
            return action.min
        return action.max if action.max is not None and original > action.max else original
    if kind == "replace":
        if not isinstance(original, str):
            raise CannotApply(f"{target} is not a text, so nothing in it can be replaced")
        import re2

        return re2.compile(action.pattern or "").sub(action.with_ or "", original)
    from ahp.system import wings

    place = wings.added("actions").get(kind)
    if place is None or action.more is None:
        raise CannotApply(f"no installed package adds the action {kind}")
    try:
        return wings.load(place, "actions").change(original, action.more)
    except ValueError as error:
        raise CannotApply(f"{kind} cannot change {target}: {one_line(error, 200)}") from None


def _appended(draft: str, text: str) -> str:
    """A commit message with `text` before git's comments and the diff of `commit --verbose`.

    It stands on a line of its own: never in the subject's paragraph, and a trailer only beside other trailers, as
    `git interpret-trailers` puts it.
    """
    lines = draft.split("\n")
    end = next((at for at, line in enumerate(lines) if line[1:] == " " + messages.SCISSORS), len(lines))
    mark = lines[end][0] if end < len(lines) else "#"
    while end and (not lines[end - 1].strip() or lines[end - 1].startswith(mark)):
        end -= 1
    said, rest = lines[:end], lines[end:]
    message = "\n".join(line for line in said if not line.startswith(mark))
    is_trailer = messages.trailers(f"subject\n\n{text}")
    joins = messages.trailers(message) if is_trailer else messages.split(message)[1]
    gap = [] if joins or not message.strip() else [""]
    return "\n".join([*said, *gap, text, *(rest or [""])])


def _shown(value: object) -> object:
    return trim(value, _SHOWN) if isinstance(value, str) else value
