"""Whether a client's hooks come to the gate: its settings, and a probe through the very command that they name."""

from ahp.agents import clients, install
from ahp.agents.main import PROBE
from ahp.agents.shell.grammar import parsed
from ahp.hosts.table import Check
from ahp.protocol.text import one_line
from ahp.system import environ, files, jsonedit, jsontext, process
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_TIMEOUT = 60.0
_LIMIT = 4 << 20


def examine(repo: Repository, client: str) -> list[Check]:
    """A line for a client that has settings here, or our hooks in the user's own; none for any other."""
    places = [install.settings_path(repo.root, client, user) for user in (False, True)]
    known = [(path, _settings(client, path)) for path in places]
    if any(isinstance(told, str) or install.ours(told) for _, told in known):
        return [_client(repo, client, known)]
    if install.works_in(repo.root, client):
        return [Check(client, "note", "works here, and its tool calls are not judged", f"ahp install {client}")]
    return []


def _settings(client: str, path: str) -> object:
    """The settings in a file, None where there are none, a text that says what is wrong with them."""
    try:
        data = files.read(path, _LIMIT)
        if data is None:
            return None
        text = data.decode("utf-8")
        if not clients.CLIENTS[client].PLUGIN:
            return jsonedit.parse(text).value
        if text != install.plugin_text(client):
            return f"{path} is not the plugin that this ahp installs"
        return {
            "hooks": {event: [{"command": install.command(client, event)}] for event in clients.CLIENTS[client].EVENTS}
        }
    except (AhpError, UnicodeDecodeError) as error:
        return f"{path}: {error}"


def _client(repo: Repository, client: str, known: list[tuple[str, object]]) -> Check:
    module, fix = clients.CLIENTS[client], f"ahp install {client}"
    broken = next((told for _, told in known if isinstance(told, str)), "")
    if broken:
        return Check(client, "wrong", broken, fix if module.PLUGIN else "correct the file")
    settings = [(path, told) for path, told in known if isinstance(told, dict)]
    for path, told in settings:
        if off := module.switched_off(told):
            return Check(client, "wrong", f"{path}: {off}, so no hook runs", "take it out")
    commands = {event: one for _, told in settings for event, one in install.ours(told).items()}
    for event in module.EVENTS:
        if event not in commands:
            return Check(client, "wrong", f"there is no hook for {event}", fix)
        if commands[event] != install.command(client, event):
            return Check(client, "wrong", f"the hook for {event} is not what this ahp installs", fix)
    try:
        parsed("ls")  # the probe holds no shell command
    except AhpError as error:
        return Check(client, "wrong", str(error))
    if failed := probe(repo, client, module.CALL, commands[module.CALL]):
        return Check(client, "wrong", failed, fix)
    status = "note" if module.TRUST else "ok"
    return Check(client, status, "configured and reached", module.TRUST)


def probe(repo: Repository, client: str, event: str, command: str) -> str:
    """What goes wrong when the client's command is run with a call that is always refused; "" when it is refused."""
    call = clients.CLIENTS[client].probe(event, PROBE)
    env = environ.scrubbed(environ.current())
    for name in clients.CLIENTS[client].FOLDERS:
        env[name] = repo.root
    try:
        done = process.capture(
            ["/bin/sh", "-c", command], cwd=repo.root, env=env, stdin=jsontext.encode(call).encode(), timeout=_TIMEOUT
        )
    except AhpError as error:
        return str(error)
    said = done.out.decode("utf-8", "replace")
    if done.code == clients.CLIENTS[client].DENIED and "ahp reached" in said:
        return ""
    told = done.err.decode("utf-8", "replace").strip() or "it says nothing"
    return f"the probe ended with {done.code}: {one_line(told, 300)}"
