"""As much of Monoco 0.4.2 as the adapter touches: its feature loader, its hooks, and a command that asks them."""

from __future__ import annotations

import sys
from pathlib import Path

MODULES = {
    "core/loader.py": """\
class FeatureMetadata:
    def __init__(self, name, description=""):
        self.name = name
class FeatureModule:
    def mount(self, context):
        self._on_mount(context)
""",
    "core/output.py": """\
import os
class OutputManager:
    @staticmethod
    def is_agent_mode():
        return os.getenv("AGENT_FLAG") == "true"
""",
    "features/__init__.py": "",
    "features/issue/__init__.py": "",
    "features/issue/hooks/__init__.py": "from .dispatcher import IssueEvent, IssueHookResult, get_dispatcher\n",
    "features/issue/hooks/dispatcher.py": """\
from enum import Enum
class IssueEvent(str, Enum):
    PRE_START = "pre-issue-start"
    POST_START = "post-issue-start"
    PRE_SUBMIT = "pre-issue-submit"
    POST_SUBMIT = "post-issue-submit"
    PRE_CLOSE = "pre-issue-close"
    POST_CLOSE = "post-issue-close"
class IssueHookResult:
    def __init__(self, decision, message, suggestions):
        self.decision, self.message, self.suggestions = decision, message, suggestions
class Dispatcher:
    def __init__(self):
        self.hooks = {}
    def register_callable(self, name, events, fn, priority=100):
        self.hooks.update({event: (name, fn) for event in events})
_dispatcher = Dispatcher()
def get_dispatcher(root=None):
    return _dispatcher
""",
    "main.py": """\
import importlib, os, sys
from pathlib import Path
from types import SimpleNamespace
import monoco.features
from monoco.features.issue.hooks import IssueEvent, get_dispatcher
def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    root = Path(os.getcwd())
    for place in Path(monoco.features.__path__[0]).iterdir():
        if (place / "adapter.py").exists():
            module = importlib.import_module(f"monoco.features.{place.name}.adapter")
            module.AhpFeature().mount(SimpleNamespace(root=root))
    if words[:1] != ["issue"] or len(words) < 3:
        print("monoco", *words)
        return 0
    for when in ("pre", "post"):
        name, hook = get_dispatcher().hooks.get(IssueEvent(f"{when}-issue-{words[1]}"), ("", None))
        if hook is None:
            continue
        told = hook(SimpleNamespace(event=IssueEvent(f"{when}-issue-{words[1]}"), issue_id=words[2], project_root=root))
        print(when, told.decision, f"[{name}]", told.message, told.suggestions)
        if when == "pre" and told.decision == "deny":
            return 1
    return 0
""",
}


def build(top: Path) -> Path:
    """Makes the fake below `top`; the folder of its command."""
    site = top / "site"
    for name, text in MODULES.items():
        (site / "monoco" / name).parent.mkdir(parents=True, exist_ok=True)
        (site / "monoco" / name).write_text(text)
    (site / "monoco_toolkit-0.4.2.dist-info").mkdir()
    (site / "monoco_toolkit-0.4.2.dist-info/METADATA").write_text("Name: monoco-toolkit\nVersion: 0.4.2\n")
    folder = top / "bin"
    folder.mkdir()
    python = f'#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH={site} exec {sys.executable} "$@"\n'
    for name, text in {"python": python, "monoco": f"#!{folder}/python\n" + COMMAND}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


COMMAND = "import sys\nfrom monoco.main import main\nsys.exit(main())\n"
