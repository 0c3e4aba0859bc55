"""Program texts of general languages with the values of names in their places: `p = ".a"; open(p, "w")`.

Only what is written out counts: a string, a path made of strings, a list of strings; it holds up to the next assignment
of the name.
"""

from bisect import bisect_left

from ahp.agents.shell.marks import ANYTHING
from ahp.system.plain import Plain
from ahp.system.regex import DOTALL, regex

# Atomic, as all that is repeated in patterns here: the time that a text takes has to grow with its length alone.
STRING = (
    r"""(?>"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
)
STRINGS = regex(STRING, DOTALL)
PATH = r"(?:\b(?:Path|PurePath|Pathname\.new|Path\.of|Paths\.get|File)\(\s*+)"
"""What makes a path of a string."""
_ADDS = regex(r"\s*[+.]\s*")
_LONG = ('"""', "'''")
_SEVERAL = rf"{STRING}(?>(?:\s*+,\s*+{STRING})*)\s*+,?\s*+"
_JOINED = regex(rf"\b(?:path|File)\.(?:join|resolve)\(\s*+({_SEVERAL})\)", DOTALL)
_DIVIDED = regex(rf"{PATH}({STRING})\s*+\)((?>(?:\s*+/\s*+{STRING})+))", DOTALL)
_VALUE = regex(rf"\s*+(?:(?:\w+\.)?{PATH}{STRING}\s*+\)|{STRING}|[\[(]\s*+{_SEVERAL}[\])])\s*+", DOTALL)
_SETS = regex(
    r"(?<![\w.$>\]])[$@]?([A-Za-z_]\w*+)\s*+(?::\s*+[\w.]++\s*+)?:?=(?![=~>])"
    r"|\bfor\s++(?:(?:const|let|var|my)\s++)?\(?\s*+(?:const\s|let\s|var\s)?\s*+[$]?(\w++)\s++(?:in|of)\s"
    r"|\bfor(?:each)?\s++(?:my\s++)?[$](\w++)\s*+\("
    r"|\bforeach\s*+\((?=[^\n{]{1,300}?\sas\s++[$](\w++))"
    r"|(?=(\[[^\[\]\n]{1,300}+\])\.(?:forEach|each|map)[({ ]+(?:do\s*+)?(?:function\s*+)?[(|]?\s*+(\w++))\["
)
_BEGINS = regex(r"(?:\A|[\n;{:]|\b(?:const|let|var|my|our|local|do|then))[ \t(]*+\Z")
_NAME = regex(r"(?<![\w.>])[$@]?([A-Za-z_]\w*+)(?!\w|\s*+=(?!=)|\s*+:=|\()")
_FILLS = regex(r"[$#]?\{\s*+[$@]?(\w++)\s*+\}|[$](\w++)|[$#]?\{[^{}]{0,100}+\}|%[sd]")
_PLAIN = regex(r"[^'\"`()\[\]{};,\n#:]++")
_AS = regex(r"\sas\s++[$]\w++.*+", DOTALL)
_ESCAPED = regex(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}
# Folders that nothing was in before, and into which nothing else leads: `with TemporaryDirectory() as d`, `mkdtemp()`.
_TEMPORARY_AS = regex(r"\bwith[ \t]++(?:tempfile\.)?TemporaryDirectory\([^(),='\"]*+\)[ \t]++as[ \t]++(\w++)[ \t]*+:")
_TEMPORARY = regex(
    r"\b(?:tempfile\.)?(?:mkdtemp|gettempdir)\((?:(?:prefix|suffix)=)?(?:\w*+|['\"][\w.-]*+['\"])\)|\bos\.tmpdir\(\)"
)
_TEMPORARY_IN = regex(r"\b(?:fs\.)?mkdtempSync\(([^()\n]*+)\)")
# Where one of these stands, a name may be used before the place at which it gets its value, or by another way.
_DEFERS = regex(r"\b(?:def|function|sub|class|lambda|global|proc)\b|=>|->")
_MOST, _LONGEST, _GROWN = 100, 2000, 8


class Quoted(Plain):
    """Which places of a text are inside of its strings."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, text: str) -> None:
        spans = [found.span() for found in STRINGS.finditer(text)]
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def has(self, place: int) -> bool:
        """Whether the sign at the place stands between quotes."""
        before = bisect_left(self._starts, place) - 1
        return before >= 0 and place < self._ends[before]


def with_values(text: str) -> str:
    """The text with strings in the places of the names that stand for them; what is put together is one string."""
    text = _together(_with_temporary(text))
    quoted, defers = Quoted(text), _DEFERS.search(text) is not None
    values: dict[str, str] = {}
    done, at = "", 0
    for _ in range(_MOST):
        found = _SETS.search(text, at)
        if found is None:
            break
        done += _filled(text[at : found.start()], values)
        is_argument = found[1] and not _BEGINS.search(done, max(len(done) - 50, 0))
        if is_argument or quoted.has(found.start()):
            done, at = done + found[0], found.end()
            continue
        name = next(filter(None, (found[1], found[2], found[3], found[4], found[6])))
        source = _expression(text, found.end()) if found[5] is None else found[5]
        value = _together(_filled(source, values))
        is_plain, at = _VALUE.fullmatch(_AS.sub("", value) if found[4] else value) is not None, found.end()
        values.pop(name, None)
        if found[1]:
            is_used_here = is_plain and not (defers or f"'{name}" in text or f'"{name}' in text)
            done += "" if is_used_here else found[0]
            at += len(source) if is_used_here else 0
        else:  # a loop: each of the strings in it
            value = f"[{', '.join(STRINGS.findall(value))}]"
            done += found[0]
            at += len(source) if is_plain and found[5] is None else 0
            begin = done.rfind("\n") + 1
            done = done[:begin] + _filled(done[begin:], {name: value} if is_plain and STRINGS.search(value) else {})
        if is_plain and STRINGS.search(value) and len(value) * text.count(name) <= _GROWN * _LONGEST:
            values[name] = value
    return _together(done + _filled(text[at:], values))


def _with_temporary(text: str) -> str:
    text = _TEMPORARY_AS.sub(lambda found: f'{found[1]} = "/tmp/tmp";', text)
    return _TEMPORARY_IN.sub(lambda found: found[1], _together(_TEMPORARY.sub('"/tmp/tmp"', text)))


def arguments(text: str, start: int, ends: str) -> str:
    """What follows up to the bracket that closes, or to one of the signs `ends` outside of brackets."""
    depth, place = 0, start
    end = min(len(text), start + _LONGEST)
    while place < end:
        string = STRINGS.match(text, place)
        if string:
            place = string.end()
            continue
        if plain := _PLAIN.match(text, place):
            place = plain.end()
            continue
        sign = text[place]
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (sign in ends and depth <= (sign == "{")):
            break
        place += 1
    return text[start : min(place, end)]


def _expression(text: str, start: int) -> str:
    return arguments(text, start, "\n;#:{")


def unquoted(string: str) -> str:
    """The text of one string."""
    size = 3 if string[:3] in _LONG and len(string) >= 6 else 1
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), string[size:-size])


def added(text: str) -> str:
    """The text with strings that are added as one: `'.a' + 'hp'`."""
    parts, at = [""], 0
    for string in STRINGS.finditer(text):
        between, one, last = text[at : string.start()], string[0], parts[-1]
        is_more = _ADDS.fullmatch(between) and last[-1:] == one[0] and not {last[-3:], one[:3]} & {*_LONG}
        parts[-1:] = [last[:-1], one[1:]] if is_more else [last, between, one]
        at = string.end()
    return "".join([*parts, text[at:]])


def _together(text: str) -> str:
    """Strings that are added, and paths that are joined, as one string."""
    text = _JOINED.sub(lambda found: _one(STRINGS.findall(found[1])), added(text))
    return _DIVIDED.sub(lambda found: f"Path({_one([found[1], *STRINGS.findall(found[2])])})", text)


def _one(strings: list[str]) -> str:
    texts = [unquoted(one).replace('"', "").replace("\\", "") for one in strings]
    return '"' + "/".join([text.rstrip("/") if text != "/" else "" for text in texts]) + '"'


def _filled(text: str, values: dict[str, str]) -> str:
    """The text with the values of the names in it; in strings `**` stands where a value is not known."""
    parts, at = [], 0
    for string in STRINGS.finditer(text):
        parts.append(_named(text[at : string.start()], values))
        parts.append(_FILLS.sub(lambda found: _in_string(found[1] or found[2] or "", values), string[0]))
        at = string.end()
    return "".join([*parts, _named(text[at:], values)])


def _named(code: str, values: dict[str, str]) -> str:
    return _NAME.sub(lambda found: values.get(found[1], found[0]), code) if values else code


def _in_string(name: str, values: dict[str, str]) -> str:
    strings = STRINGS.findall(values.get(name, ""))
    return unquoted(strings[0]).replace("\\", "") if len(strings) == 1 else ANYTHING
