"""Commands that have commands: listed in the order of use with their whole sentences; a typo is told with its mend."""

import click

from ahp.system import wings

WHOLE = 500  # characters of a sentence; click's own limit cuts it to fit one line


class Group(click.Group):
    """A group of commands, listed as they were defined; then those that wings and other packages add to it."""

    def added(self) -> dict[str, str]:
        """Name → place of the commands added to this group: `log export` to `log`, a single word to `ahp` itself."""
        begin = "" if self.name in (None, "cli") else f"{self.name} "
        names = {
            name.removeprefix(begin): place for name, place in wings.added("commands").items() if name.startswith(begin)
        }
        return {name: place for name, place in names.items() if " " not in name}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list({**self.commands, **self.added()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        command = super().get_command(ctx, name)
        if command is None and (place := self.added().get(name)):
            command = wings.load(place, "commands")
        if command:
            command.short_help = command.get_short_help_str(WHOLE)  # for completion, too
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        there = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(WHOLE)) for name, one in there if one])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if isinstance(error, click.NoSuchOption):
                raise
            hint = self._meant(ctx, args[0])
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx) from error

    def _meant(self, ctx: click.Context, word: str) -> str:
        from difflib import get_close_matches

        if word in ("help", "version") and ctx.parent is None:
            return f"; write `{ctx.command_path} --{word}`"
        near = get_close_matches(word, self.list_commands(ctx), 1)
        command = ctx.command_path
        return f"; did you mean `{command} {near[0]}`?" if near else f"; see `{command} --help`"
