"""Putting our hooks into a client's settings, and taking them out again (design §9).

What is committed names no place of this machine: a few lines of `sh` look for what this clone has installed, and turn
every answer but 0 and 2, and there being none, into a refusal.
"""

import os
import pwd
import shlex
from typing import Any, NamedTuple

from ahp.agents import clients, starter
from ahp.agents.main import TIMEOUT
from ahp.facts.actor import LAUNCHER
from ahp.hosts.git import bundle, installation
from ahp.hosts.git.install import baked, noted
from ahp.hosts.templates import template
from ahp.journal.append import Journal
from ahp.system import files, jsonedit, jsontext
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_MARK = "/ahp/agent-hook"  # in a command: it is ours
_BUNDLE = "/cache/agent.pyc"
_GRACE = 5  # s that the plugin waits beyond the command's own limit
_LIMIT = 4 << 20
_LOST = (
    "ahp is not installed here, or broke, so this cannot be judged. "
    "Your user installs it, as the head of .ahp/hooks.yaml tells, then runs: ahp install"
)


class Installed(NamedTuple):
    """Where the hooks of a client stand, whether anything changed, and what a person still has to do."""

    path: str
    changed: bool
    todo: str


def works_in(root: str, client: str) -> bool:
    """Whether something in this project is the client's."""
    return any(os.path.lexists(f"{root}/{name}") for name in clients.CLIENTS[client].FOUND)


def is_in(root: str, client: str) -> bool:
    """Whether our hooks stand in its settings, the project's or the user's own."""
    return any(
        _MARK.encode() in (files.read(settings_path(root, client, user), _LIMIT) or b"") for user in (False, True)
    )


def install(repo: Repository, client: str, user_policy: str, *, user: bool = False) -> Installed:
    """Adds our hooks to the project's settings of `client`, or to the `user`'s own; renews what is ours.

    Raises AhpError when the settings cannot be read, are no JSON, or have something else where hooks stand.
    """
    if not repo.root:
        raise AhpError("this repository is bare: no agent works in it")
    launcher(repo, user_policy)
    module = clients.CLIENTS[client]
    path = settings_path(repo.root, client, user)
    before = files.read(path, _LIMIT)
    text = (before or b"").decode("utf-8") or module.BEGIN
    try:
        after = _merged(client, text)
    except AhpError as error:
        raise AhpError(f"{path}: {error}; nothing was changed") from None
    if after != text or before is None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        files.replace(path, after.encode(), 0o644)
    return Installed(path, after != text or before is None, module.TRUST)


def uninstall(repo: Repository, client: str, *, user: bool = False) -> bool:
    """Takes our hooks out of the settings; whether there were any. A file that held nothing else goes.

    Raises AhpError.
    """
    path = settings_path(repo.root, client, user)
    data = files.read(path, _LIMIT)
    text = (data or b"").decode("utf-8")
    if _MARK not in text:
        return False
    module = clients.CLIENTS[client]
    after = "" if module.PLUGIN else _without(text)
    if module.PLUGIN or jsonedit.parse(after).value == jsonedit.parse(module.BEGIN).value:
        os.unlink(path)
    else:
        files.replace(path, after.encode(), 0o644)
    if not any(is_in(repo.root, name) for name in clients.CLIENTS) and os.path.lexists(repo.ahp_dir + LAUNCHER):
        os.unlink(repo.ahp_dir + LAUNCHER)
    return True


def launcher(repo: Repository, user_policy: str) -> None:
    """Writes what the committed command starts in this clone, and the bundle that it runs. Raises AhpError."""
    files.make_dirs(repo.ahp_dir)
    genesis = Journal(repo.ahp_dir, noted(repo) or None).begin().genesis  # a log to begin would cost every call
    known = {**baked(repo, noted(repo) or genesis, user_policy), "BUNDLE": repo.ahp_dir + _BUNDLE}
    paths = installation.import_paths()
    start = f"import sys; sys.path += {paths!r}; from ahp.agents.main import main; main({known['BUNDLE']!r})"
    bundle.write(known["BUNDLE"], known["PYTHON"], paths, starter.PLACE)
    text = template("agents/launch.sh")
    for name, value in {**known, "START": start, "FOLDER": repo.ahp_dir}.items():
        text = text.replace(f"@{name}@", shlex.quote(value))
    files.replace(repo.ahp_dir + LAUNCHER, text.encode("utf-8", "surrogateescape"), 0o755)


def settings_path(root: str, client: str, user: bool) -> str:
    """The settings of the project, or of the user: in the home that the password database names, else in $HOME."""
    module = clients.CLIENTS[client]
    if not user:
        return f"{root}/{module.SETTINGS}"
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # as in a container
        home = os.path.expanduser("~")
    return f"{home}/{module.HOME_SETTINGS}"


def plugin_text(client: str) -> str:
    """The plugin of a client that has one."""
    module = clients.CLIENTS[client]
    commands = {event: command(client, event) for event in module.EVENTS}
    made = template(module.PLUGIN)
    values = {"COMMANDS": jsontext.encode(commands), "LOST": jsontext.encode(_LOST)}
    for name, value in {**values, "TIMEOUT": str((TIMEOUT + _GRACE) * 1000)}.items():
        made = made.replace(f"@{name}@", value)
    return made


def refuses(client: str, event: str) -> bool:
    """Whether what was not judged is refused at this event: what does nothing by itself goes on."""
    return event == clients.CLIENTS[client].CALL


def command(client: str, event: str) -> str:
    """What the client runs: `sh`, whatever the user's shell is."""
    module = clients.CLIENTS[client]
    lines = template("agents/command.sh").replace("@ROOT@", module.ROOT).strip().split("\n")
    otherwise = "exit 0"  # what is done is done
    if refuses(client, event):
        deny = jsontext.encode(module.deny(event, _LOST)).replace("\\", "\\\\").replace('"', '\\"')
        otherwise = f'echo "{deny}"; echo "{_LOST}" >&2; exit {module.DENIED}'
    script = "; ".join(lines).replace("@OTHERWISE@", otherwise)
    if "'" in script:
        raise AhpError("the installed command may hold no single quote")
    return f"sh -c '{script}' ahp {client} {event}"


def ours(settings: object) -> dict[str, str]:
    """Our commands in a client's settings, by event."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    named: dict[str, str] = {}
    for event, listed in hooks.items() if isinstance(hooks, dict) else ():
        for one in listed if isinstance(listed, list) else ():
            if (told := _command_of(one)) is not None:
                named[event] = told
    return named


def _command_of(entry: Any) -> str | None:
    """The command of an entry that is ours, None of any other."""
    inner = entry.get("hooks", [entry]) if isinstance(entry, dict) else None
    for hook in inner if isinstance(inner, list) else ():
        told = hook.get("command", hook.get("bash")) if isinstance(hook, dict) else None
        if isinstance(told, str) and _MARK in told:
            return told
    return None


def _merged(client: str, text: str) -> str:
    """The settings with our entries; of a plugin, ours."""
    module = clients.CLIENTS[client]
    if module.PLUGIN:
        if text and _MARK not in text:
            raise AhpError("this is a plugin of somebody else")
        return plugin_text(client)
    for event in module.EVENTS:
        made = module.entry(event, command(client, event), TIMEOUT, refuses(client, event))
        text = _with(text, event, made)
    return text


def _with(text: str, event: str, wanted: dict[str, object]) -> str:
    """The settings with our entry for an event, once."""
    hooks = jsonedit.parse(text).members.get("hooks")
    listed = hooks.members.get(event) if hooks is not None else None
    for node in listed.items if listed is not None else ():
        if _command_of(node.value) is not None:
            return text if node.value == wanted else jsonedit.replace(text, node, wanted, 3)
    return jsonedit.put(text, ("hooks", event), wanted)


def _without(text: str) -> str:
    """The settings without our entries."""
    while True:
        hooks = jsonedit.parse(text).members.get("hooks")
        place = next(
            (
                (event, index)
                for event, listed in (hooks.members if hooks is not None else {}).items()
                for index, node in enumerate(listed.items)
                if _command_of(node.value) is not None
            ),
            None,
        )
        if place is None:
            return text
        text = jsonedit.remove(text, ("hooks", place[0]), place[1])
