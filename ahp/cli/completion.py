"""`ahp completion`: the script that completes commands and options in a shell."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash: ahp completion bash > ~/.local/share/bash-completion/completions/ahp
    zsh:  ahp completion zsh > a folder of $fpath, as _ahp
    fish: ahp completion fish > ~/.config/fish/completions/ahp.fish
    """
    from ahp.cli.main import cli

    made = get_completion_class(shell)
    assert made is not None
    script = made(cli, {}, "ahp", "_AHP_COMPLETE").source()
    # click's lines are "type,value<TAB>help", and its script for fish ends the help at a comma.
    click.echo(script.replace('string split ","', 'string split --max 1 ","'))
