"""The fixtures of facts, for what is read of tool calls."""

from tests.facts.conftest import gather, make_event

__all__ = ["gather", "make_event"]
