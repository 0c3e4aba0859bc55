from __future__ import annotations


def advice(*_):
    return []
