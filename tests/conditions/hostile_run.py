"""Run in a process of its own: checks every hostile case under an audit hook and prints what happened as JSON lines."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check

CPU_LIMIT = 60
MEMORY = 1 << 30


def main() -> None:
    schema = Schema(json.loads(Path(sys.argv[1]).read_text()))
    cases = [json.loads(line) for line in Path(sys.argv[2]).read_text().splitlines()]
    for text in ("matches(git.branch, 'x')", "files.chnaged_count > 1", "git.branch == 'é'"):
        try:
            check(text, schema)  # everything that is loaded once is loaded now
        except ConditionError:
            pass
    before = json.dumps(sorted(schema.facts))
    events: list[str] = []
    sys.addaudithook(lambda event, _: events.append(event) if recording and event in WATCHED else None)
    recording = False
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for case in cases:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        recording = True
        try:
            check(case["expression"], schema)
            outcome, longest = "accepted", 0
        except ConditionError as error:
            outcome, longest = "refused", max(len(str(problem)) for problem in error.problems)
        recording = False
        spent = time.process_time() - started
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        print(json.dumps([case["id"], outcome, longest, spent, grown, events]))
        events = []
    assert json.dumps(sorted(schema.facts)) == before


WATCHED = {"open", "import", "exec", "os.system", "subprocess.Popen", "socket.connect", "os.posix_spawn", "compile"} - {
    "compile"  # ast.parse is this event
}
main()
