"""The platforms that ahp knows: which one runs this, and what it says of the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ahp.hosts.ci.platforms import azure, buildkite, github, gitlab, jenkins
from ahp.hosts.ci.proposal import Proposal
from ahp.protocol.event import is_set
from ahp.system.errors import AhpError

_GITHUB = "GITHUB_ACTIONS"
# The variable by which each platform is known, its name for people, and who reads its word.
_PLATFORMS: dict[str, tuple[str, Callable[[Mapping[str, str]], Proposal]]] = {
    _GITHUB: (github.NAME, github.read),
    "GITLAB_CI": ("GitLab CI", gitlab.read),
    "JENKINS_URL": ("Jenkins", jenkins.read),
    "BUILDKITE": ("Buildkite", buildkite.read),
    "TF_BUILD": ("Azure Pipelines", azure.read),
}


def is_github(env: Mapping[str, str]) -> bool:
    """Whether what is printed comes into a log that GitHub Actions reads, or what works as it does."""
    return is_set(env.get(_GITHUB, ""))


def proposed(env: Mapping[str, str]) -> Proposal | None:
    """What the platform whose variables are in `env` says is to be judged, None where there is no such platform.

    Raises AhpError where two platforms speak at once, and for variables or an event file that cannot be right.
    """
    here = [variable for variable in _PLATFORMS if is_set(env.get(variable, ""))]
    if len(here) > 1:
        names = " and ".join(f"{_PLATFORMS[variable][0]} ({variable})" for variable in here)
        raise AhpError(f"the environment is of {names} at once; unset the variables of the one that does not run this")
    return _PLATFORMS[here[0]][1](env) if here else None
