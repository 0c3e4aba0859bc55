"""Where each namespace lives; nothing is imported before a rule reads it (design §6, §12)."""

NAMESPACES = {
    "files": "ahp.facts.files",
    "diff": "ahp.facts.diff",
    "branch": "ahp.facts.branch",
    "push": "ahp.facts.push",
    "repo": "ahp.facts.repo",
    "commit": "ahp.facts.commit",
    "deps": "ahp.facts.deps",
    "issue": "ahp.facts.issue",
    "checklist": "ahp.facts.checklist",
    "tests": "ahp.facts.tests",
    "coverage": "ahp.facts.coverage",
    "tool": "ahp.facts.tool",
    "session": "ahp.facts.session",
    "actor": "ahp.facts.actor",
    "environment": "ahp.facts.environment",
    "env": "ahp.facts.env",
    "limits": "ahp.facts.limits",
    "time": "ahp.facts.time",
}
