"""Options that several commands have."""

import os
import textwrap
from collections.abc import Sequence
from typing import Any

import click

from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock
from ahp.system.errors import AhpError


class Number(click.FloatRange):
    """A number in a range, which "nan" is in none of."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def check_replaceable(path: str, instead: str) -> None:
    """Raises BadParameter, with what prints `instead`, where something else than a regular file is at `path`.

    Files are put in place by their name: /dev/stdout would be one afterwards, and no device.
    """
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        raise click.BadParameter(f"{path!r} is there and no regular file; {instead}")


def check_spares_logs(path: str, folder: str, sources: Sequence[str] = ()) -> None:
    """Raises AhpError where `path` would be a file of the log in `folder`, or is one of the files `sources`."""
    where = os.path.abspath(path)
    if os.path.realpath(os.path.dirname(where)) == os.path.realpath(folder):
        raise AhpError(f"{path} would be among the files of the log itself; name another folder")
    if os.path.realpath(where) in map(os.path.realpath, sources):
        raise AhpError(f"{path} is what is read; name another file")


def _outputs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(format, path) of each FORMAT=FILE; no path is given twice."""
    from ahp.hosts.ci.outputs import FORMATS

    found: dict[str, tuple[str, str]] = {}
    for value in given:
        form, equals, path = value.partition("=")
        if not equals or not path or form not in FORMATS:
            raise click.BadParameter(f"{value!r} is not FORMAT=FILE with a FORMAT of {', '.join(FORMATS)}", ctx, param)
        if path == "-":
            raise click.BadParameter(f"{value!r} names a file called -; --format {form} prints", ctx, param)
        check_replaceable(path, "--format prints")
        if os.path.realpath(path) in found:
            raise click.BadParameter(f"{path!r} is given twice; the last would take the others' place", ctx, param)
        found[os.path.realpath(path)] = form, path
    return tuple(found.values())


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LONGEST_AGE = 10  # characters

# "\b" keeps click from breaking the lines anew, at hyphens
TRIGGERS_THERE_ARE = "\b\n" + textwrap.fill(f"Triggers: {', '.join(TRIGGERS)}", 76, break_on_hyphens=False)
TEXT_OR_JSON = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
RUN = click.argument("run_id", metavar="[RUN]", default="")
ISSUE = click.option("--issue", metavar="ID", default="", help="The issue that it is about.")
FACTS = click.option(
    "--facts",
    metavar="FILE|{…}",
    help="Facts in place of those that are there: a YAML or JSON file, or the mapping itself.",
)
POLICY = click.option(
    "--policy", "policy_name", metavar="REF|FILE", help="The policy of a commit or in a file, not the work tree's."
)
OUTPUTS = click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FORMAT=FILE",
    callback=_outputs,
    help="Write FORMAT to FILE, too; repeatable.",
)
RED = click.option(
    "--red",
    type=click.File(encoding="ascii", errors="replace"),
    callback=lambda _, __, file: frozenset(file.read().split()) if file else frozenset(),
    metavar="FILE",
    help="With outcomes: the commits that CI failed on, an id a line; - is the input.",
)
SINCE = click.option("--since", metavar="TIME", help="A day, a time stamp, or an age like 2h or 14d.")

FROM = click.option(
    "--from",
    "from_",
    multiple=True,
    type=click.Path(exists=True),
    metavar="DIR|FILE",
    help="Logs of other clones, or exports of them, in place of this one's; may be repeated. A folder is searched.",
)


def triggers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The triggers that what was typed may become."""
    return [name for name in TRIGGERS if name.startswith(incomplete)]


def rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The rules of the work tree's policy that what was typed may become; of a policy that is refused, none."""
    from ahp.hosts.asking import around
    from ahp.hosts.policy_here import of_work_tree

    try:
        policy = of_work_tree(around(os.getcwd()))
    except AhpError:
        return []  # what is wrong with it, the command says; a shell has no place for that
    return sorted({rule.key for rule in policy.rules if rule.key.startswith(incomplete)})


def seconds_of(text: str | None, now: float) -> float | None:
    """Seconds since the epoch of a day, a time stamp or an age. Raises BadParameter."""
    if text is None:
        return None
    if len(text) < _LONGEST_AGE and text[:-1].isdecimal() and text[-1:] in _UNITS:
        return now - int(text[:-1]) * _UNITS[text[-1]]
    try:
        day = clock.parse_iso(text[:10] + "T00:00:00Z")
        if clock.iso(day)[:10] == text[:10]:  # not 30 February
            return day if len(text) == 10 else clock.parse_iso(text)
    except AhpError:
        pass
    raise click.BadParameter(f"{text!r} is no time; write 2026-02-09, 2026-02-09T10:00:00Z, or an age like 2h or 14d")
