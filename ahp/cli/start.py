"""The programs `ahp` and `ahp-engine`: modules of the project that is judged are not taken for ahp's own."""

import os
import sys


def main() -> None:
    """The entry point."""
    _leave_out_pythonpath()
    from ahp.cli.main import main as run

    run()


def _leave_out_pythonpath() -> None:
    """Forgets the places that PYTHONPATH names, except where ahp itself comes from one of them.

    It is set for the project, whose modules may bear the names of ahp's dependencies. What ahp starts still gets it.
    """
    named = {os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place}
    if os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) not in named:
        sys.path[:] = [place for place in sys.path if os.path.abspath(place) not in named]
