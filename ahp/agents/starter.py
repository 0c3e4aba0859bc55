"""What an agent's hook loads: for the bundle that `ahp install` writes (`ahp.hosts.git.bundle`)."""

from ahp.hosts.git.bundle import Starter

PLACE = "ahp.agents.starter:AGENT"


def tables() -> list[str]:
    """The table of command lines, read into memory, and its file."""
    from ahp.shell import git  # here, so that making the bundle does not count it among what starts at once

    git.synopsis_of("git")
    return [git.TABLE]


AGENT = Starter(
    "ahp.agents.main",
    ("ahp.agents.judging", "ahp.facts.tool"),
    (
        "ahp.agents.calls.call_view",
        "ahp.facts.diff",
        "ahp.agents.calls.server_tools",
        "ahp.agents.shell.commands",
        "ahp.agents.calls.plain",
        "ahp.agents.boxing",
        "ahp.policy.succession",
    ),
    "ahp.agents.starter:tables",
)
