"""The command line of unittest, with a note of what became of the tests that it found.

It runs in the project's own interpreter, whatever its version, so it stands alone and keeps to what Python 3.7 has.
`AHP_TEST_RECORD` names the file that it writes, in JSON:

- `passed` and `skipped`: how many tests came to that;
- `failed`: the tests that did not, each once, and the fixtures, as [module.Class::name, "", 0, what was said in short,
  all of it];
- `not_loaded`: how many of these are files that cannot be loaded;
- `not_run`: tests that were found and neither began nor were skipped;
- `files`: where modules were loaded from, relative to the folder where it was started.
"""

from __future__ import annotations

import json
import os
import re
import sys
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_RECORD = os.environ.pop("AHP_TEST_RECORD", "")
_HERE = os.getcwd()
_MOST = 200  # names of one list
_RAISED = re.compile(r"^(?!Traceback|Exception )[\w.]+(?:Error|Exception|Warning|Exit)\b.*$", re.MULTILINE)
_NOT_LOADED = "unittest.loader._FailedTest."  # then the module
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
        skipped = {id(one) for one, _ in result.skipped}
        # `setUpClass (module.Class)`
        fixtures = tuple(one.id()[:-1].partition(" (")[2] + "." for one, _ in result.skipped if one.id()[-1:] == ")")
        left = [one.id() for one in found if id(one) not in skipped.union(result.begun)]
        left = [name for name in left if not name.startswith(fixtures)]
        bad = [*result.errors, *result.failures, *((one, "unexpected success") for one in result.unexpectedSuccesses)]
        failed: dict[Any, str] = {}
        for one, said in bad:
            failed.setdefault(getattr(one, "test_case", one), said)  # the parts of a test are one
        loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        record = {
            "passed": len(result.begun.keys() - skipped - {id(one) for one in failed}),
            "skipped": len(result.skipped),
            "failed": [
                [_named(one.id()), "", 0, (_RAISED.findall(said) or [said])[0], said] for one, said in failed.items()
            ],
            "not_loaded": sum(one.id().startswith(_NOT_LOADED) for one in failed),
            # A suite of its own may run copies of its tests.
            "not_run": left[:_MOST] if len(result.begun) < len(found) else [],
            "files": [os.path.relpath(str(path), _HERE) for path in loaded if path],
        }
        with open(_RECORD, "w", encoding="utf-8") as stream:
            json.dump(record, stream)
        return result


def _named(told: str) -> str:
    """`module.Class::name`, of a fixture `setUpClass (module.Class)` too."""
    group, name = told.rpartition(".")[0], told.rpartition(".")[2]
    if told.endswith(")"):
        name, _, group = told[:-1].partition(" (")
    elif told.startswith(_NOT_LOADED):
        group = told[len(_NOT_LOADED) :]
    return f"{group}::{name}"


def _leaves(tests: Any) -> Iterator[Any]:
    if not isinstance(tests, unittest.BaseTestSuite):
        yield tests
        return
    for test in tests:
        yield from _leaves(test)


if __name__ == "__main__":
    unittest.main(module=None, testRunner=_Runner)
