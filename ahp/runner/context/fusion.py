"""Reciprocal rank fusion: one ranking of several (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_K = 60  # of the paper: how little the first places of one ranking outweigh the agreement of several


@dataclass
class Fused:
    """One file with its `score`, and the rankings that name it, best first."""

    path: str
    score: float = 0.0
    why: list[str] = field(default_factory=list)


def fuse(rankings: Mapping[str, Sequence[str]]) -> list[Fused]:
    """The paths of all rankings by the sum of 1 / (60 + rank), rank from 1.

    Of equal ones the better placed goes first, then what an earlier ranking names.
    """
    fused: dict[str, Fused] = {}
    places = [(rank, why, path) for why, paths in rankings.items() for rank, path in enumerate(paths, start=1)]
    for rank, why, path in sorted(places, key=lambda place: place[0]):
        one = fused.setdefault(path, Fused(path))
        one.score += 1 / (_K + rank)
        one.why.append(why)
    return sorted(fused.values(), key=lambda one: -one.score)
