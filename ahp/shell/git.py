"""git's command line: the options before the command, the command, and its own options (git(1))."""

from dataclasses import dataclass, field

from ahp.shell.gitoptions import SPECS
from ahp.shell.options import ANY, parse

_VALUED = {
    "-C": "folder",
    "-c": "config",
    "--config-env": "config",
    "--git-dir": "git_dir",
    "--work-tree": "work_tree",
    "--namespace": "",
    "--super-prefix": "",
    "--attr-source": "",
}


@dataclass(slots=True)
class GitCall:
    """One call of git. `config` holds `-c` settings as written, keys lower case; `folder` the `-C`s joined."""

    command: str = ""
    flags: list[str] = field(default_factory=list)
    """Of git and of the command, in full and as written: `-nm` gives -n, --no-verify, -m, --message."""
    values: list[tuple[str, str]] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    config: list[tuple[str, str]] = field(default_factory=list)
    folder: str = ""
    git_dir: str = ""
    work_tree: str = ""

    @property
    def alias(self) -> str:
        """What the command stands for by an alias given on this very line, "" when by none."""
        return dict(self.config).get(f"alias.{self.command.lower()}", "")


def read(args: list[str]) -> GitCall:
    """Reads the arguments of git, without the program."""
    call = GitCall()
    rest = list(args)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        name, glue, value = rest.pop(0).partition("=")
        call.flags.append(name)
        if name in _VALUED:
            given = value if glue else rest.pop(0) if rest else ""
            _set(call, name, given)
    if not rest:
        return call
    call.command = rest.pop(0)
    found = parse(rest, SPECS.get(call.command, ANY))
    call.flags = list(dict.fromkeys((*call.flags, *found.flags)))
    call.values, call.operands = found.values, found.operands
    if call.command == "clone":
        call.config += [_pair(value) for name, value in found.values if name == "--config"]
    return call


def _set(call: GitCall, name: str, value: str) -> None:
    meaning = _VALUED[name]
    if meaning == "config":
        call.config.append(_pair(value))
    elif meaning == "folder":
        call.folder = value if value.startswith("/") or not call.folder else f"{call.folder}/{value}"
    elif meaning:
        setattr(call, meaning, value)


def _pair(setting: str) -> tuple[str, str]:
    """`core.hooksPath=x` as a key in lower case and its value; without `=` the value is true, as git has it."""
    key, glue, value = setting.partition("=")
    return key.strip().lower(), value if glue else "true"
