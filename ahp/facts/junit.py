"""JUnit XML, in the dialects of pytest, surefire, jest, gotestsum and their kin (design §6)."""

from ahp.facts import coverage_report
from ahp.facts.registry import Absent
from ahp.protocol.text import one_line

_NAME_LIMIT = 500
_TEXT_LIMIT = 8_000
_BAD = ("failure", "error")


class Case:
    """A test case that failed: its name (`module.Class::name`), its place if the report tells, what it said.

    `line` is 0 where it is not told; `text` is the end of what stands inside the failure, as a rule the traceback.
    """

    __slots__ = ("line", "message", "name", "path", "text")

    def __init__(self, name: str, path: str, line: int, message: str) -> None:
        self.name, self.path, self.line, self.message, self.text = name, path, line, message, ""


class Report:
    """What a report counts. `failed` are the cases with a failure or an error.

    `declared_failed` and `declared_total` are what the suites say, by how deep they stand in the document.
    """

    __slots__ = ("declared_failed", "declared_total", "failed", "skipped", "total")

    def __init__(self) -> None:
        self.total = self.skipped = 0
        self.failed: list[Case] = []
        self.declared_failed: dict[int, int] = {}
        self.declared_total: dict[int, int] = {}

    @property
    def failed_count(self) -> int:
        """Failures and errors; what the suites declare when that is more than the cases show (a crashed worker)."""
        return max(len(self.failed), *self.declared_failed.values(), 0)


def parse(data: bytes, where: str) -> Report:
    """The report in `data`. Raises Absent, with `where` and the line, for what is no JUnit XML."""
    report = Report()
    case = _Current()

    def start(name: str, attributes: dict[str, str], around: list[str]) -> None:
        if name in ("testsuites", "testsuite"):
            # A suite may count those inside it, or leave that to them: those of one depth are added, never two depths.
            depth, failed = len(around), _count(attributes, "failures", where) + _count(attributes, "errors", where)
            report.declared_failed[depth] = report.declared_failed.get(depth, 0) + failed
            report.declared_total[depth] = report.declared_total.get(depth, 0) + _count(attributes, "tests", where)
            if name == "testsuite" and "testsuite" not in around:
                case.first_line = 0 if attributes.get("name") == "pytest" else 1
        elif name == "testcase":
            case.begin(attributes)
            report.total += 1
        elif name == "skipped" and around[-1:] == ["testcase"]:
            report.skipped += case.once("skipped")
        elif name in _BAD and around[-1:] in (["testcase"], ["testsuite"]):
            if around[-1] == "testsuite":
                case.begin({"name": "set-up of the suite"})
            if case.once("failed"):
                report.failed.append(case.failed(attributes))

    def text(part: str, around: list[str]) -> None:
        if around[-1] in _BAD and report.failed:
            failed = report.failed[-1]
            failed.text = (failed.text + part)[-_TEXT_LIMIT:]

    root = coverage_report.read(data, where, start, text)
    if root not in ("testsuites", "testsuite"):
        raise Absent(f"{where}: the root is <{root[:40]}>, not <testsuites>; is it JUnit XML?")
    report.total = max(report.total, *report.declared_total.values())
    return report


class _Current:
    """The case being read."""

    def __init__(self) -> None:
        self.attributes: dict[str, str] = {}
        self.first_line = 1  # pytest, alone, counts from 0
        self.seen: set[str] = set()

    def begin(self, attributes: dict[str, str]) -> None:
        self.attributes, self.seen = attributes, set()

    def once(self, what: str) -> bool:
        """True the first time `what` is said of this case."""
        first = what not in self.seen
        self.seen.add(what)
        return first

    def failed(self, attributes: dict[str, str]) -> Case:
        group, name = self.attributes.get("classname", ""), self.attributes.get("name", "")
        full = (f"{group}::{name}" if group else name)[:_NAME_LIMIT]
        written = self.attributes.get("line", "")
        line = int(written) + 1 - self.first_line if _is_number(written) else 0
        return Case(full, self.attributes.get("file", ""), line, attributes.get("message", "")[:_NAME_LIMIT])


def _count(attributes: dict[str, str], name: str, where: str) -> int:
    """What a suite declares, 0 where it does not. Raises Absent: what is no figure must not read as "no failures"."""
    text = attributes.get(name, "0").strip()
    if not _is_number(text):
        raise Absent(f'{where}: {name}="{one_line(text, 40)}" is no count; the report is broken')
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12
