"""Commands of the policy that cannot run in this clone: told at the first push that is judged without them.

`ahp install git` and `ahp doctor` say the same whenever they are asked. A push says it once for each command and cause.
"""

from collections.abc import Iterable, Sequence

from ahp.facts.registry import Command
from ahp.hosts import command_trust
from ahp.hosts.git.githooks import Hook
from ahp.hosts.git.output import write
from ahp.policy import judge as judging
from ahp.policy.judge import Judge
from ahp.policy.problems import PolicyError
from ahp.protocol.event import Workspace
from ahp.system import files, jsontext
from ahp.system.digest import sha256
from ahp.system.errors import AhpError

_TOLD = "/told-commands"
_KEPT = 1000
_LIMIT = 1 << 20


def tell(hook: Hook, judges: Sequence[Judge]) -> None:
    """Says which commands of these judges' policies cannot run here, as far as no push has said it. Raises AhpError."""
    where = hook.where
    specs: dict[str, Command] = {}
    commits: dict[str, str] = {}
    for judge in reversed(judges):  # the first counts most
        named = {f"facts.{name}": spec for name, spec in judge.program.settings.commands.items()}
        specs |= named
        commits |= dict.fromkeys(named, (judge.tree.commit or "HEAD")[:10] if judge.tree is not None else "")
    lost, waiting = command_trust.not_found(specs, where), command_trust.waiting(specs, where)
    causes = {
        name: sha256(f"path {name} {program}".encode("utf-8", "surrogateescape")) for name, program in lost.items()
    }
    waits = {name: sha256(f"trust {digest}".encode()) for name, digest in waiting.items()}
    if not causes and not waits:
        return
    told = _told(where)
    lost = {name: program for name, program in lost.items() if causes[name] not in told}
    new = [name for name in waiting if waits[name] not in told]
    if lost:
        write("ahp: {}; {}".format(*command_trust.say_not_found(lost)))
    here = _in_work_tree(hook, specs)
    for commit in dict.fromkeys("" if name in here else commits[name] for name in new):
        names = [name for name in new if ("" if name in here else commits[name]) == commit]
        write("ahp: {}; {}".format(*command_trust.say_waiting(names, commit)))
    if lost or new:
        _remember(where, [*told, *(causes[name] for name in lost), *(waits[name] for name in new)])


def _in_work_tree(hook: Hook, specs: dict[str, Command]) -> set[str]:
    """Those that the policy of the work tree has, too, so that a plain `ahp trust` accepts them."""
    try:
        program = judging.working(hook.event())
    except PolicyError:
        return set()
    own = {f"facts.{name}": jsontext.encode(spec) for name, spec in program.settings.commands.items()}
    return {name for name, spec in specs.items() if own.get(name) == jsontext.encode(spec)}


def _told(where: Workspace) -> list[str]:
    """The causes that were told before, each as a digest; one a line."""
    return (files.read(where.journal + _TOLD, _LIMIT) or b"").decode("ascii", "replace").split()


def _remember(where: Workspace, told: Iterable[str]) -> None:
    try:
        files.replace(where.journal + _TOLD, "".join(f"{one}\n" for one in list(told)[-_KEPT:]).encode())
    except AhpError:
        return  # the next push says it again; that the folder cannot be written is told with the verdict
