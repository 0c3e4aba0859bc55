"""What an agent is told before it begins: what blocks here, what warnings become, how to answer (design §9)."""

from ahp.gate.rendering import some
from ahp.policy.judges import judges_of
from ahp.protocol.event import Event
from ahp.protocol.text import trim
from ahp.protocol.verdict import Verdict

_LIMIT = 800  # characters: at most 200 tokens, by four characters each
_NAMED = 5
_ASKED = {"pre-tool-use": "a tool call", "pre-commit": "a commit", "commit-msg": "a commit", "pre-push": "a push"}


def at_start(event: Event, verdict: Verdict) -> str:
    """The brief of the event's policy, and what the rules of the session's start say; "" where there is no policy."""
    from ahp.hosts import verdict_text

    said = verdict_text.for_agent(verdict) if verdict.signals or verdict.notes else ""
    return "\n".join([part for part in (text(event), said) if part])


def text(event: Event) -> str:
    """At most 200 tokens; "" where no rule asks anything of tool calls, commits or pushes."""
    blocking: dict[str, list[str]] = {}
    ladder: list[str] = []
    for trigger, act in _ASKED.items():
        asked = event.but(trigger=trigger, view=None)
        for answers in [judge.answers(asked) for judge in judges_of(asked) if judge.program.rules]:
            for key, rule in answers.rules.items():
                if not rule.shadow and "block" in rule.intensity.values():
                    oracle, _, name = key.partition("/")
                    blocking.setdefault(act, []).append(oracle if oracle == name else key)
            if answers.escalation is not None:
                ladder += answers.escalation.ladder
    if not blocking:
        return ""
    lines = ["ahp judges your tool calls, commits and pushes here by .ahp/hooks.yaml."]
    lines.append(
        "A refusal says why and what to do: do that. Do not go round it; overrides are your user's. "
        "More about one: ahp explain ID"
    )
    if "block" in ladder:
        lines.append(
            "A warning that is passed over counts for the branch or issue and comes back as a refusal; "
            "a clean change of the same files ends that."
        )
    lines += [f"Refused at {act}: {some([*dict.fromkeys(names)], _NAMED, 40)}." for act, names in blocking.items()]
    return trim("\n".join(lines), _LIMIT)
