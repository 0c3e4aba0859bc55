"""`tests`: the last test run, from JUnit XML reports (design §6); absent without a report or with a stale one."""

TRIGGERS = None

_COUNT = {"type": "int", "min": 0, "optional": True}

SCHEMA = {
    "total": {**_COUNT, "doc": "test cases, skipped ones included"},
    "passed": {**_COUNT, "doc": "cases that neither failed nor were skipped"},
    "failed_count": {**_COUNT, "doc": "failures and errors"},
    "skipped": {**_COUNT, "doc": "skipped cases"},
    "failed": {"type": "list[str]", "optional": True, "doc": "names of the failed cases: module.Class::name"},
    "duration": {"type": "float", "min": 0.0, "optional": True, "doc": "seconds, as the report says"},
    "is_stale": {"type": "bool", "optional": True, "doc": "a source is newer than the report; the rest is absent then"},
}
