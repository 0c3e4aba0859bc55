"""ahp.runner.tools.function: what documentation says of arguments"""

from __future__ import annotations

import inspect

import pytest

from ahp.runner.tools.function import documented

GOOGLE = """Reads a file
    of the project.

    Longer words on it.

    Args:
        path (str): where it lies,
            relative to the project
        *lines: how many
        unsaid:

    Returns:
        text: of it
    """
NUMPY = """Reads a file of the project.

    Parameters
    ----------
    path : str
        where it lies,
        relative to the project
    lines
        how many

    Returns
    -------
    text
        of it
    """
SPHINX = """Reads a file of the project.
    :param str path: where it lies,
        relative to the project
    :param lines: how many
    :returns: text
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_each_form_is_read(text: str) -> None:
    said = documented(inspect.cleandoc(text))
    assert said.summary == "Reads a file of the project."
    assert said.arguments == {"path": "where it lies, relative to the project", "lines": "how many"}


@pytest.mark.parametrize(
    "text",
    ["", "Parameters of a plane: three.", "Reads.\n\nParameters\n\nof which there are many", "A.\n\nArgs:", "Args: x"],
)
def test_other_words_say_nothing_of_arguments(text: str) -> None:
    assert documented(text).arguments == {}
