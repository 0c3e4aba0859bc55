"""Control actions: what a rule changes instead of refusing (design §4; seed 002 §2.2)."""

import functools
import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from ahp.policy.model_types import Duration, Keys, Scalar, Text, Texts, as_list
from ahp.system import wings


class SetAction(Keys):
    """Gives an argument of the tool call, or the commit message, a value."""

    type: Literal["set"]
    """`set`"""
    target: Text
    """What changes: `tool.input.NAME` or `commit.message`."""
    value: Scalar | list[Scalar] | dict[str, Scalar]
    """Its new value."""


class ClampAction(Keys):
    """Brings a number of the tool call into bounds."""

    type: Literal["clamp"]
    """`clamp`"""
    target: Text
    """What changes: `tool.input.NAME`."""
    min: int | float | None = None
    """The smallest value let through."""
    max: int | float | None = None
    """The largest value let through."""

    @model_validator(mode="after")
    def _bounds(self) -> "ClampAction":
        if self.min is None and self.max is None:
            raise ValueError("`clamp` needs `min` or `max`")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("`min` is above `max`")
        return self


class ReplaceAction(Keys):
    """Replaces every match of a regular expression in a text."""

    model_config = ConfigDict(populate_by_name=True)

    type: Literal["replace"]
    """`replace`"""
    target: Text
    """What changes: `tool.input.NAME` or `commit.message`."""
    pattern: Text
    """An RE2 regular expression."""
    with_: Annotated[str, Field(alias="with", max_length=4096)]
    r"""What stands in its place; `\1` is the first group."""


class AppendAction(Keys):
    """Adds text to an argument of the tool call or to the commit message."""

    type: Literal["append"]
    """`append`"""
    target: Text
    """What changes: `tool.input.NAME` or `commit.message`."""
    value: Scalar
    """What is added at the end; to a list, as one more item."""


class RunAction(Keys):
    """Runs a command, once a person accepted it with `ahp trust`: a fixer, which gets the staged files that the rule
    matches; with an aid on `post-*` triggers, what follows from the action that is done.
    """

    type: Literal["run"]
    """`run`"""
    command: Annotated[list[Text], Field(min_length=1, max_length=256)]
    """The program and its arguments, one text each; no shell reads them. A fixer gets the names of its files, too."""
    directory: Text = "."
    """Where it runs, from the root of the repository; a fixer gets the files below it."""
    timeout: Duration = 60.0
    """After this long the whole process tree is ended."""
    place: Text = "here"
    """Where it runs: here, or in a place that an installed package adds."""
    stage: bool = False
    """Whether what a fixer changed is staged and the commit goes on; else the commit is refused."""


class SplitAction(Keys):
    """Answers with the change cut into batches and lets it go on."""

    type: Literal["split_suggestion"]
    """`split_suggestion`"""
    max_batch: Annotated[int, Field(ge=1, le=100_000)]
    """The largest batch, in files."""


_HOST = r"^([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.)*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(:[0-9]{1,5})?$"
_Host = Annotated[str, Field(max_length=260, pattern=_HOST)]
Hosts = Annotated[list[_Host], BeforeValidator(as_list, json_schema_input_type=_Host | list[_Host])]
"""Hosts by name. The last label begins with a letter, which no form of an address does (WHATWG URL, 3.5)."""


class BoxKeys(Keys):
    """What is otherwise than by default in the box of a call: paths from the root, from the home (`~/`), or whole."""

    writable: Texts = Field(default=[])
    """Places that it may write beside the work tree."""
    read_only: Texts = Field(default=[])
    """Places of the work tree that it may not write."""
    hidden: Texts = Field(default=[])
    """Places that are not there for it."""
    shown: Texts = Field(default=[])
    """Places that are hidden by default, and variables (`$NAME`), that are there for it."""
    network: Hosts = Field(default=[])
    """Hosts that it may reach by HTTP at ports 80 and 443; `name:port` for another port, or one that is not public."""


class SandboxAction(BoxKeys):
    """Runs the shell call of an agent in a box. What it has beside the policy's `box` is added to that."""

    type: Literal["sandbox"]
    """`sandbox`"""


class SnapshotAction(Keys):
    """Saves the work tree before the shell call of an agent: `ahp saved restore` brings it back."""

    type: Literal["snapshot"]
    """`snapshot`"""


OF_CALLS = ("sandbox", "snapshot")
"""Actions that say what becomes of a call that is allowed: no signals."""
OWN = (SetAction, ClampAction, ReplaceAction, AppendAction, RunAction, SplitAction, SandboxAction, SnapshotAction)


def kinds() -> tuple[Any, ...]:
    """The classes of all actions: ahp's, then those that other packages add (entry points `ahp.actions`).

    An added one is a class of keys with a `type`, a `target` and a static function `change(original, keys)`: it gives
    the target's new value, or raises ValueError with a sentence that says why it cannot. Raises AhpError.
    """
    return (*OWN, *[wings.load(place, "actions") for place in wings.added("actions").values()])


if TYPE_CHECKING:
    _OfCalls = SandboxAction | SnapshotAction
    Action = SetAction | ClampAction | ReplaceAction | AppendAction | RunAction | SplitAction | _OfCalls
else:
    Action = Annotated[functools.reduce(operator.or_, kinds()), Field(discriminator="type")]
