"""Programs that unpack and make archives: tar, unzip, 7z, unar, jar, cpio."""

from ahp.agents.shell import marks, roles, usage
from ahp.agents.shell.marks import ANYTHING, Marks
from ahp.agents.shell.usage import Usage

_TAR_MODES = {"--extract", "--get", "--list"}


def tar(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`tar -xf ARCHIVE -C FOLDER`, `tar xf`, `tar czf ARCHIVE FILES`."""
    old = [f"-{args[0]}"] if args and not args[0].startswith("-") and marks.is_known(args[0]) else []
    if old and old[0][1:].rstrip("f").isalpha() and "f" in old[0]:  # `tar fx a`: the values follow in order
        old = ["-" + old[0][1:].replace("f", "") + "f"] if len(old[0]) > 2 else ["-f"]
    found = roles.read(program, [*old, *args[len(old) :]], stdin, known)
    archives = [value for name, value in found.values if name == "--file"]
    folders = [value for name, value in found.values if name == "--directory"]
    modes = _TAR_MODES & set(found.flags)
    found.reads += archives if modes else found.operands
    found.writes += found.operands if "--remove-files" in found.flags else []
    if modes & {"--extract", "--get"}:
        count = next((value for name, value in found.values if name == "--strip-components"), "")
        stripped = int(count) if count.isdecimal() and len(count) < 4 else 0
        source = None if archives and archives != ["-"] else stdin
        members = [_stripped(member, stripped) for member in found.operands or _members(source, known)]
        found.writes += [usage.joined(folder, member) for folder in folders or ["."] for member in members]
        archives = [*archives, *known.opened.get(source or "", ())]
        _unpack(found, archives if not found.operands else [], folders, stripped)
    elif not modes:
        found.writes += archives
    return found


def printed(program: str, args: list[str], known: Marks) -> tuple[str, ...]:
    """The names in the archive that `tar c FILES` prints; none where only running tells."""
    found = tar(program, args, None, known)
    archives = {value for name, value in found.values if name == "--file"}
    renamed = {"--transform", "--files-from"} & {name for name, _ in found.values}
    if "--create" not in found.flags or archives - {"-"} or renamed:
        return ()
    return tuple(known.pattern(one).lstrip("/") for one in found.operands)


def unpacker(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`unzip ARCHIVE -d FOLDER`, `7z x ARCHIVE -oFOLDER`, `unar ARCHIVE`, `jar xf ARCHIVE`."""
    found = roles.read(program, args, stdin, known)
    if program == "jar":
        archives = args[1:2] if "x" in "".join(args[:1]) and "f" in args[0] else []
    elif found.verb:
        archives = found.operands[:1] if found.verb == "x" else []
    else:
        archives = [] if {"-l", "-t", "-p", "-Z", "-v"} & set(found.flags) else found.operands[:1]
    folders = [value for name, value in found.values if name in ("-d", "-o", "--output-directory", "-output-directory")]
    _unpack(found, archives, folders)
    return found


def module(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`python -m tarfile -e ARCHIVE FOLDER`, `python -m zipfile -c ARCHIVE FILES`."""
    found = roles.read(program, args, stdin, known)
    archives, others = found.operands[:1], found.operands[1:]
    if "--extract" in found.flags:
        found.reads += archives
        found.writes += [usage.joined(folder, ANYTHING) for folder in others[:1] or ["."]]
        _unpack(found, archives, others[:1])
    elif "--create" in found.flags:
        found.writes += archives
        found.reads += others
    else:
        found.reads += found.operands
    return found


def cpio(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`cpio -i`, `cpio -p FOLDER`: the names of what is written stand in the archive, or come in."""
    found = roles.read(program, args, stdin, known)
    if "--extract" in found.flags:
        found.writes += _members(stdin, known)
    elif "--pass-through" in found.flags:
        found.writes += [usage.joined(folder, ANYTHING) for folder in found.operands]
    return found


def _unpack(found: Usage, archives: list[str], folders: list[str], stripped: int = 0) -> None:
    into = folders[-1] if folders else "."
    found.unpacks += [(archive, into, stripped) for archive in archives if archive not in ("", "-")]


def _stripped(member: str, count: int) -> str:
    """The name in an archive without its first parts; what is left of a folder then is what is in it."""
    if not count or member.startswith(ANYTHING):
        return member
    return "/".join([part for part in member.split("/") if part not in ("", ".")][count:]) or "."


def _members(stdin: str | None, known: Marks) -> list[str]:
    """What an archive holds that comes in: `git archive OLD src | tar x`, `tar c src | tar x`."""
    if stdin in known.packed:
        return list(known.packed[stdin])
    patterns = [part.pattern for part in known.of(stdin or "")]
    return patterns if patterns and not any(one.startswith(ANYTHING) for one in patterns) else [ANYTHING]
