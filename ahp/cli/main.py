"""`ahp`: finds the command, runs it, and turns errors into words and exit codes (design §10).

0 allowed, 1 the policy refuses, 2 ahp could not judge (usage, invalid policy, internal error).
"""

import errno
import importlib
import os
import sys
import traceback

import click

from ahp.cli.groups import WHOLE, Group
from ahp.protocol.text import one_line
from ahp.system import wings
from ahp.system.errors import AhpError, lost_dependency
from ahp.system.version import __version__

_SECTIONS = {
    "Begin": {
        "init": "a policy for this project, and what it would have said to the last 100 commits",
        "install": "put the gate in place: git hooks, coding agents, and monoco when it is named",
        "doctor": "is the gate really reached, and can it do its work",
        "uninstall": "take the gate away; earlier hooks come back",
    },
    "Judge": {
        "check": "what the policy would say now, at a trigger or to all files; never logs, never counts",
        "run": "judge for real: signals are logged, attempts count",
        "ci": "judge a range of commits where it goes: the check that nobody can skip",
        "explain": "why: the rules of a trigger, one rule, or one signal, with the values seen",
    },
    "Answer": {
        "respond": "answer a signal",
        "skip": "let a rule pass in the next commit, and say why",
        "trust": "accept the commands of the policy",
    },
    "Write rules": {
        "policy": "lint, show, test, diff and describe the policy",
        "try": "what a rule or policy would have said to past commits",
        "import": "the checks of pre-commit, lefthook or husky as rules",
        "facts": "the facts of a trigger, with their types and sources",
        "condition": "check and evaluate a condition",
    },
    "Look back": {
        "log": "what was said and answered",
    },
    "Issues and agents": {
        "issue": "the life of an issue",
        "brief": "what an agent reads about the policy when its session begins",
    },
    "For other programs": {
        "exec": "run a command through the gate",
        "hook": "what installed hooks call",
        "completion": "the script that completes commands in bash, zsh or fish",
    },
}
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_MODULES = {"try": "try_", "import": "import_"}  # a keyword is no name for a module
_OTHERS = "Added by other packages"


def _sections() -> dict[str, dict[str, str]]:
    """The commands of core and of the wings, by section: name → what it does."""
    sections = {title: dict(section) for title, section in _SECTIONS.items()}
    for wing in wings.names():
        for name, (title, told) in getattr(wings.wing_of(wing), "HELP", {}).items():
            sections.setdefault(title, {})[name] = told
    return sections


class _Commands(Group):
    """Imports a command when it is asked for: no command pays for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        own = [name for section in _sections().values() for name in section]
        return [*own, *[name for name in self.added() if name not in own]]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        own = next((told[name] for told in _SECTIONS.values() if name in told), "")
        if own:
            command = importlib.import_module(f"ahp.cli.{_MODULES.get(name, name)}").command
        elif name in (added := self.added()):
            command = wings.load(added[name], "commands")
            own = next((told[name] for told in _sections().values() if name in told), "")
        else:
            return None
        if not isinstance(command, click.Command):
            raise AhpError(f"{added[name]}, which a package adds to ahp.commands, is no command of click")
        command.name = name
        # click would make one of the docstring's beginning, cut to a line.
        command.short_help = own or command.get_short_help_str(WHOLE)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = _sections()
        own = {name for section in sections.values() for name in section}
        others = [(name, self.get_command(ctx, name)) for name in self.added() if name not in own]
        if others:
            sections[_OTHERS] = {name: command.short_help or "" for name, command in others if command}
        width = max(len(name) for section in sections.values() for name in section)
        for title, section in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), told) for name, told in section.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ahp")
def cli() -> None:
    """One policy file, .ahp/hooks.yaml, governs what people and coding agents do to a repository."""


def main() -> None:
    """Runs the command line of this process and ends it."""
    sys.exit(run(sys.argv[1:]))


def _of_this_shell(error: OSError) -> str:
    """What is wrong with where and how ahp was started, "" where that is not it."""
    if error.errno == errno.EMFILE:
        return "too many files are open in this shell; raise the limit: ulimit -n 1024"
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the current folder is gone; go to one that is there"
    return ""


def run(arguments: list[str]) -> int:
    """Runs one command line and gives its exit code."""
    try:
        done = cli.main(arguments, prog_name="ahp", standalone_mode=False)
        return done if isinstance(done, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return 130
    except AhpError as error:
        lines = [one_line(line, 2000) for line in str(error).splitlines()]  # it may quote what others wrote
        print("ahp: " + "\n".join(lines), file=sys.stderr)
        return 2
    except BrokenPipeError:  # `ahp log | head`
        _discard_output()
        return 0
    except Exception as error:  # noqa: BLE001  # a bug: the user gets a report, never a silent pass
        if lost := lost_dependency(error):
            print(f"ahp: {lost}", file=sys.stderr)
            return 2
        if isinstance(error, OSError) and error.errno in _CANNOT_WRITE and error.filename is None:
            _discard_output()
            print(f"ahp: standard output cannot be written: {error.strerror}", file=sys.stderr)
            return 2
        if isinstance(error, OSError) and (said := _of_this_shell(error)):
            print(f"ahp: {said}", file=sys.stderr)
            return 2
        print(
            f"ahp: a bug in ahp; please report this:\nahp {__version__}, Python {sys.version.split()[0]}",
            file=sys.stderr,
        )
        traceback.print_exc()
        return 2


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
