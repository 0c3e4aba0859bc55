"""A server's `pre-receive` as a host (`ahp.hosts.table`)."""

import sys

from ahp.system.errors import AhpError


def hook(arguments: tuple[str, ...]) -> int:
    """Judges the refs on standard input; `--limit SECONDS` is how long that may take. Raises AhpError."""
    from ahp.hosts.ci import receiving

    limit = receiving.LIMIT
    if arguments:
        name, _, value = "=".join(arguments).partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = 0
        if name != "--limit" or not 0 < limit < 3600:
            raise AhpError("ahp hook pre-receive takes one option: --limit SECONDS, above 0 and below 3600")
    return receiving.judge(sys.stdin.buffer.read(), limit)
