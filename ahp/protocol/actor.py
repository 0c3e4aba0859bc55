"""Who acts: a person, a coding agent, or CI, told by the markers they leave in the environment.  [light]"""

_AGENTS = (
    ("CLAUDECODE", "claude"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_CI", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("COPILOT_CLI", "copilot"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("OPENCODE", "opencode"),
    ("CURSOR_AGENT", "cursor"),
    ("CURSOR_TRACE_ID", "cursor"),
    ("AIDER_MODEL", "aider"),
)
_NAMED = ("AHP_AGENT", "AI_AGENT", "AGENT")
_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "JENKINS_URL", "TF_BUILD")


class Actor:
    """`kind` is human, agent or ci; `name` which one, "" when unknown. As text: `agent:claude`.

    `is_verified` says that somebody vouches for the name who is neither the actor nor this machine: a CI platform.
    """

    __slots__ = ("is_verified", "kind", "name")

    def __init__(self, kind: str, name: str = "", is_verified: bool = False) -> None:
        self.kind, self.name, self.is_verified = kind, name, is_verified

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind


def identify(env: dict[str, str]) -> Actor:
    """The actor whose markers `env` holds; an agent inside CI is an agent. No proof: an agent can unset them."""
    for variable, name in _AGENTS:
        if env.get(variable):
            return Actor("agent", name)
    for variable in _NAMED:
        if env.get(variable):
            return Actor("agent", _word(env[variable]))
    for variable in _CI:
        if is_set(env.get(variable, "")):
            return Actor("ci", variable.lower() if variable != "CI" else "")
    return Actor("human", _word(env.get("USER", "")))


def is_set(value: str) -> bool:
    """Whether the value of a CI variable says yes."""
    return value.lower() not in ("", "0", "false")


def markers() -> list[str]:
    """The variables that tell an agent or CI, for those who look without Python."""
    return [*[variable for variable, _ in _AGENTS], *_NAMED, *_CI]


def _word(text: str) -> str:
    """A name fit for a log line: letters, digits, `-_.@`, at most 40."""
    return "".join([c for c in text[:40] if c.isalnum() or c in "-_.@"])
