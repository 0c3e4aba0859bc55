"""Which files that a tool call writes decide what is allowed here, or tell what happened (design §6).  [light]"""

from ahp.agents.calls.call_paths import inside, is_in
from ahp.system import guarded
from ahp.system.paths import identity, names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event

_ENGINE = __file__.rpartition("/agents/")[0]


def written(event: "Event", call: dict[str, object]) -> list[dict[str, object]]:
    """The protected files that the call writes: `{kind, path, sure}` each, once a path and kind.

    A folder above one counts, and so does a pattern that may name one; `sure` is false where it only may write it: what
    a pattern names in a protected folder is surely protected.
    """
    if not call.get("writes") and not call.get("commands") and not call.get("may_write"):
        return []
    guarded_places = places(event)
    found: dict[tuple[str, str], bool] = {}
    listed = call.get("writes")
    written = set(map(str, listed)) if isinstance(listed, list) else set()
    for path, sure in _aimed_at(call):
        head = _head(path) if path in written else ""
        for kind, place in guarded_places:
            if concerns(path, place) and not _is_of_work(kind, path, place):
                lies_in_it = head != "" and is_in(head.casefold(), place.casefold())
                found[kind, path] = found.get((kind, path), False) or sure or lies_in_it
        if kind := _of_inner_repository(path):
            found[kind, path] = found.get((kind, path), False) or sure or _of_inner_repository(head) == kind
        if sure and (kind := _by_another_name(path, guarded_places, event.checkout or event.root)):
            found[kind, path] = True
    return [{"kind": kind, "path": path, "sure": sure} for (kind, path), sure in found.items()]


def _of_inner_repository(path: str) -> str:
    """The kind of a file that a repository below this one, or a submodule, runs or is set up by; "" for any other."""
    if path.startswith(("/", "~")) or ".git/" not in path.casefold():
        return ""
    parts = path.casefold().split("/")
    at = parts.index(".git") if ".git" in parts else -1
    if at == 0 and parts[1] == "modules":  # of submodules, whose names may have several parts
        inner = parts[3:]
        return "git hooks" if "hooks" in inner[:-1] else "git configuration" if inner[-1:] == ["config"] else ""
    below = "/".join(parts[at + 1 :]) if at > 0 else ""
    kinds = ("git hooks", "git configuration")
    return next((kind for kind in kinds if below and any(is_in(below, name) for name in guarded.IN_GIT[kind])), "")


def _by_another_name(path: str, places: list[tuple[str, str]], root: str) -> str:
    """The kind of the protected file that `path` is another name of (a hard link); "" where it is none."""
    same = identity(path if path.startswith("/") else f"{root}/{path}")
    if same is None:
        return ""
    for kind, place in places:
        whole = place if place.startswith("/") else f"{root}/{place}"
        if any(identity(one) == same for one in (whole, *names_in(whole))):
            return kind
    return ""


def _aimed_at(call: dict[str, object]) -> list[tuple[str, bool]]:
    """The paths that the call writes (true) and those that it may write."""
    listed, unsure = call.get("writes"), call.get("may_write")
    aimed = [(str(path), not _is_pattern(str(path))) for path in (listed if isinstance(listed, list) else [])]
    aimed += [(str(path), False) for path in (unsure if isinstance(unsure, list) else [])]
    commands = call.get("commands")
    for one in commands if isinstance(commands, list) else []:
        aimed += [(str(path), False) for path in one.get("may_write", [])]
    return aimed


def places(event: "Event") -> list[tuple[str, str]]:
    """(kind, path) of everything that is protected here; paths as the facts of a call have them."""
    root, repo = event.root, event.repo
    found = [(kind, name) for kind, names in guarded.IN_PROJECT.items() for name in names]
    found += [(kind, name) for kind, names in guarded.IN_SYSTEM.items() for name in names]
    if not is_in(_ENGINE, root):  # where it is, the project is ahp, or has it among its packages
        found.append(("ahp", inside(_ENGINE, root)))
    found += [(kind, f"~/{name}") for kind, names in guarded.IN_HOME.items() for name in names]
    own = "/.ahp/hooks.yaml"  # in the home of the user policy, which no variable moves
    home = event.user_policy.removesuffix(own) if event.user_policy.endswith(own) else ""
    for one in dict.fromkeys((home, event.env.get("HOME", ""))):  # programs go by the variable
        if one.startswith("/"):
            found += [
                (kind, inside(f"{one}/{name}", root)) for kind, names in guarded.IN_HOME.items() for name in names
            ]
    if repo is None:
        return found
    for folder in dict.fromkeys((repo.git_dir, repo.common_dir)):
        found += [(kind, inside(f"{folder}/{name}", root)) for kind, names in guarded.IN_GIT.items() for name in names]
    if event.checkout:
        found.append(("git configuration", inside(f"{repo.common_dir}/worktrees", root)))
    if event.checkout or (repo.root and repo.git_dir != f"{repo.root}/.git"):
        found.append(("git configuration", ".git"))  # a link to the git directory
    hooks = repo.config("core.hooksPath") if repo.may_set("hooksPath") else ""
    if hooks:
        found.append(("git hooks", inside(home + hooks[1:] if hooks.startswith("~/") else hooks, root)))
    return found


def concerns(path: str, place: str) -> bool:
    """Whether writing `path`, which may be a pattern, writes the file or folder `place`.

    Letters of either case are one: there are file systems on which they are.
    """
    path, place = path.casefold(), place.casefold()
    if not _is_pattern(path):
        return is_in(path, place) or (path not in (".", "/") and is_in(place, path)) or path in (".", "/", "~")
    if path.startswith("**/.") and not place.startswith(("~", "/")) and concerns(path[3:], place):
        return True  # at the top, too
    if path == "**/*":
        return not place.startswith(("~", "/"))  # all that is there
    if not path.strip("*/"):
        return False  # any file at all: that is unresolved, and told as such
    parts = path.rstrip("/").split("/")
    is_elsewhere = place.startswith(("~", "/")) and not path.startswith(("~", "/"))
    if is_elsewhere and (parts[0] != "**" or _is_pattern(parts[1])):
        return False  # only a name in an unknown folder is looked for there, as of `$X/.ahp`
    shortest = len(parts) if "." in place.rpartition("/")[2][1:] else 1  # in a file lies nothing
    above = any(
        _matches(place, "/".join(parts[:count]))
        for count in range(shortest, len(parts) + 1)
        if parts[count - 1] != "**"
    )
    return above or _matches(place, "/".join([*parts, "**"]))


def _is_of_work(kind: str, path: str, folder: str) -> bool:
    """Whether `path` in a client's folder is what its agent writes in its work."""
    path, folder = path.casefold(), folder.casefold()
    if kind != "agent settings" or not path.startswith(folder + "/"):
        return False
    is_text = path.endswith(guarded.TEXTS) and not any(
        part in guarded.AGENTS or _is_pattern(part) for part in path.split("/")[:-1]
    )
    return is_text or path[len(folder) + 1 :].partition("/")[0] in guarded.OF_WORK


def _head(path: str) -> str:
    """The folder in which all lies that a shell's own pattern names: `.git/hooks` of `.git/hooks/*`; "" for others.

    Behind `**` there may be a path of its own.
    """
    parts = path.split("/")
    count = next((number for number, part in enumerate(parts) if _is_pattern(part)), 0)
    return "" if parts[count].startswith("**") else "/".join(parts[:count])


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?[")


def _matches(text: str, pattern: str) -> bool:
    """Whether the pattern may stand for the text: `**` for any letters, `*` for any of one name, `?` and `[…]` for one.

    As in a shell, none of the last three stands for the dot that begins a name; behind `**`, which no shell's own
    pattern here has, they do, as those of `find -name`.
    """
    dots = "**" in pattern
    parts: list[str] = []
    for number, part in enumerate(pattern.split("[")):
        parts.append(part.partition("]")[2] if number and "]" in part else part)
    places = {0}
    for sign in _signs("?".join(parts)):
        if sign == "**":
            places = set(range(min(places), len(text) + 1))
        elif sign == "*":
            places = {end for place in places for end in range(place, _name_end(text, place, dots) + 1)}
        else:
            taken = [place for place in places if place < len(text)]
            places = {at + 1 for at in taken if text[at] == sign or (sign == "?" and _name_end(text, at, dots) > at)}
        if not places:
            return False
    return len(text) in places


def _signs(pattern: str) -> list[str]:
    """The letters of a pattern, `**` as one."""
    first, *rest = pattern.split("**")
    return [*first, *[sign for part in rest for sign in ("**", *part)]]


def _name_end(text: str, start: int, dots: bool) -> int:
    """Where the name that goes on at `start` ends; without `dots` one that begins with a dot ends before it."""
    if not dots and text[start : start + 1] == "." and (start == 0 or text[start - 1] == "/"):
        return start
    end = text.find("/", start)
    return len(text) if end < 0 else end
