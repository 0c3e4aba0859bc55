"""Which files a program text of a general language writes, or only reads, by the calls in which they are named."""

from itertools import islice

from ahp.agents.shell.code_values import PATH, STRING, STRINGS, Quoted, arguments, unquoted, with_values
from ahp.agents.shell.marks import ANYTHING
from ahp.agents.shell.usage import is_file, joined
from ahp.system.plain import Plain
from ahp.system.regex import DOTALL, regex

# Functions by which of their arguments is written: the first, all, the second.
_FIRST = """WriteFile writeFile writeFileSync
    appendFile appendFileSync outputFile outputFileSync outputJson outputJsonSync
    writeJson writeJsonSync createWriteStream truncate truncateSync writeTextFile writeTextFileSync file_put_contents
    chown chownSync lchown utimes utimesSync write binwrite FileWriter FileOutputStream PrintWriter writeString"""
_ALL = """unlink unlinkSync rm rmSync rmdir rmdirSync rmtree remove removeSync removedirs rm_rf rm_r rm_f delete chmod
    chmodSync lchmod rename renameSync renames replace move mv moveSync touch utime safe_unlink deleteIfExists
    Remove RemoveAll Rename Create create remove_file remove_dir_all"""
_SECOND = """copy copy2 copyfile copyFile copyFileSync copytree cp cp_r cpSync copySync symlink symlinkSync link
    linkSync ln_s ln_sf copymode"""
_READ = """readFile readFileSync readTextFile readTextFileSync file_get_contents existsSync exists isfile isdir getsize
    getmtime stat statSync lstat lstatSync access accessSync read readlines exist load_file createReadStream require
    print puts echo log readAllLines readString"""
_OPEN = "open fopen openSync sysopen FileIO ZipFile"
_firsts, _alls, _seconds = frozenset(_FIRST.split()), frozenset(_ALL.split()), frozenset(_SECOND.split())
_reads, _opens = frozenset(_READ.split()), frozenset(_OPEN.split())
# Names that methods of other things have, too: behind a dot they count where a module for files is named there.
_EVERYDAY_NAMES = """write remove delete rm replace move mv touch copy cp link rename read append open stat create
    Create Remove Rename"""
_MODULE_NAMES = "os fs fsp fse fsPromises promises shutil File FileUtils IO Files Deno Bun io posix codecs glob"
_EVERYDAY, _MODULES = frozenset(_EVERYDAY_NAMES.split()), frozenset(_MODULE_NAMES.split())
_NAMES = "|".join(sorted({*_firsts, *_alls, *_seconds, *_reads, *_opens}, key=lambda name: (-len(name), name)))
_CALL = regex(rf"(?<!\w)({_NAMES})[?!]?(?:\s*+\(|[ \t]++(?=['\"\d$\[]|my\b|[A-Z]+\s*,))\s*+")
_QUALIFIER = regex(r"(\w*+)(\([^()]*+\))?\s*+(?:\.|->|::)\Z")
_PATH_WRITES = "write_text|write_bytes|unlink|rename|chmod|lchmod|touch|rmdir|symlink_to|hardlink_to|delete|writeText"
_PATH_READS = "read_text|read_bytes|exists|is_file|is_dir|stat|readText"
_LISTED = rf"(?:{STRING}|\[(?>(?:\s*+{STRING}\s*+,?)+)\s*+\])"
_OF_A_PATH = regex(rf"{PATH}({_LISTED})\s*+\)(?>(?:\.(?:resolve|absolute|expanduser)\(\))*)\.(\w++)\(?\s*+", DOTALL)
_OF_EACH = regex(rf"({_LISTED})\.({_PATH_WRITES})\(", DOTALL)
_WRITES_PATH, _READS_PATH = frozenset([*_PATH_WRITES.split("|"), "replace"]), frozenset(_PATH_READS.split("|"))
_EDITED = regex(r"\b(?:fileinput\.input|FileInput)\(([^()]{0,300}?)\binplace\b", DOTALL)
_FOLDER = regex(rf"\bchdir\s*+\(?\s*+({STRING})")
_MODE = regex(r"(?:(?:mode|flags?)\s*+[:=]\s*+)?['\"]([rwaxbt+]{1,4})['\"]")
_READ_ONLY = regex(
    r"\s*+(?>(?:(?:mode\s*+=\s*+)?['\"][rbtU]{1,3}(?::[\w-]++)?['\"]|(?!mode\b)\w++\s*+=[^=].*+)?)\s*\Z", DOTALL
)
_ASKS_FOR_A_NAME = regex(r"\.(?:name|to_path|path(?!\.))\b")
_SHADOWED = regex(r"\b(?:as|def|function|sub)\s++(\w++)|(?<!\w)(\w++)\s*+=(?![=>])")
_OPENS_TO_WRITE = regex(r"\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)\b")
_CALLS, _LONGEST = 200, 4000


class Files(Plain):
    """The files that a text `writes` for sure, and the text without those and without what it only reads."""

    __slots__ = ("rest", "writes")

    def __init__(self, writes: list[str], rest: str) -> None:
        self.writes, self.rest = writes, rest


def told(text: str) -> Files:
    """What the calls in a text tell of the files that they name."""
    text = with_values(text)
    quoted = Quoted(text)
    shadowed = {one or other for one, other in _SHADOWED.findall(text)}
    if _ASKS_FOR_A_NAME.search(text):  # of a file that is open: another call may write it by that name
        shadowed |= _opens | {"createReadStream"}
    written: list[str] = []
    known: list[tuple[int, int]] = []  # where names stand whose use is known

    def take(start: int, part: str, writes: bool) -> None:
        known.append((start, start + len(part)))
        if writes:
            written.extend([unquoted(one).lstrip("<>+|").strip() for one in STRINGS.findall(part)])

    for call in _outside(quoted, _CALL, text):
        if _is_of_files(text, call.start(), call[1]):
            _take_call(text, call, take, shadowed)
    for path in _outside(quoted, _OF_A_PATH, text):
        _take_path(text, path, take)
    for each in _outside(quoted, _OF_EACH, text):
        take(each.start(1), each[1], True)
    for edited in _outside(quoted, _EDITED, text):
        take(edited.start(1), edited[1], True)
    files = list(dict.fromkeys([one for one in written if _is_name(one)]))
    folders = [unquoted(folder[1]) for folder in _outside(quoted, _FOLDER, text)]
    files += [joined(folder, one) for folder in folders for one in files]
    return Files(files, _without(text, known))


def _outside(quoted: Quoted, pattern: "re.Pattern[str]", text: str) -> "list[re.Match[str]]":
    """The first of the places that are no part of a string: what a text edits may be a program, too."""
    return [found for found in islice(pattern.finditer(text), _CALLS) if not quoted.has(found.start())]


def _take_path(text: str, path: "re.Match[str]", take: "Callable[[int, str, bool], None]") -> None:
    """What a method of a path does with it."""
    name = path[2]
    if name == "open":
        modes = parts_of(given(text, path.end()))
        if _opens_to_write(["", *modes]):
            take(path.start(1), path[1], True)
        elif all(map(_READ_ONLY.match, modes)):
            take(path.start(1), path[1], False)
    elif name in _WRITES_PATH or name in _READS_PATH:
        take(path.start(1), path[1], name in _WRITES_PATH)
    if name in ("rename", "replace"):
        take(path.end(), arguments(text, path.end(), ""), True)


def _take_call(text: str, call: "re.Match[str]", take: "Callable[[int, str, bool], None]", shadowed: set[str]) -> None:
    """What one call does with each of its arguments; a name in `shadowed` may be one of another function."""
    name, parts = call[1], parts_of(given(text, call.end()))
    places = [call.end() + sum(len(part) + 1 for part in parts[:number]) for number in range(len(parts))]
    for number, (place, part) in enumerate(zip(places, parts, strict=True)):
        if name in _opens:
            writes = _opens_to_write(parts)
            if writes and number < 3 and not _MODE.match(part.strip()):
                take(place, part, True)
            elif number == 0 and name not in shadowed and _only_reads(parts):
                take(place, part, False)
        elif name in _alls:
            take(place, part, True)
        elif name in _seconds and number < 2:
            take(place, part, number == 1)
        elif number == 0 and (name in _firsts or name not in shadowed):
            take(place, part, name in _firsts)


def _opens_to_write(parts: list[str]) -> bool:
    modes = [_MODE.match(part.strip()) for part in parts[1:]]
    if any(mode and set("wax+") & set(mode[1]) for mode in modes):
        return True
    behind = [unquoted(one) for part in parts[1:2] for one in STRINGS.findall(part)]
    return any(one.startswith((">", "+<", "+>")) for one in behind) or any(map(_OPENS_TO_WRITE.search, parts[1:]))


def _only_reads(parts: list[str]) -> bool:
    """Whether a call that opens a file says so: a mode that is not known may be any."""
    return not parts[0].lstrip().startswith("*") and all(map(_READ_ONLY.match, parts[1:]))


def _is_of_files(text: str, start: int, name: str) -> bool:
    """Whether a function is one for files: by its name alone, or by the module before it."""
    if name not in _EVERYDAY or text[start - 1 : start] not in (".", ">", ":"):
        return True
    before = _QUALIFIER.search(text, max(start - 60, 0), start)
    return before is not None and (before[1] in _MODULES or before[1] in ("require", "__import__", "import_module"))


def given(text: str, start: int) -> str:
    """The arguments of a call up to its bracket, or of one without brackets up to the end of the statement."""
    is_bare = text[max(start - 50, 0) : start].rstrip()[-1:] not in ("(", "[", "{")
    return arguments(text, start, ";\n" if is_bare else "")


def parts_of(text: str) -> list[str]:
    """The arguments one by one."""
    cuts, depth, place = [-1], 0, 0
    while place < len(text):
        string = STRINGS.match(text, place)
        if string:
            place = string.end()
            continue
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0 and text[place] == ",":
            cuts.append(place)
        place += 1
    return [text[start + 1 : end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _without(text: str, known: list[tuple[int, int]]) -> str:
    """The text without the strings at some places."""
    done, at = [], 0
    for start, end in sorted(known):
        if start >= at:
            done += [text[at:start], STRINGS.sub("''", text[start:end])]
            at = end
    return "".join([*done, text[at:]])


def _is_name(text: str) -> bool:
    """Whether a text names a file; one in an unknown folder does where a hidden folder or file is named in it."""
    is_told = not text.startswith(ANYTHING) or "/." in text
    return is_told and is_file(text) and len(text) <= _LONGEST and text.isprintable() and "://" not in text


TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
