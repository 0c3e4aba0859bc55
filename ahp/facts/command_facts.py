"""Command facts: what a program of the policy finds out about the work tree (design §4, `facts:`).

A policy comes with a pull request, so a command runs only when the caller says that a person accepted it.
"""

import math
import shlex
import sys

from ahp.conditions.evaluate import closure
from ahp.conditions.globs import glob
from ahp.conditions.runtime import FAULTS, MISSING
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check_value
from ahp.facts import command_output, tree_digest
from ahp.facts.registry import Absent, Command, Settings
from ahp.protocol import text
from ahp.protocol.event import Event
from ahp.system import clock, environ, places, process
from ahp.system.descendants import ending
from ahp.system.errors import AhpError, Timeout, Unknown

# `ahp` is this one, not one on the PATH; the project's folder is no place to import it from.
_AHP = "ahp"
_OWN_PROGRAMS = (".venv/bin", "venv/bin", "node_modules/.bin")
_START = "import sys; sys.path[:] = %r; from ahp.cli.main import main; main()"


def gather(name: str, event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The values of `fields` of the policy's command `name`: exit_code, count, findings, extracts.

    It runs only where `settings.trusted` says so. A non-zero exit is data. Raises Absent for a command that is
    unknown, not accepted, not startable, too slow or too loud, and for a past state; GitError.
    """
    command = settings.commands.get(name)
    if command is None:
        raise Absent(f"the command of `{name}` does not run: its policy is not in force yet", elsewhere=True)
    if event.from_objects:
        raise Absent("commits are judged, and commands look at the work tree", elsewhere=True)
    if event.mode == "replay":
        raise Absent("a past state is judged, and commands look at the present one")
    if not _is_concerned(event, command):
        return {field: _empty(field, command) for field in fields}
    if settings.trusted is None or not settings.trusted(command):
        argv = text.one_line(" ".join(command.run), 100)
        raise Absent(f"nobody accepted the command of `{name}` ({argv})", "ahp trust")
    code, printed = _result(command, event)
    return _fields(fields, command, code, printed, event.root)


def _is_concerned(event: Event, command: Command) -> bool:
    """Whether a changed file matches `when_changed`; where it is not known what changed, the command runs."""
    globs = command.when_changed
    if not globs or event.view is None or event.view.doubt(contents=False):
        return True
    matches = glob(list(globs))
    try:
        entries = event.view.change().entries
    except Unknown:
        return True
    return any(matches(path) for entry in entries for path in (entry.path, entry.old_path) if path)


def _result(command: Command, event: Event) -> tuple[int, bytes]:
    """Exit code and standard output."""
    env = environ.scrubbed(event.env)
    folder = event.root if command.directory == "." else f"{event.root}/{command.directory}"
    argv = argv_in(command, folder)
    before = _tracked(event)
    budget = min(command.timeout, event.deadline - clock.monotonic())
    if budget <= 0:
        raise Absent("the time to judge was used up before it could run")
    try:
        descendants, env = ending(env)
        with descendants:
            result = places.run(command.place, argv, cwd=folder, env=env, timeout=budget)
    except Timeout:
        raise Absent(f"{command.run[0]} did not finish within {budget:.3g} s", " ".join(command.run)) from None
    except process.NotStarted as error:
        near = _beside(argv[0], {event.root, folder})
        if not near:
            raise Absent(str(error)) from None
        shown = near.removeprefix(f"{event.root}/")
        # It is not started from there: what lies in the project may come with a pull request.
        raise Absent(f"{error}, but in {shown}", f'export PATH={shlex.quote(near)}:"$PATH"') from None
    except AhpError as error:  # too much output
        raise Absent(str(error)) from None
    after = _tracked(event)
    if changed := sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        said = f"{argv[0]} changed {text.one_line(changed[0], 100)}{more}, and a command fact may only read"
        raise Absent(said, "git diff")
    return result.code, result.out


def _beside(program: str, folders: set[str]) -> str:
    """The folder of a project's own programs that has this one, "" where none does."""
    if "/" in program:
        return ""
    places = [f"{folder}/{place}" for folder in sorted(folders) for place in _OWN_PROGRAMS]
    return next((place for place in places if process.find(f"{place}/{program}", {})), "")


def _tracked(event: Event) -> dict[str, str]:
    """The content of each file that git tracks, by path."""
    if event.repo is None or not event.repo.root:
        return {}
    return tree_digest.state(event.repo, "no").contents(lambda path: True)


def argv_in(command: Command, folder: str) -> list[str]:
    """The program and the arguments with which `command` is run in `folder`."""
    program = command.run[0]
    if program == _AHP:
        return [sys.executable, "-I", "-c", _START % [path for path in sys.path if path], *command.run[1:]]
    if "/" in program and not program.startswith("/"):
        program = f"{folder}/{program}"  # as the shell of that folder would read it
    return [program, *command.run[1:]]


def _fields(fields: frozenset[str], command: Command, code: int, printed: bytes, root: str) -> dict[str, object]:
    parse_as = command.parse or "exit"
    try:
        output = command_output.read(printed, code, parse_as, root, command.directory)
    except Absent as absent:
        return {field: code if field == "exit_code" else absent for field in fields}
    count, findings = (output.missing or output.count), (output.missing or output.findings)
    found: dict[str, object] = {"exit_code": code, "count": count, "findings": findings}
    extracts = command.extract or {}
    for field in fields & extracts.keys():
        one = extracts[field]
        found[field] = value(plan(one.value, parse_as), one.type, output.value)
    return {field: found[field] for field in fields if field in found}


def _empty(field: str, command: Command) -> object:
    if field == "findings":
        return []
    one = (command.extract or {}).get(field)
    return 0 if one is None else empty(one.type)


OUTPUT_TYPES = {
    "json": {"type": "any"},
    "lines": {"type": "list[str]"},
    "exit": {"type": "int"},
    "junit": {"type": "any"},
    "sarif": {"type": "any"},
}
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "list[str]": (list, tuple),
}
_EMPTY: dict[str, object] = {"int": 0, "float": 0.0, "bool": False, "str": "", "list[str]": []}
_LENGTH = 100_000


class ExtractError(AhpError):
    """An `extract` expression that is not in the language, or asks of the output what it cannot hold."""


def plan(expression: str, parse_as: str) -> object:
    """The plan of an expression over `output`, whose type follows from `parse:`. Raises ExtractError."""
    try:
        return check_value(expression, Schema({"output": OUTPUT_TYPES[parse_as]}))
    except ConditionError as error:
        raise ExtractError(f"`{expression[:200]}`: {error.problems[0].message}") from None


def value(built: object, kind: str, output: object) -> object:
    """The expression's value for one output, as a fact of type `kind`; Absent when the output does not hold it."""
    try:
        found = closure(built, {"output": 0})([output])
    except (*FAULTS, OverflowError, RecursionError):
        return Absent("the output does not hold it")
    if found is MISSING:
        return Absent("the output does not hold it")
    if kind == "int" and isinstance(found, float) and found.is_integer():
        found = int(found)
    if not isinstance(found, _KINDS[kind]) or (isinstance(found, bool) and kind != "bool"):
        return Absent(f"the output has a {type(found).__name__} there, not {kind}")
    if isinstance(found, list | tuple):
        if len(found) > _LENGTH or not all(isinstance(item, str) for item in found):
            return Absent("the output has no list of texts there")
        return list(found)
    if kind == "float" and isinstance(found, int | float):
        return _finite(found)
    return found


def _finite(number: "int | float") -> object:
    """A float that the log can hold: Python's JSON, and thus some tool's, also knows NaN and Infinity."""
    try:
        found = float(number)
    except OverflowError:
        found = math.inf
    return found if math.isfinite(found) else Absent("the output has no finite number there")


def empty(kind: str) -> object:
    """What a fact of type `kind` is when the command had nothing to look at."""
    return _EMPTY[kind]
