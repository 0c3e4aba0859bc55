"""A real MCP server by the SDK, for tests: `python mcp_server.py`; with `broken` it ends at once."""

from __future__ import annotations

import os
import sys
import time

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("notes")


@server.tool(annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False))
def find(text: str, most: int = 3) -> str:
    """Finds notes that hold a text."""
    return f"found {text} {most} for {os.environ.get('AHP_AGENT')} {os.environ.get('NOTES_KEY')} {os.getcwd()}"


@server.tool()
def remove(path: str) -> str:
    """Removes a note."""
    raise ValueError(f"{path} is locked")


@server.tool(name="hang.up")
def hang() -> str:
    """Takes its time."""
    time.sleep(60)
    return "late"


@server.resource("notes://first")
def first() -> str:
    """The first note."""
    return "Buy milk."


if "broken" in sys.argv:
    sys.exit("no licence")
server.run("stdio")
