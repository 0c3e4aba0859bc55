"""Remotes that are folders of this machine: what git's own commands take away there, no push is asked about."""

from ahp.agents.calls.call_paths import inside
from ahp.system import files, paths
from ahp.system.errors import AhpError
from ahp.system.regex import IGNORECASE, MULTILINE, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ahp.protocol.event import Event

_LIMIT = 1 << 20
_URL = regex(
    r"^[ \t]*(?:\[[^\]\n]*\][ \t]*)?(?:push)?url[ \t]*=[ \t]*\"?(?:file://)?([^\s\":;#][^\":;#\n]*)",
    MULTILINE | IGNORECASE,
)
# Verbs that change refs, with the options without which they only show or make them.
_ALWAYS = frozenset(("update-ref", "filter-branch", "filter-repo", "fast-import"))
_WITH = {
    "branch": frozenset(("-d", "-D", "--delete", "-f", "--force", "-m", "-M", "--move")),
    "tag": frozenset(("-d", "--delete", "-f", "--force")),
    "reflog": frozenset(("delete", "expire")),
}
_TAKING = ("receive.", "transfer.")
_ELSEWHERE = frozenset(("--global", "--system", "--file", "-f"))  # files of their own, which are told as written


def reached(event: "Event", call: "Mapping[str, object]") -> list[str]:
    """Where the call changes refs of a remote, or what it takes, or writes its files; paths as those of the call."""
    led = list(dict.fromkeys(_led_to(call)))
    written = call.get("writes")
    far = [str(one) for one in (written if isinstance(written, list) else []) if str(one).startswith(("/", "../"))]
    if not (led or far) or event.repo is None:
        return []
    remotes = {paths.real(place).removesuffix("/.git") for place in _remotes(event)} - {paths.real(event.root)}
    found = [place for place in led if _whole(place, event).removesuffix("/.git") in remotes]
    kept = [f"{one}/.git" if paths.names_in(f"{one}/.git") else one for one in remotes]
    return found + [path for path in far if any((_whole(path, event) + "/").startswith(f"{one}/") for one in kept)]


def _led_to(call: "Mapping[str, object]") -> "Iterator[str]":
    """The folders, and git directories, in which git commands change refs, or settings about them."""
    commands = call.get("commands")
    exported = ""
    for one in commands if isinstance(commands, list) else []:
        given = [value for name, _, value in (word.partition("=") for word in one["assignments"]) if name == "GIT_DIR"]
        if one["program"] != "git":
            exported = given[-1] if given and one["program"] in ("export", "declare", "typeset", "") else exported
            continue
        if not (_changes_refs(one) or _sets_what_it_takes(one)):
            continue
        args = one["args"]
        named = [arg.partition("=")[2] for arg in args if arg.startswith("--git-dir=")]
        named += [args[at + 1] for at, arg in enumerate(args[:-1]) if arg == "--git-dir"]
        folder = one["folder"]
        for place in named[-1:] or given[-1:] or [exported or folder]:
            if place:
                yield inside(place, "", folder if place != folder else "")


def _changes_refs(one: "Mapping[str, list[str]]") -> bool:
    if one["does_nothing"]:
        return False
    verb = str(one["verb"])
    if verb == "symbolic-ref":
        return len(one["operands"]) > 1 or not {"-d", "--delete"}.isdisjoint(one["flags"])
    return verb in _ALWAYS or not _WITH.get(verb, frozenset()).isdisjoint([*one["flags"], *one["operands"]])


def _sets_what_it_takes(one: "Mapping[str, list[str]]") -> bool:
    """Whether `git config` writes a setting about what a push may do there: `receive.denyDeletes` and its like."""
    if str(one["verb"]) != "config" or not _ELSEWHERE.isdisjoint(one["flags"]):
        return False
    named = {word.lower() for word in one["operands"]}
    keys = [setting.partition("=")[0] for setting in one["config"]]
    return any(key in named and (key + ".").startswith(_TAKING) for key in keys)


def _remotes(event: "Event") -> "Iterator[str]":
    """The absolute paths of remotes that are folders."""
    repo = event.repo
    try:
        told = (files.read(f"{repo.common_dir}/config", _LIMIT) or b"").decode(errors="replace") if repo else ""
    except AhpError:  # git does not read it either, or it is too large for one that a person wrote
        return
    for url in _URL.findall(told):
        yield inside(url.strip(), "") if url.startswith("/") else f"{event.root}/{url.strip()}"


def _whole(path: str, event: "Event") -> str:
    return paths.real(path if path.startswith("/") else f"{event.root}/{path}")
