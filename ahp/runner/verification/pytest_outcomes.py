"""A plugin of pytest that sees each test run, and notes what became of it whatever its report says in the end.

It runs in the project's own interpreter, whatever its version, so it stands alone and keeps to what Python 3.7 and
pytest 6 have. `AHP_TEST_RECORD` names the file that it writes, in JSON:

- `passed` and `skipped`: how many tests came to that;
- `failed`: tests that did not, and files that cannot be loaded, as [id, file, line, what was said in short, all of it];
  also tests that raised and are reported as passed;
- `not_loaded`: how many of these are such files;
- `left_out`: the tests that were collected and not chosen;
- `not_run`: those that were chosen and have no outcome, or are reported as passed and were not run by pytest;
- `files`: the files that tests were collected from, relative to the folder where pytest was started.

Options that keep tests from running (--collect-only, --setup-only, --setup-plan), or that wait for a person (--pdb,
--trace), are taken back. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import json
import os

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_RECORD = os.environ.pop("AHP_TEST_RECORD", "")  # an xdist worker has none
_NOT_FOR_TESTS = ("collectonly", "setuponly", "setupplan", "trace", "usepdb")
_MOST = 200  # names of one list
_TEXT = 8_000  # characters of what a test said
_WORKER = "ahp_"  # what a worker tells begins with it

_collected: dict[str, None] = {}
_files: dict[str, None] = {}
_chosen: dict[str, None] = {}
_left_out_by_workers: dict[str, None] = {}
_ended: dict[str, str] = {}
_failed: dict[str, list[Any]] = {}
_not_loaded: set[str] = set()
_called: set[str] = set()
_root = [""]

# What tests start themselves is not to load this.
_paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
if _HERE in _paths:
    _paths.remove(_HERE)
    os.environ["PYTHONPATH"] = os.pathsep.join(_paths)
    if not any(_paths):
        del os.environ["PYTHONPATH"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    """Takes back what keeps tests from running."""
    _root[0] = str(getattr(config, "rootdir", ""))
    for name in _NOT_FOR_TESTS:
        if getattr(config.option, name, False):
            setattr(config.option, name, False)


def pytest_itemcollected(item: Any) -> None:
    """A test that there is."""
    _collected[item.nodeid] = None
    _files[os.path.relpath(str(item.fspath))] = None


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtestloop(session: Any) -> Generator[None, Any, None]:
    """The tests that are to run; with xdist the controller has none of its own, before pytest 8 not even a list."""
    _chosen.update(dict.fromkeys(item.nodeid for item in getattr(session, "items", ())))
    yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """The tests that a worker of xdist is to run."""
    _chosen.update(dict.fromkeys(ids))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """What a worker of xdist collected."""
    output = getattr(node, "workeroutput", None) or {}
    _left_out_by_workers.update(dict.fromkeys(output.get(_WORKER + "left_out", ())))
    _files.update(dict.fromkeys(output.get(_WORKER + "files", ())))


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Generator[None, Any, None]:
    """Notes that the function of a test is called; a `runtest` in the place of pytest's own may not come to that."""
    _called.add(pyfuncitem.nodeid)
    yield


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Notes on the report, which other processes may send, that the test ran, and what it raised."""
    # Tests of unittest catch what they raise, and pytest puts it into `call` on the way.
    raised = call.excinfo or next(iter(getattr(item, "_excinfo", None) or ()), None)
    report = (yield).get_result()
    raised = raised or call.excinfo
    # Other kinds of tests (of unittest, of plugins) need not be functions that pytest calls.
    report.ahp_ran = type(item) is not pytest.Function or item.nodeid in _called
    report.ahp_raised = raised.exconly()[:500] if raised else ""


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtest_logreport(report: Any) -> Generator[None, Any, None]:
    """What became of a test; of one that runs again, the last time counts."""
    yield
    test, raised = report.nodeid, getattr(report, "ahp_raised", "")
    if report.when == "setup":
        _failed.pop(test, None)
    if report.outcome == "passed" and raised:
        _note_failed(report, f"{raised} (reported as passed)")
    elif report.outcome == "failed":
        _note_failed(report)
    elif report.outcome == "skipped":
        _ended[test] = "skipped"
    elif report.when == "call" and getattr(report, "ahp_ran", False):
        _ended[test] = "passed"


@pytest.hookimpl(tryfirst=True)
def pytest_collectreport(report: Any) -> None:
    """A file that cannot be loaded; a controller of xdist hears of those of its workers."""
    if report.failed:
        _not_loaded.add(report.nodeid)
        _note_failed(report)


def _note_failed(report: Any, said: str = "") -> None:
    file, line = (getattr(report, "location", None) or (report.nodeid.partition("::")[0], None))[:2]
    path = os.path.relpath(os.path.join(_root[0], file))
    said = said or str(getattr(getattr(report.longrepr, "reprcrash", None), "message", ""))
    text = str(getattr(report, "longreprtext", ""))[-_TEXT:]
    _failed.setdefault(report.nodeid, [report.nodeid, path, (line or 0) + (line is not None), said[:_TEXT], text])


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_sessionfinish(session: Any) -> Generator[None, Any, None]:
    """Writes the record; a worker of xdist tells the controller what it alone knows."""
    left_out = [name for name in _collected if name not in _chosen]
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_WORKER + "left_out"] = left_out[:_MOST]
        output[_WORKER + "files"] = list(_files)
    yield
    if not _RECORD:
        return
    left_out += [name for name in _left_out_by_workers if name not in _chosen]
    record = {
        "passed": sum(what == "passed" and name not in _failed for name, what in _ended.items()),
        "skipped": sum(what == "skipped" and name not in _failed for name, what in _ended.items()),
        "failed": list(_failed.values())[:_MOST],
        "failures": len(_failed),
        "not_loaded": len(_not_loaded),
        "left_out": left_out[:_MOST],
        "not_run": [name for name in _chosen if name not in {*_ended, *_failed}][:_MOST],
        "files": list(_files),
    }
    with open(_RECORD, "w", encoding="utf-8") as stream:
        json.dump(record, stream)
