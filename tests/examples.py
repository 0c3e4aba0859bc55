"""How many examples a property test tries, and which: CONTRIBUTING.md, "Property tests"."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# So many times the usual number, and others on every run. 0: the usual number, and the same on every run.
EXPLORED = int(os.environ.get("AHP_TEST_EXPLORE") or 0)
# Whether that is the whole number, as in `make test-slow`; `make test`, which people wait for, tries the first half.
WHOLE = bool(os.environ.get("AHP_TEST_WHOLE"))


def examples(number: int = 50, *allowed: HealthCheck, **others: Any) -> settings:
    """The settings of a property test that tries `number` examples; decorates it, also a state machine's `TestCase`.

    `allowed` are health checks that it is excused from, `others` more settings of Hypothesis.
    """
    return settings(
        max_examples=number * EXPLORED or (number if WHOLE else number // 2),
        # No test is timed: a slow machine would fail it.
        deadline=None,
        suppress_health_check={HealthCheck.too_slow, *allowed},
        **others,
    )


def load_profile() -> None:
    """Makes the settings those of `examples()` for tests that set none, with the same examples for the same test."""
    settings.register_profile("ahp", examples(derandomize=not EXPLORED, print_blob=True))
    settings.load_profile("ahp")
    if not EXPLORED:
        # One in twenty drawn values is a constant of this project's modules that happen to be loaded. These are others
        # in every worker, and so would be the examples.
        providers.is_local_module_file = lambda path: False
