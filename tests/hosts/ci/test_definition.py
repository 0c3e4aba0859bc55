"""Whether a refusal by ahp is one of the hook that runs it, as far as its text tells."""

from __future__ import annotations

import pytest

from ahp.hosts.ci.definition import hook_refuses


@pytest.mark.parametrize(
    ("script", "refuses"),
    [
        ("#!/bin/sh\nexec ahp hook pre-receive --limit 4\n", True),
        ("#!/bin/sh\nlines=$(cat)\nprintf '%s\\n' \"$lines\" | ahp hook pre-receive\n", True),
        ("#!/bin/sh\nset -eu\n/opt/ahp/bin/ahp hook pre-receive\nnotify\n", True),
        ("#!/bin/sh -e\nahp hook pre-receive\nnotify\n", True),
        ("#!/bin/sh\nahp hook pre-receive || exit 1\nnotify\n", True),
        ("#!/bin/bash\nif ! ahp hook pre-receive; then exit 1; fi\nnotify\n", True),
        ("#!/usr/bin/python3\nrun('ahp hook pre-receive')\nother()\n", True),
        ("#!/bin/sh\nahp hook pre-receive\nnotify\n", False),
        ("#!/bin/sh\nset -e\nahp hook pre-receive || true\n", False),
        ("#!/bin/sh\nahp hook pre-receive | tee -a log\n", False),
        ("#!/bin/sh\nahp hook pre-receive &\n", False),
        ("#!/bin/sh\necho ahp hook pre-receive\n", False),
        ("#!/bin/sh\n# exec ahp hook pre-receive\nexit 0\n", None),
    ],
)
def test_a_hook_that_goes_on_after_a_refusal_is_told_apart(script: str, refuses: bool | None) -> None:
    assert hook_refuses(script) is refuses
