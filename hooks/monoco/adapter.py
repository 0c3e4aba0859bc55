"""The gate in front of Monoco's issue commands: put here by `ahp install monoco`, removed by `ahp uninstall monoco`.

Monoco's feature loader mounts it with every command that has a workspace, and it registers itself with Monoco's own
issue hooks. It asks `ahp` in a process of its own; whatever goes wrong there, or here, is a refusal.
"""

import json
import os
import shutil
import signal
import subprocess
import sys

COMMAND = "@COMMAND@"
TIMEOUT = 300.0  # s: above what ahp gives itself for an ordinary policy; Monoco has no limit of its own
EVENTS = [f"{when}-issue-{step}" for when in ("pre", "post") for step in ("start", "submit", "close")]
WAY_OUT = "`ahp install monoco` renews the adapter, `ahp uninstall monoco` takes it away"


def told(event, issue, folder):
    """What ahp says to one event: (decision, message, suggestions). Never raises, and no error lets anything pass."""
    try:
        said = json.loads(_ask(_program(), event, issue, folder))
        decision, message, suggestions = said["decision"], said["message"], said["suggestions"]
        if decision not in ("allow", "warn", "deny"):
            raise ValueError(f"it decided {decision!r}")
        return decision, str(message), [str(one) for one in suggestions]
    except Exception as error:  # noqa: BLE001
        # Monoco lets an exception of a hook pass under --force, and `close` always forces.
        return "deny", f"ahp could not judge this: {type(error).__name__}: {error}", [WAY_OUT]


def _program():
    if os.access(COMMAND[0], os.X_OK):
        return COMMAND
    other = shutil.which("ahp")
    if other is None:
        raise FileNotFoundError(f"{COMMAND[0]} is gone, and no ahp is on PATH")
    return [other]


def _ask(program, event, issue, folder):
    solution = _solution() if event.endswith("-close") else ""
    argv = [*program, "hook", "monoco", event, *([issue] if issue else []), *([solution] if issue and solution else [])]
    # A session of its own, so that the commands of a policy die with it.
    asked = subprocess.Popen(
        argv,
        cwd=folder or None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = asked.communicate(timeout=TIMEOUT)
    except BaseException:
        os.killpg(asked.pid, signal.SIGKILL)
        asked.wait()
        raise
    if asked.returncode:
        raise ChildProcessError(err.decode("utf-8", "replace").strip()[-500:] or f"exit code {asked.returncode}")
    return out


def _solution():
    """What the command closes the issue as, "" where it does not say; Monoco's hooks are not told."""
    words = sys.argv[1:]
    for place, word in enumerate(words, 1):
        if word in ("--solution", "-s"):
            return "".join(words[place : place + 1])
        if word.startswith("--solution="):
            return word.partition("=")[2]
    return ""


def answer(context):
    """Monoco's hook: the context of an event in, Monoco's result out."""
    from monoco.core.output import OutputManager
    from monoco.features.issue.hooks import IssueHookResult

    folder = str(context.project_root) if context.project_root else ""
    decision, message, suggestions = told(context.event.value, context.issue_id, folder)
    if not OutputManager.is_agent_mode():  # people get it through a printer that reads [brackets] as styles
        from rich.markup import escape

        message, suggestions = escape(message), [escape(one) for one in suggestions]
    return IssueHookResult(decision=decision, message=message, suggestions=suggestions)


def register(root):
    """Adds the hook to Monoco's dispatcher, before Monoco's own."""
    from monoco.features.issue.hooks import IssueEvent, get_dispatcher

    get_dispatcher(root).register_callable("AHP", [IssueEvent(name) for name in EVENTS], answer, priority=0)


def refuse(error):
    """Monoco warns of a feature that fails and goes on without it: moves of issues must not go on."""
    if "issue" in sys.argv and any(word in sys.argv for word in ("start", "submit", "close")):
        sys.stderr.write(f"ahp: cannot join Monoco's hooks: {error!r}; {WAY_OUT}\n")
        raise SystemExit(1)


try:
    from monoco.core.loader import FeatureMetadata, FeatureModule

    class AhpFeature(FeatureModule):
        """What Monoco's loader looks for."""

        @property
        def metadata(self):
            return FeatureMetadata(name="ahp", description="asks ahp before an issue moves")

        def _on_mount(self, context):
            try:
                register(context.root)
            except Exception as error:
                refuse(error)
                raise

except Exception as error:
    refuse(error)
    raise
