"""Monoco as a host (`ahp.hosts.table`)."""

import os
import shlex

from ahp.protocol.text import one_line
from ahp.system import environ, jsontext
from ahp.system.errors import AhpError


def hook(arguments: tuple[str, ...]) -> int:
    """What the adapter inside Monoco and the shim before it ask. Raises AhpError."""
    from ahp.hosts.monoco import hook

    if len(arguments) in (2, 3) and arguments[0] in hook.EVENTS:
        print(jsontext.encode(hook.answer(*arguments)))
        return 0
    if len(arguments) > 1 and arguments[0] == "exec":
        from ahp.hosts.exec import through_the_gate

        return through_the_gate(list(arguments[1:]), "shim")
    raise AhpError("this is for what `ahp install monoco` put in place; by hand: ahp exec -- monoco …")


def install(user: bool) -> list[str]:
    """Puts the adapter and the shim in place. Raises AhpError."""
    from ahp.hosts.asking import repository_here
    from ahp.hosts.monoco.install import install

    env = environ.current()
    done = install(repository_here(), env)
    said = [f"monoco: {one_line(done.monoco.version)} asks at start, submit and close: {one_line(done.adapter, 1000)}"]
    folders = [os.path.realpath(folder) for folder in env.get("PATH", "").split(":")]
    if os.path.realpath(done.shims) not in folders:
        line = f'export PATH={shlex.quote(done.shims)}:"$PATH"'
        said.append(f"monoco: to have `issue update` and --no-hooks judged, too: {one_line(line, 1000)}")
    return said


def uninstall(user: bool, named: bool) -> list[str]:
    """Takes them away. Raises AhpError."""
    from ahp.hosts.asking import repository_here
    from ahp.hosts.monoco.install import uninstall

    was_there = uninstall(repository_here())
    if not (was_there or named):
        return []
    return ["monoco: shim and adapter removed" if was_there else "monoco: nothing of ours was there"]
