"""The command line of unittest, with a note of the tests that were found and did not run.

It runs in the project's own interpreter, whatever its version, so it stands alone and keeps to what Python 3.7 has.
`AHP_TEST_RECORD` names the file that it writes, in JSON: how many `passed`, where none failed; `not_run`, tests that
were found and neither began nor were skipped; `files` that modules were loaded from, relative to where it was started.
"""

from __future__ import annotations

import json
import os
import sys
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_RECORD = os.environ.pop("AHP_TEST_RECORD", "")
_HERE = os.getcwd()
_MOST = 200  # names of one list
# What tests start themselves is not to load this.
_paths = os.environ.pop("PYTHONPATH", "").split(os.pathsep)[1:]
if any(_paths):
    os.environ["PYTHONPATH"] = os.pathsep.join(_paths)


class _Result(unittest.TextTestResult):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.begun: dict[int, unittest.TestCase] = {}

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.begun[id(test)] = test


class _Runner(unittest.TextTestRunner):
    resultclass = _Result

    def run(self, test: Any) -> Any:
        """Runs the tests. What a fixture of a class or module skips counts as skipped."""
        found = list(_leaves(test))
        result: Any = super().run(test)
        begun = {*result.begun, *(id(one) for one, _ in result.skipped)}
        # `setUpClass (module.Class)`
        fixtures = tuple(one.id()[:-1].partition(" (")[2] + "." for one, _ in result.skipped if one.id()[-1:] == ")")
        passed = len(result.begun.keys() - {id(one) for one, _ in result.skipped})
        left = [one.id() for one in found if id(one) not in begun and not one.id().startswith(fixtures)]
        # A suite of its own may run copies of its tests.
        left = left if len(result.begun) < len(found) else []
        loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        files = [os.path.relpath(str(path), _HERE) for path in loaded if path]
        with open(_RECORD, "w", encoding="utf-8") as stream:
            json.dump({"passed": passed, "not_run": left[:_MOST], "files": files}, stream)
        return result


def _leaves(tests: Any) -> Iterator[Any]:
    if not isinstance(tests, unittest.BaseTestSuite):
        yield tests
        return
    for test in tests:
        yield from _leaves(test)


if __name__ == "__main__":
    unittest.main(module=None, testRunner=_Runner)
