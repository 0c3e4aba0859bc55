"""Conditions: ns an evaluation against other engines in one run, and a decision over many rules from a cached plan.

Engines that are not installed say so; `pip install cel-python common-expression-language rule-engine` into the
interpreter that runs this brings them in. `python -m bench.conditions [--quick]`.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from statistics import median
from types import SimpleNamespace
from typing import Any

from ahp.conditions.evaluate import build
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import ConditionError, check

SCHEMA = Schema(
    {
        "files.changed_count": {"type": "int", "min": 0},
        "checklist.incomplete_count": {"type": "int", "min": 0},
        "checklist.completion_rate": {"type": "float", "min": 0, "max": 1},
        "branch.name": {"type": "str"},
        "issue.type": {"type": "str"},
        "files.changed": {"type": "list[str]"},
    }
)
FACTS: dict[str, dict[str, Any]] = {
    "files": {"changed_count": 25, "changed": ["src/app.py", "src/io.py", "README.md"]},
    "checklist": {"incomplete_count": 2, "completion_rate": 0.85},
    "branch": {"name": "feature/x-1"},
    "issue": {"type": "feature"},
}
PATHS = sorted(SCHEMA.facts)
SLOTS = {path: index for index, path in enumerate(PATHS)}
VALUES = [FACTS[path.split(".")[0]][path.split(".")[1]] for path in PATHS]

# Our text, and the same in the words of CEL and rule-engine where they differ.
CONDITIONS = [
    ("files.changed_count > 20", None, None),
    (
        "checklist.incomplete_count > 0 and checklist.completion_rate > 0.8",
        "checklist.incomplete_count > 0 && checklist.completion_rate > 0.8",
        None,
    ),
    (
        "issue.type in ['feature', 'fix'] and branch.name.startswith('feature/')",
        "issue.type in ['feature', 'fix'] && branch.name.startsWith('feature/')",
        "issue.type in ['feature', 'fix'] and branch.name.starts_with('feature/')",
    ),
]
# Rows of their own: not what the peers are compared on.
OTHERS = ["matches(branch.name, '^feature/')", "any(glob(f, '*.py') for f in files.changed)"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a first look, not a figure")
    quick = parser.parse_args().quick
    budget = 0.01 if quick else 0.1
    print("ns an evaluation, prepared before (median of 5); 1, 2, 3 are")
    for number, (text, _, _) in enumerate(CONDITIONS, 1):
        print(f"  {number}  {text}")
    for name, prepare in ENGINES.items():
        print(f"{name:44} {_row(prepare, budget)}")
    for text in OTHERS:
        print(f"{'ahp: ' + text:62} {_time(_ahp(text, None, None), budget):10.0f}")
    _decisions((10, 100, 1000) if quick else (10, 100, 1000, 10_000))
    _refusals()
    return 0


def _row(prepare: Callable[..., Callable[[], Any]], budget: float) -> str:
    try:
        ready = [prepare(*condition) for condition in CONDITIONS]
    except ImportError as error:
        return f"not installed ({error.name})"
    assert all(one() for one in ready), "an engine that answers something else measures something else"
    return "".join(f"{_time(one, budget):12.0f}" for one in ready)


def _time(call: Callable[[], Any], budget: float) -> float:
    count, spent = 1, 0.0
    while spent < budget / 5:
        count *= 2
        spent = _spent(call, count)
    return median(_spent(call, count) for _ in range(5)) / count * 1e9


def _spent(call: Callable[[], Any], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - started


def _ahp(text: str, cel: str | None, rule: str | None) -> Callable[[], Any]:
    condition, values = build(json.loads(json.dumps(check(text, SCHEMA).plan)), SLOTS), VALUES
    return lambda: condition(values)


def _simpleeval(text: str, cel: str | None, rule: str | None) -> Callable[[], Any]:
    import simpleeval

    evaluator = simpleeval.EvalWithCompoundTypes(names=FACTS)
    tree = ast.parse(text, mode="eval").body
    return lambda: evaluator.eval(text, previously_parsed=tree)


def _native(text: str, cel: str | None, rule: str | None) -> Callable[[], Any]:
    code = compile(text, "<native>", "eval")
    names = {name: SimpleNamespace(**facts) for name, facts in FACTS.items()}
    return lambda: eval(code, names)


def _cel_python(text: str, cel: str | None, rule: str | None) -> Callable[[], Any]:
    import celpy

    environment = celpy.Environment()
    program = environment.program(environment.compile(cel or text))
    activation = celpy.json_to_cel(FACTS)
    return lambda: program.evaluate(activation)


def _cel_rust(text: str, cel: str | None, rule: str | None) -> Callable[[], Any]:
    import cel as engine

    program = engine.compile(cel or text)
    context = engine.Context(FACTS)
    return lambda: program.execute(context)


def _cel_rust_plain(text: str, cel: str | None, rule: str | None) -> Callable[[], Any]:
    import cel as engine

    program = engine.compile(cel or text)
    return lambda: program.execute(FACTS)


def _rule_engine(text: str, cel: str | None, rule: str | None) -> Callable[[], Any]:
    import rule_engine

    built = rule_engine.Rule(rule or text)
    return lambda: built.matches(FACTS)


ENGINES: dict[str, Callable[..., Callable[[], Any]]] = {
    "ahp": _ahp,
    "native eval of compiled code": _native,
    "simpleeval, parsed before": _simpleeval,
    "common-expression-language, context before": _cel_rust,
    "common-expression-language, from a mapping": _cel_rust_plain,
    "cel-python": _cel_python,
    "rule-engine": _rule_engine,
}


def _decisions(sizes: tuple[int, ...]) -> None:
    """Rules as a policy has them: none fires, each with its own constants; the cache is the plans as JSON."""
    print("\nms for a decision: rules, read and build from cache, evaluate all (median of 5, no garbage collector)")
    gc.disable()
    for size in sizes:
        texts = [
            f"files.changed_count > {100 + n} and branch.name != 'b{n}'"
            if n % 3
            else f"branch.name.startswith('rel{n}/') or issue.type in ['a{n}', 'b{n}']"
            for n in range(size)
        ]
        cache = json.dumps([check(text, SCHEMA).plan for text in texts])
        load = median(
            _spent(lambda cache=cache: [build(plan, SLOTS) for plan in json.loads(cache)], 1) for _ in range(5)
        )
        conditions = [build(plan, SLOTS) for plan in json.loads(cache)]
        decide = median(_spent(lambda ready=conditions: [one for one in ready if one(VALUES)], 1) for _ in range(5))
        print(f"{size:8} {load * 1e3:10.3f} {decide * 1e3:10.3f}   {decide / size * 1e9:6.0f} ns a rule")


def _refusals() -> None:
    """The slowest refusal of the sample of hostile conditions; the bound is 50 ms."""
    from pathlib import Path

    folder = Path(__file__).resolve().parent.parent / "tests" / "data" / "cases"
    if not folder.is_dir():
        return
    schema = Schema(json.loads((folder / "fact_schema.json").read_text()))
    worst = (0.0, "")
    for line in (folder / "hostile.jsonl").read_text().splitlines():
        case = json.loads(line)
        started = time.perf_counter()
        try:
            check(case["expression"], schema)
        except ConditionError:
            pass
        worst = max(worst, (time.perf_counter() - started, case["id"]))
    print(f"\nslowest of the hostile samples: {worst[0] * 1e3:.2f} ms ({worst[1]})")


if __name__ == "__main__":
    if importlib.util.find_spec("ahp") is None:
        sys.exit("bench: run from the project's folder")
    sys.exit(main())
