"""The table of hosts: who asks the gate, and how each is put in place, taken away and tried.

A host is a module or object with some of these; a command offers the hosts that have its function:

`hook(arguments)`        what its installed hook calls, `ahp hook NAME …`; the exit code
`found(root, env)`       whether `ahp install` takes it without being named
`packs(root)`            the packs that `ahp init` takes because the host works here
`install(user)`          puts the gate in place (`user`: into the person's own settings); the lines to say
`uninstall(user, named)` takes it away; `named`: a person named this host; the lines to say
`examine(repo)`          what `ahp doctor` says of it: a list of `Check`
"""

from typing import Any, NamedTuple

from ahp.system import wings

_OWN = {
    "git": "ahp.hosts.git.host",
    "monoco": "ahp.hosts.monoco.host",
    "pre-receive": "ahp.hosts.ci.host",
}


def hosts() -> dict[str, str]:
    """Name → place of every host: core's, the wings', those of other packages."""
    return {**wings.added("hosts"), **_OWN}


def host(name: str) -> Any:
    """The host of that name. Raises AhpError where it cannot be imported, KeyError where there is none."""
    return wings.load(hosts()[name], "hosts")


def able(act: str) -> list[str]:
    """The names of the hosts that have a function; git first, then as they were added."""
    names = ["git", *[name for name in hosts() if name != "git"]]
    return [name for name in names if hasattr(host(name), act)]


FIX = "ahp doctor --fix"


class Check(NamedTuple):
    """What was looked at: `status` is ok, note or wrong; `mend` a command or a sentence for a person.

    `ours`: `ahp doctor --fix` can mend it.
    """

    name: str
    status: str
    detail: str
    mend: str = ""
    ours: bool = False
