"""Short ways to policies for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from ahp.policy import layers
from ahp.policy.problems import PolicyError
from ahp.policy.rule import Policy
from ahp.policy.sources import Watched

Load = Callable[..., Policy]
Errors = Callable[..., list[str]]


class Layers:
    """A policy source out of texts: one for each layer, and files beside the project's."""

    def __init__(self, project: str, user: str = "", local: str = "", **beside: str) -> None:
        self.texts = {"project": project, "user": user, "local": local}
        self.others = {name.replace("__", "."): text for name, text in beside.items()}
        self.watched: list[Watched] = []

    def layers(self) -> list[tuple[str, str, bytes]]:
        names = {"project": "hooks.yaml", "user": "user.yaml", "local": "local.yaml"}
        return [(layer, names[layer], dedent(text).encode()) for layer, text in self.texts.items() if text]

    def beside(self, layer: str, relative: str) -> bytes | None:
        text = self.others.get(relative)
        return None if text is None else dedent(text).encode()


@pytest.fixture
def load() -> Load:
    """The policy that these layers make: `load(project, user, local, other__yaml=…)`."""

    def of(project: str, user: str = "", local: str = "", **beside: str) -> Policy:
        return layers.load(Layers(project, user, local, **beside))

    return of


@pytest.fixture
def errors(load: Load) -> Errors:
    """The lines in which a policy is refused; none for a valid one."""

    def of(project: str, user: str = "", local: str = "", **beside: str) -> list[str]:
        try:
            load(project, user, local, **beside)
        except PolicyError as error:
            return [str(problem) for problem in error.problems]
        return []

    return of
