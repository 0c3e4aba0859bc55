"""How many different items of a list a proof has to look at: each question about a list stands on one of them."""

from __future__ import annotations

import json
import math

from ahp.conditions.closures import steps_of
from ahp.conditions.guards import Plan, walk
from ahp.conditions.language import LOOP, OPERATIONS, children

MOST_ITEMS = 8


def sizes_of(plans: list[Plan]) -> dict[str, int]:
    """How many different items each list needs: one for each question (inside of a loop over another list, for each of
    its items), one for each way to be counted, one for each place. What is distinct is counted but where something is
    only looked for in it.
    """
    asked: dict[str, dict[tuple[str, tuple[str, ...]], Plan]] = {}  # by list: by the question and the lists around it
    nodes = [node for plan in plans for node in walk(plan)]
    counted = {json.dumps(node) for node in nodes if node[0] == "count"}
    for node in nodes:
        looked_in = node[2] if node[0] in ("any", "all", "in", "within") else None
        counted |= {json.dumps(part) for part in children(node) if part[0] == "distinct" and part is not looked_in}
    for node in nodes:
        for name in _asked_of(node):
            asked.setdefault(name, {})[json.dumps(node), ()] = node
    for loop in (node for node in nodes if OPERATIONS[node[0]].call == LOOP):
        for node in (node for part in children(loop) if part is not loop[2] for node in walk(part)):
            for name in _asked_of(node, loop[-1]):
                asked[name].pop((json.dumps(node), ()), None)
                asked[name][json.dumps(node), _names(loop[2])] = node

    def size(name: str, within: tuple[str, ...] = ()) -> int:
        if name in within:
            return MOST_ITEMS + 1
        found, counts, places = 0, 0, [0, 0]
        for (text, outer), node in asked.get(name, {}).items():
            times = math.prod(size(one, (*within, name)) for one in outer)
            if node[0] == "index":
                places[node[2] >= 0] = max(places[node[2] >= 0], node[2] + 1, -node[2])
            else:
                found += times
                counts += times if text in counted else 0
        return int(found + 2 ** min(counts, MOST_ITEMS) + sum(places))

    different = {name for node in nodes if node[0] == "distinct" for name in _asked_of(node)}  # so does an example
    return {name: max(size(name), MOST_ITEMS * (name in different)) for name in asked}


_ASKED = {"index": 1, **dict.fromkeys(["any", "all", "in", "within", "count", "distinct", "sum"], 2)}


def _asked_of(node: Plan, var: str = "") -> tuple[str, ...]:
    """The names of the lists about whose items a node asks, but for a list of a loop's variable."""
    at = _ASKED.get(node[0])
    return () if at is None or ["item", var] in walk(node[at]) else _names(node[at])


def _names(plan: Plan) -> tuple[str, ...]:
    """The names by which a list is known, and those above it in a document: a fact's path, a field's or key's name."""
    if plan[0] in ("as", "default", "entry", "keys"):
        return _names(plan[1])
    if plan[0] == "if":
        return tuple(dict.fromkeys(_names(plan[2]) + _names(plan[3])))
    if plan[0] in ("distinct", "split"):
        return _names(plan[2]) if plan[0] == "distinct" else ("split",)
    if plan[0] == "at":
        steps = steps_of(plan[2][1])
        above = [step or "" for step, after in zip(steps, [*steps[1:], None], strict=True) if after is None]
        return tuple(dict.fromkeys([*(_names(plan[1]) if steps[0] is None else ()), *above]))
    return (str(plan[1] if plan[0] == "fact" else plan[2] if plan[0] in ("field", "key") else ""),)  # "": of an item
