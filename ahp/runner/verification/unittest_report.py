"""Runs the tests of unittest in the current folder and writes a report in JUnit XML.

It runs in the project's own interpreter, whatever its version, so it stands alone and keeps to what Python 3.7 has:
`python unittest_report.py REPORT RECORD [FILE…]`. RECORD is written in JSON: the `left_out` tests, which stand in a
module whose `load_tests` does not give them, and `not_run`, how many were to run and did not. Exit codes: 0 green,
1 red, 2 red only because files cannot be loaded.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import unittest
import xml.etree.ElementTree as ET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    Error = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


_NOT_LOADED = "unittest.loader._FailedTest."  # then the module


class _Result(unittest.TextTestResult):
    """Collects what became of each test."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.suite = ET.Element("testsuite", name="unittest")
        self.case: ET.Element | None = None
        self.not_loaded = 0
        self.seen: set[str] = set()
        self.fixtures = False  # whether one of a class or module kept tests from running

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.seen.add(test.id())
        self.case = self._begin(test)

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.case = None

    def addFailure(self, test: unittest.TestCase, err: Error) -> None:
        super().addFailure(test, err)
        self._bad("failure", test, err)

    def addError(self, test: unittest.TestCase, err: Error) -> None:
        super().addError(test, err)
        self._bad("error", test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Error | None) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._bad("failure", test, err)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        ET.SubElement(self._case_of(test), "failure", message="it was expected to fail, and passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        ET.SubElement(self._case_of(test), "skipped", message=_xml(reason))

    def _case_of(self, test: unittest.TestCase) -> ET.Element:
        return self._begin(test) if self.case is None else self.case  # a fixture of a class belongs to no test

    def _begin(self, test: unittest.TestCase) -> ET.Element:
        told = test.id()
        group, _, name = told.rpartition(".")
        if told.endswith(")"):  # `setUpClass (module.Class)`
            self.fixtures = True
            name, _, group = told[:-1].partition(" (")
        if told.startswith(_NOT_LOADED):
            self.not_loaded += 1
            group, name = told[len(_NOT_LOADED) :], "import"
        return ET.SubElement(self.suite, "testcase", name=_xml(name or str(test)), classname=_xml(group))

    def _bad(self, kind: str, test: unittest.TestCase, error: Error) -> None:
        case = self._case_of(test)
        here = os.getcwd() + os.sep
        own = [one for one in traceback.extract_tb(error[2]) if one.filename.startswith(here)]
        for frame in own[-1:]:
            case.set("file", _xml(os.path.relpath(frame.filename)))
            case.set("line", str(frame.lineno))
        said = "".join(traceback.format_exception_only(*error[:2])).strip()
        text = "".join(traceback.format_exception(*error))
        ET.SubElement(case, kind, message=_xml(said[:500])).text = _xml(text)


def _xml(text: str) -> str:
    """`text` with those characters alone that XML 1.0 can hold (section 2.2)."""
    return "".join([c if c in "\t\n" or (" " <= c < "\ufffe" and not "\ud800" <= c <= "\udfff") else "?" for c in text])


def _suite(loader: unittest.TestLoader, files: list[str]) -> unittest.TestSuite:
    """The tests of these files; without any, those that unittest discovers, at last in a folder named tests."""
    if not files:
        found = loader.discover(".")
        if found.countTestCases() or not os.path.isdir("tests"):
            return found
        return unittest.TestLoader().discover("tests", top_level_dir="tests")
    suite = unittest.TestSuite()
    for path in files:
        folder, name = os.path.split(path)
        packaged = not folder or os.path.exists(os.path.join(folder, "__init__.py"))
        one = unittest.TestLoader()
        suite.addTests(one.discover(folder or ".", pattern=name, top_level_dir="." if packaged else folder))
    return suite


def _ids(suite: unittest.TestSuite) -> set[str]:
    """The tests of a suite."""
    found: set[str] = set()
    for test in suite:
        found |= _ids(test) if isinstance(test, unittest.TestSuite) else {test.id()}
    return found


def _left_out(ids: set[str]) -> list[str]:
    """The tests that modules with a `load_tests` define, and that are not among these."""
    loader = unittest.TestLoader()
    found = []
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if path.startswith(os.getcwd() + os.sep) and callable(getattr(module, "load_tests", None)):
            for case in vars(module).values():
                if isinstance(case, type) and issubclass(case, unittest.TestCase) and case.__module__ == name:
                    found += [f"{name}.{case.__qualname__}.{test}" for test in loader.getTestCaseNames(case)]
    return [one for one in found if one not in ids]


def main(report: str, record: str, files: list[str]) -> int:
    """Runs the tests; the exit code."""
    del sys.argv[1:]
    if sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        del sys.path[0]
    sys.path.insert(0, os.getcwd())
    begun = time.time()
    suite = _suite(unittest.defaultTestLoader, files)
    ids = _ids(suite)
    result = unittest.TextTestRunner(resultclass=_Result).run(suite)
    assert isinstance(result, _Result)
    told = {"left_out": _left_out(ids)[:200], "not_run": 0 if result.fixtures else len(ids - result.seen)}
    with open(record, "w", encoding="utf-8") as stream:
        json.dump(told, stream)
    result.suite.set("time", str(time.time() - begun))
    ET.ElementTree(result.suite).write(report, encoding="utf-8", xml_declaration=True)
    if result.not_loaded and result.not_loaded == len(result.errors) + len(result.failures):
        return 2
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
