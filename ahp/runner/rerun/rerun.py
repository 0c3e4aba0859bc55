"""A recorded run carried out again with its recorded answers, under today's policy, prompts and settings."""

from collections.abc import Iterable
from dataclasses import dataclass

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.gating.ticket_moves import ticket_moves
from ahp.runner.rerun.comparison import Difference, differences
from ahp.runner.rerun.recorded_verification import RecordedVerification
from ahp.runner.rerun.recording import DryGate, RecordedModel, RecordedTool, Recording
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import EventLog
from ahp.runner.tools.tool import Tool


@dataclass(frozen=True)
class Rerun:
    """How it ended, where it differs from the recording, and how many recorded answers nobody asked for."""

    turn: AgentTurn
    differences: list[Difference]
    unused: int


def rerun_recorded(recording: Recording, root: str, config: AgentConfig, tools: Iterable[Tool]) -> Rerun:
    """With recorded results of tools and verifications: nothing is changed, logged or counted."""
    log = EventLog()
    longest = max((len(text) for results in recording.results.values() for _, text in results), default=0)
    agent = Agent(
        RecordedModel(recording, log),
        [RecordedTool(tool, recording, log) for tool in tools],
        gate=DryGate(RepositoryGate(root, session="rerun"), recording),
        # The recorded results are cut already.
        config=config.model_copy(update={"tool_output_chars": max(config.tool_output_chars, longest)}),
        issue=recording.run.issue,
        events=log,
        verification=RecordedVerification(recording),
    )
    return _ended(recording, agent.run(recording.run.task), log)


def rerun_real(
    recording: Recording, root: str, config: AgentConfig, tools: Iterable[Tool], log: EventLog, session: str
) -> Rerun:
    """With real tools, in the project, behind the real gate: a run like any other, but for its model."""
    issue = recording.run.issue
    agent = Agent(
        RecordedModel(recording, log),
        tools,
        gate=RepositoryGate(root, session=session),
        config=config,
        issue=issue,
        move=ticket_moves(root, issue) if issue else None,
        events=log,
    )
    return _ended(recording, agent.run(recording.run.task), log)


def _ended(recording: Recording, turn: AgentTurn, log: EventLog) -> Rerun:
    return Rerun(turn, differences(recording.events, log.seen), recording.unused)
