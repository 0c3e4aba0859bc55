"""Fixers: the commands of control rules, run on what is staged of the files that the rules match (design §4).

What they change is judged again. The host puts it into the index and the work tree when the commit is allowed.
"""

import os
from collections.abc import Collection, Iterator

from ahp.facts import command_facts
from ahp.facts.registry import Command
from ahp.gate import rendering
from ahp.gate.actions import CLEAN
from ahp.gate.candidate import Candidate
from ahp.policy import trust
from ahp.policy.program import FIXED_AT
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import change as changes
from ahp.system import clock, environ, places
from ahp.system.descendants import ending
from ahp.system.errors import AhpError
from ahp.system.staging import Staged
from ahp.system.view import IndexView

_PROJECT = "AHP_PROJECT"  # names the folder of the work tree, since the command runs in another one
_ARGUMENTS = 100_000  # bytes of file names for one command; systems take a quarter of a megabyte at least
_NAMED = 5
_SAID = 600
_LINES = 6


class _Work:
    """What one rule's fixer has to do, and what became of it: `failed` says why it refuses, `keeps` that what it
    changed all the same goes to the work tree.
    """

    def __init__(self, candidate: Candidate, event: Event) -> None:
        self.candidate, action = candidate, candidate.rule.action
        self.command, self.name = _command(candidate)
        self.stages = bool(action and action.stage) and (event.fixes == "index" or event.mode == "dry")
        self.folder = os.path.normpath(self.command.directory)
        self.paths = _matched(candidate, event, "" if self.folder == "." else self.folder + "/")
        self.changed: list[str] = []
        self.failed = ""
        self.keeps = True


class Fixing:
    """The fixers of one event, over its rounds. `settle` or `close` has to be called at the end."""

    def __init__(self) -> None:
        self._staged: Staged | None = None
        self._originals: dict[str, bytes] = {}
        self._left: dict[tuple[str, str], bytes] = {}  # what a rule's fixer left of a file
        self._refused: set[str] = set()

    def run(self, candidates: list[Candidate], event: Event, settled: Collection[str]) -> Event:
        """Runs the fixers of the rules; the event as those leave it that stage. What fails refuses.

        `settled` are the rules that changed something in a former round.
        Raises AhpError, GitError where what is staged cannot be laid out.
        """
        if event.trigger not in FIXED_AT:
            for candidate in candidates:
                name = _command(candidate)[1]
                candidate.intensity = "block"
                candidate.refused = f"`{name}` fixes what is staged, at pre-commit; here run it yourself"
            return event
        if event.view is None or event.view.kind != "index" or event.given is not None or event.mode == "replay":
            for candidate in candidates:  # nothing is there to be run on: that it would run is the answer
                candidate.modifications.append({"target": "index", "original": "", "updated": "", "files": []})
            return event
        work = [_Work(candidate, event) for candidate in candidates]
        if any(one.paths for one in work) and self._staged is None:
            try:
                self._staged = Staged(event.view.repo)
            except OSError as error:
                raise AhpError(f"cannot lay out what is staged: {error}") from None
        for one in work:
            try:
                if one.paths:
                    self._fix(one, event)
            except AhpError as error:
                one.failed, one.keeps = f"`{one.name}` failed: {one_line(error)}", False
        for one in work:
            self._conclude(one, event, settled)
        taken = [path for one in work if one.stages and not one.failed for path in one.changed]
        if not taken or any(one.candidate.intensity == "block" for one in work):
            return event
        assert self._staged is not None
        repo, before, now = self._staged.take(taken)
        view = IndexView(repo)
        is_empty = not view.change().entries and len(list(view.sides())) == 1  # git has looked before it asks its hooks
        for one in work:
            if one.changed and is_empty:
                one.candidate.intensity = "block"
                one.candidate.refused = f"`{one.name}` takes back all that is staged: nothing is left to commit"
            elif one.changed:
                told = [one_line(path, 500) for path in one.changed]
                one.candidate.modifications.append(
                    {"target": "index", "original": before, "updated": now, "files": told}
                )
        return event if is_empty else event.but(view=view, repo=repo)

    def settle(self, allowed: bool) -> list[str]:
        """Puts what was fixed where it belongs; the notes about it. Raises AhpError, and then nothing is changed.

        Of an `allowed` event that is the index and the work tree, else the work tree alone has what was not to be
        staged.
        """
        staged = self._staged
        if staged is None:
            return []
        fixed = {}
        for path, before in self._originals.items():
            after = staged.read(path) if allowed or path in self._refused else None
            if after is not None and after != before:
                fixed[path] = before, after
        try:
            hindered = staged.put_back(fixed, stage=allowed) if fixed else []
        except OSError as error:
            raise AhpError(f"cannot put fixed files back: {error}") from None
        self.close()
        return [
            f"{one_line(path, 200)} has unstaged edits where it was fixed; the work tree keeps them as they are"
            for path in hindered
        ]

    def close(self) -> None:
        """Ends it."""
        if self._staged is not None:
            self._staged.close()
            self._staged = None

    def _fix(self, one: _Work, event: Event) -> None:
        """Runs one fixer on those of its files that another has changed since it has. Raises AhpError."""
        staged, key = self._staged, one.candidate.key
        assert staged is not None
        if trust.digest(one.command, trust.in_folder(staged.tree)) not in trust.accepted(event.journal):
            one.failed = "its fixer was not accepted in this clone; a person runs: ahp trust"
            return
        before = {path: data for path in one.paths if (data := staged.read(path)) is not None}
        todo = [path for path, data in before.items() if self._left.get((key, path)) != data]
        for path in todo:
            self._originals.setdefault(path, before[path])
        argv = command_facts.argv_in(one.command, f"{staged.tree}/{one.folder}")
        env = {**environ.scrubbed(event.env), _PROJECT: event.root}
        for names in _batches(todo, one.folder):
            seconds = max(min(one.command.timeout, event.deadline - clock.monotonic()), 0.0)
            descendants, marked = ending(env)
            with descendants:
                folder = f"{staged.tree}/{one.folder}"
                done = places.run(one.command.place, [*argv, *names], cwd=folder, env=marked, timeout=seconds)
            if done.code:
                lines = (done.out + b"\n" + done.err).decode("utf-8", "replace").split("\n")
                said = one_line(" / ".join([line.strip() for line in lines if line.strip()][-_LINES:]), _SAID)
                one.failed = f"`{one.name}` ended with {done.code}" + (f": {said}" if said else "")
                one.keeps = done.code <= 128
                break
        for path in todo:
            after = staged.read(path)
            if after is None:
                one.failed, one.keeps = f"`{one.name}` has removed {one_line(path, 200)}", False
                return
            self._left[key, path] = after
            if after != before[path]:
                one.changed.append(path)

    def _conclude(self, one: _Work, event: Event, settled: Collection[str]) -> None:
        candidate, files_changed = one.candidate, rendering.some(one.changed, _NAMED, 200)
        if not (one.failed or one.changed):
            if candidate.key not in settled:
                candidate.dropped = CLEAN
            return
        candidate.changed = one.changed
        if one.stages and not one.failed:
            return
        candidate.intensity = "block"
        puts = bool(event.fixes) and one.keeps and event.mode == "real"
        if puts:
            self._refused.update(one.changed)
        verb = "changed" if puts else "would change"
        then = ": look at it, then stage it and commit again" if puts and not one.failed else ""
        told = [one.failed, f"`{one.name}` {verb} {files_changed}{then}" if one.changed and one.keeps else ""]
        candidate.refused = "; ".join([text for text in told if text])


def _command(candidate: Candidate) -> tuple[Command, str]:
    """The command of its fixer, and its words for people."""
    action = candidate.rule.action
    assert action is not None and action.command is not None
    return action.command, one_line(" ".join(action.command.run), 200)


def _matched(candidate: Candidate, event: Event, folder: str) -> list[str]:
    """The staged files below `folder` that its rule is about: those that its `each` found, else all."""
    assert event.view is not None
    found = {path for item in candidate.hit.items or () if (path := _file(candidate, item)) is not None}
    found.intersection_update(event.view.touched())  # else its `each` is about other things
    staged = [e.path for e in event.view.change().entries if e.new_mode in (changes.FILE, changes.EXECUTABLE)]
    return [path for path in staged if path.startswith(folder) and (not found or path in found)]


def _file(candidate: Candidate, item: object) -> str | None:
    """The path that an item of `each` is about, as git has it."""
    place = candidate.rule.finding
    named = rendering.field(item, place.file if place is not None else None)
    if named is None:
        named = item.get("path") if isinstance(item, dict) else item
    return named if isinstance(named, str) else None


def _batches(paths: list[str], folder: str) -> Iterator[list[str]]:
    """The names of the files, as seen from `folder`, in as many commands as it takes; none looks like an option."""
    batch, size = list[str](), 0
    for path in paths:
        name = os.path.relpath(path, folder)
        name = "./" + name if name[0] == "-" else name
        if batch and size + len(os.fsencode(name)) > _ARGUMENTS:
            yield batch
            batch, size = [], 0
        batch.append(name)
        size += len(os.fsencode(name)) + 9  # its end and the pointer to it
    if batch:
        yield batch
