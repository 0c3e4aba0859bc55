"""The agent runner for programs (docs/runner.md): agents, tools and models, imported when first asked for."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.facts.tool import Touched as Touched
    from ahp.runner.config import AgentConfig as AgentConfig
    from ahp.runner.gating.gate_adapter import RepositoryGate as RepositoryGate
    from ahp.runner.models.exchange import connect as connect
    from ahp.runner.models.model import Answer as Answer
    from ahp.runner.models.model import ContextOverflow as ContextOverflow
    from ahp.runner.models.model import Model as Model
    from ahp.runner.models.model import ModelError as ModelError
    from ahp.runner.models.model import NativeCall as NativeCall
    from ahp.runner.models.model import ToolDefinition as ToolDefinition
    from ahp.runner.models.model import Want as Want
    from ahp.runner.run.agent import Agent as Agent
    from ahp.runner.run.agent import AgentTurn as AgentTurn
    from ahp.runner.run.conversation import Message as Message
    from ahp.runner.run.events import EventLog as EventLog
    from ahp.runner.tools.catalog import standard_tools as standard_tools
    from ahp.runner.tools.tool import FunctionTool as FunctionTool
    from ahp.runner.tools.tool import Tool as Tool
    from ahp.runner.tools.tool import ToolContext as ToolContext
    from ahp.runner.tools.tool import tool as tool
    from ahp.runner.verification.result import VerificationResult as VerificationResult
    from ahp.runner.words.control_protocol import try_parse_control_envelope as try_parse_control_envelope
    from ahp.runner.words.replies import is_protocol_content as is_protocol_content
    from ahp.runner.words.replies import read_control as read_control

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
__all__ = list(_LAZY)


def __getattr__(name: str) -> object:
    """Imports a name when it is first asked for: `import ahp.runner` costs nothing."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(__import__(_LAZY[name], None, None, (name,)), name)
    return value
