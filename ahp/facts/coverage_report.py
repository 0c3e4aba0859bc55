"""Coverage reports: coverage.xml (Cobertura), coverage.json (coverage.py), lcov.  One definition for all (design §6):
covered lines plus covered branches, of all lines plus all branches.
"""

import json
import re
from collections.abc import Callable
from xml.parsers import expat

from ahp.facts.registry import Absent
from ahp.protocol.text import one_line

_CONDITIONS = re.compile(r"\((\d{1,9})/(\d{1,9})\)")


Counts = tuple[int, int, int, int]
"""Covered and existing lines, covered and existing branches."""


def parse(data: bytes, where: str) -> float:
    """Percent, 0 to 100, of lines plus branches in any of the three formats. Raises Absent with `where` and the line.

    It raises it for a report that measures nothing, or more than there is, too.
    """
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    read_as = _xml if start == b"<" else _json if start == b"{" else _lcov
    covered, lines, covered_branches, branches = read_as(data, where)
    if not lines + branches:
        raise Absent(f"{where} measures no lines")
    if covered > lines or covered_branches > branches:
        raise Absent(f"{where} claims more covered lines than there are")
    return 100.0 * (covered + covered_branches) / (lines + branches)


def _xml(data: bytes, where: str) -> Counts:
    counted = [0, 0, 0, 0]

    def start(name: str, attributes: dict[str, str], around: list[str]) -> None:
        # Lines stand under their class, and some tools repeat them under its methods.
        if name == "line" and around[-2:] == ["class", "lines"]:
            branches = _CONDITIONS.search(attributes.get("condition-coverage", ""))
            found = (
                _is_hit(attributes.get("hits", "0"), where),
                1,
                *map(int, branches.groups() if branches else (0, 0)),
            )
            counted[:] = [one + more for one, more in zip(counted, found, strict=True)]

    root = read(data, where, start)
    if root != "coverage":
        raise Absent(f"{where}: the root is <{root[:40]}>, not <coverage>; is it a Cobertura report?")
    if not counted[1]:
        raise Absent(f"{where}: it lists no lines of classes; is it a Cobertura report?")
    return counted[0], counted[1], counted[2], counted[3]


def _is_hit(hits: str, where: str) -> bool:
    """Whether a line or branch ran that often. Raises Absent: what is no count must not read as covered."""
    if not (hits.isascii() and hits.strip().isdigit()):
        raise Absent(f"{where}: {one_line(hits, 40)!r} is no count of hits; the report is broken")
    return hits.strip("0 ") != ""


def _json(data: bytes, where: str) -> Counts:
    try:
        totals = json.loads(data)["totals"]
        numbers = [totals["covered_lines"], totals["num_statements"]]
        numbers += [totals.get("covered_branches", 0), totals.get("num_branches", 0)]
    except (ValueError, RecursionError) as error:
        raise Absent(f"{where}: not JSON: {one_line(error, 80)}") from None
    except (KeyError, TypeError, AttributeError):
        raise Absent(f"{where}: it has no `totals` of lines; is it coverage.json of coverage.py?") from None
    if not all(type(number) is int and 0 <= number < 1e12 for number in numbers):
        raise Absent(f"{where}: its totals are no whole numbers")
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _lcov(data: bytes, where: str) -> Counts:
    """Sums of the records; a file that stands in several (one a test) counts once, with its best hits."""
    lines: dict[tuple[bytes, bytes], bool] = {}
    branches: dict[tuple[bytes, bytes], bool] = {}
    source = b""
    if data.rfind(b"end_of_record") < data.rfind(b"SF:"):
        raise Absent(f"{where}: cut off: the last record has no end_of_record")
    for number, line in enumerate(data.splitlines(), 1):
        key, _, value = line.strip().partition(b":")
        if key == b"SF":
            source = value
        elif key == b"DA" and value.count(b",") >= 1:
            at, hits = value.split(b",")[:2]
            lines[source, at] = _is_hit(hits.decode("ascii", "replace"), where) or lines.get((source, at), False)
        elif key == b"BRDA" and value.count(b",") == 3:
            at, taken = value.rsplit(b",", 1)
            was_taken = taken.strip() != b"-" and _is_hit(taken.decode("ascii", "replace"), where)
            branches[source, at] = was_taken or branches.get((source, at), False)
        elif number == 1 and key not in (b"TN", b""):
            raise Absent(f"{where}: neither XML, JSON nor lcov")
    return sum(lines.values()), len(lines), sum(branches.values()), len(branches)


SIZE_LIMIT = 64 << 20
_DEPTH_LIMIT = 100

Start = Callable[[str, dict[str, str], list[str]], None]
"""Called at each element's start with its name, its attributes and the names of the elements around it."""


Text = Callable[[str, list[str]], None]
"""Called with a piece of text and the names of the elements around it."""


def read(data: bytes, where: str, start: Start, text: Text | None = None) -> str:
    """Walks the elements of one document; gives the name of its root.

    Names come without a namespace prefix; text is passed over where nobody takes it. Raises Absent with `where` and the
    line for anything that is not one well-formed document, or that declares entities.
    """
    if len(data) > SIZE_LIMIT:
        raise Absent(f"{where} has {len(data)} bytes, more than the {SIZE_LIMIT} that are read")
    parser = expat.ParserCreate()
    around: list[str] = []
    root: list[str] = []

    def refuse(what: str) -> None:
        raise Absent(f"{where}:{parser.CurrentLineNumber}: {what}; a report needs none, so it is not read")

    def doctype(name: str, system: str | None, public: str | None, has_internal_subset: bool) -> None:
        if has_internal_subset:
            refuse("it has a document type of its own")

    def element(name: str, attributes: dict[str, str]) -> None:
        if len(around) >= _DEPTH_LIMIT:
            raise Absent(f"{where}:{parser.CurrentLineNumber}: more than {_DEPTH_LIMIT} elements inside each other")
        local = name.rpartition(":")[2]
        if not root:
            root.append(local)
        start(local, attributes, around)
        around.append(local)

    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = lambda *_: refuse("it declares entities")
    parser.ExternalEntityRefHandler = lambda *_: 0  # never followed: an error of the parser
    parser.StartElementHandler = element
    parser.EndElementHandler = lambda _: around.pop() and None
    if text is not None:
        parser.CharacterDataHandler = lambda data: text(data, around)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise Absent(f"{where}:{error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not know
        raise Absent(f"{where}: not readable as XML: {error}") from None
    return root[0]
