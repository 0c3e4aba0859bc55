"""The agent runner for programs (docs/runner.md): agents, tools and models, imported when first asked for."""

__all__ = [
    "Agent",
    "AgentConfig",
    "AgentTurn",
    "Answer",
    "ContextOverflow",
    "EventLog",
    "FunctionTool",
    "Message",
    "Model",
    "ModelError",
    "NativeCall",
    "RepositoryGate",
    "Tool",
    "ToolContext",
    "ToolDefinition",
    "Touched",
    "VerificationResult",
    "Want",
    "connect",
    "is_protocol_content",
    "read_control",
    "standard_tools",
    "tool",
    "try_parse_control_envelope",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.facts.tool import Touched
    from ahp.runner.config import AgentConfig
    from ahp.runner.gating.gate_adapter import RepositoryGate
    from ahp.runner.models.connect import connect
    from ahp.runner.models.model import Answer, ContextOverflow, Model, ModelError, NativeCall, ToolDefinition, Want
    from ahp.runner.run.agent import Agent, AgentTurn
    from ahp.runner.run.conversation import Message
    from ahp.runner.run.events import EventLog
    from ahp.runner.tools.catalog import standard_tools
    from ahp.runner.tools.function import tool
    from ahp.runner.tools.tool import FunctionTool, Tool, ToolContext
    from ahp.runner.verification.result import VerificationResult
    from ahp.runner.words.control_protocol import read_control, try_parse_control_envelope
    from ahp.runner.words.guard import is_protocol_content

_LAZY = {
    "Agent": "ahp.runner.run.agent",
    "AgentConfig": "ahp.runner.config",
    "AgentTurn": "ahp.runner.run.agent",
    "Answer": "ahp.runner.models.model",
    "ContextOverflow": "ahp.runner.models.model",
    "EventLog": "ahp.runner.run.events",
    "FunctionTool": "ahp.runner.tools.tool",
    "Message": "ahp.runner.run.conversation",
    "Model": "ahp.runner.models.model",
    "ModelError": "ahp.runner.models.model",
    "NativeCall": "ahp.runner.models.model",
    "RepositoryGate": "ahp.runner.gating.gate_adapter",
    "Tool": "ahp.runner.tools.tool",
    "ToolContext": "ahp.runner.tools.tool",
    "ToolDefinition": "ahp.runner.models.model",
    "Touched": "ahp.facts.tool",
    "VerificationResult": "ahp.runner.verification.result",
    "Want": "ahp.runner.models.model",
    "connect": "ahp.runner.models.connect",
    "is_protocol_content": "ahp.runner.words.guard",
    "read_control": "ahp.runner.words.control_protocol",
    "standard_tools": "ahp.runner.tools.catalog",
    "tool": "ahp.runner.tools.function",
    "try_parse_control_envelope": "ahp.runner.words.control_protocol",
}
__all__ = sorted(_LAZY)


def __getattr__(name: str) -> object:
    """Imports a name when it is first asked for: `import ahp.runner` costs nothing."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(__import__(_LAZY[name], None, None, (name,)), name)
    return value
