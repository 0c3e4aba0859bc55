"""XML from tools we did not write: no entities, no internal document type, bounded in size and depth.

expat itself, not ElementTree: only it lets a reader refuse a declaration before anything is expanded (the "billion
laughs", CVE-2013-1664; XML 1.0 §4.4).
"""

from collections.abc import Callable
from xml.parsers import expat

from ahp.facts.registry import Absent

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
