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
    from ahp.runner.models.exchange import connect
    from ahp.runner.models.model import Answer, ContextOverflow, Model, ModelError, NativeCall, ToolDefinition, Want
    from ahp.runner.run.agent import Agent, AgentTurn
    from ahp.runner.run.conversation import Message
    from ahp.runner.run.events import EventLog
    from ahp.runner.tools.catalog import standard_tools
    from ahp.runner.tools.tool import FunctionTool, Tool, ToolContext, tool
    from ahp.runner.verification.result import VerificationResult
    from ahp.runner.words.control_protocol import try_parse_control_envelope
    from ahp.runner.words.replies import is_protocol_content, read_control

_NAMES = {
    "ahp.facts.tool": "Touched",
    "ahp.runner.config": "AgentConfig",
    "ahp.runner.gating.gate_adapter": "RepositoryGate",
    "ahp.runner.models.exchange": "connect",
    "ahp.runner.models.model": "Answer ContextOverflow Model ModelError NativeCall ToolDefinition Want",
    "ahp.runner.run.agent": "Agent AgentTurn",
    "ahp.runner.run.conversation": "Message",
    "ahp.runner.run.events": "EventLog",
    "ahp.runner.tools.catalog": "standard_tools",
    "ahp.runner.tools.tool": "FunctionTool Tool ToolContext tool",
    "ahp.runner.verification.result": "VerificationResult",
    "ahp.runner.words.control_protocol": "try_parse_control_envelope",
    "ahp.runner.words.replies": "is_protocol_content read_control",
}
_LAZY = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Imports a name when it is first asked for: `import ahp.runner` costs nothing."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(__import__(_LAZY[name], None, None, (name,)), name)
    return value
