"""`ahp log export` and `ahp log ship`: the log for other programs."""

from __future__ import annotations

import os
import sys

import click

from ahp.cli.options import check_replaceable, check_spares_logs
from ahp.system import terminal
from ahp.system.errors import AhpError


@click.command()
@click.option("--format", "form", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Where to; default: standard output. Parquet needs a file.")
def export(form: str, output: str | None) -> int:
    """Write all records for other programs.

    jsonl: the lines as they are, each with the name of its log. parquet: a table of what is asked for most, and the
    lines, by DuckDB (extra `insight`). To an OpenTelemetry collector: ahp log ship.
    """
    from ahp.insight import export as exporting
    from ahp.insight import reading
    from ahp.journal import segments
    from ahp.journal.place import journal_of
    from ahp.journal.recovery import log_of

    folder = journal_of(os.getcwd()).folder
    if not log_of(folder):
        lost = "its beginning, which names it, is missing: ahp log verify" if segments.listed(folder) else ""
        raise AhpError(f"the log in {folder} is not exported: {lost}" if lost else "there is no log yet")
    if form == "parquet" and output is None:
        raise click.UsageError("Parquet needs a file: ahp log export --format parquet -o FILE")
    if output is not None:
        check_replaceable(output, "without -o it is printed")
        check_spares_logs(output, folder)
    with reading.shown() as seen:
        if output is None:
            for part in exporting.text(folder, seen):
                sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
        elif form == "parquet":
            exporting.to_parquet(folder, os.path.abspath(output), seen)
        else:
            exporting.to_file(folder, os.path.abspath(output), seen)
    return 0


@click.command()
@click.option("--endpoint", metavar="URL", help="The collector, like http://localhost:4318; default: the OTEL_* ones.")
@click.option(
    "--from", "first", metavar="N", type=click.IntRange(0), default=0, help="Send all from record N on, again."
)
def ship(endpoint: str | None, first: int) -> int:
    """Send new records to an OpenTelemetry collector, from where the last time ended (extra `insight`).

    OTLP over HTTP; the standard variables OTEL_EXPORTER_OTLP_… name the collector, headers, certificates and the
    timeout. A record may come twice if this is killed; log.record.uid is the same then. Each run ends with a heartbeat:
    how many records the log has, and the digest of the last one.
    """
    from ahp.insight import shipping
    from ahp.insight.advice import counted
    from ahp.insight.collector import Collector
    from ahp.journal.place import journal_of

    collector = Collector(endpoint)
    with terminal.progress("sending, records") as seen:
        shipped = shipping.ship(journal_of(os.getcwd()).folder, collector.address, collector.send, seen, first)
    for rejected in shipped.rejected:
        click.echo(f"ahp: {collector.shown}: {rejected}", err=True)
    if shipped.again:
        click.echo("ahp: the line that was sent last is not in the log any more, so all was sent again", err=True)
    if shipped.pruned:
        click.echo(f"ahp: pruned before they were sent: {counted(shipped.pruned, 'record')}", err=True)
    click.echo(f"{counted(shipped.records, 'record')} sent to {collector.shown}")
    return 1 if shipped.rejected else 0
