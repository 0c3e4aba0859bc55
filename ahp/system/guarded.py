"""Which files decide what is allowed here, or tell what happened: the one list of them (design §6).  [light]

The fact `tool.protected` names them, and a box has those of the project read-only.
"""

# Of each client all of its folder: what a name means there is the client's to say, and a new version brings new ones.
# The files named beside it are those that a pattern may name. The last ones lie elsewhere.
_SETTINGS = """
    .claude .claude/settings.json .claude/settings.local.json .codex .codex/hooks.json .codex/config.toml
    .gemini .gemini/settings.json .cursor .cursor/hooks.json
"""
_PROJECT_SETTINGS = f"""
    {_SETTINGS} .opencode .opencode/plugins .opencode/plugin opencode.json opencode.jsonc .mcp.json
    .github/hooks .github/agents .github/mcp.json .vscode/mcp.json
"""
_HOME_SETTINGS = f"{_SETTINGS} .claude.json .copilot .config/opencode .gemini/trustedFolders.json"
# What agents write there in their work: texts for a model, but for those that say what another agent may do; and these.
TEXTS = (".md", ".mdc", ".txt")
AGENTS = ("agent", "agents")
OF_WORK = ("commands", "skills", "worktrees", "tmp", "session-state")
_HOOK_MANAGERS = """
    .husky .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook-local.yml
    .overcommit.yml .simple-git-hooks.json
"""
# Below the top of the work tree, and below the home. Files in a folder that is named, too, are those which a pattern
# may name: `**/pre-commit`.
IN_PROJECT = {
    "policy": (".ahp", ".ahp/hooks.yaml"),
    "git hooks": tuple(_HOOK_MANAGERS.split()),
    "agent settings": tuple(_PROJECT_SETTINGS.split()),
}
IN_HOME = {
    "policy": (".ahp",),
    "git configuration": (".gitconfig", ".config/git"),
    "agent settings": tuple(_HOME_SETTINGS.split()),
}
# Of the whole machine.
IN_SYSTEM = {
    "git configuration": ("/etc/gitconfig",),
    "agent settings": ("/etc/claude-code", "/etc/codex", "/etc/gemini-cli", "/etc/cursor"),
}
# Below the git directory, and the one that all work trees share.
IN_GIT = {
    "log": ("ahp", "ahp/signals.jsonl"),
    "git hooks": ("hooks", "hooks/pre-commit", "hooks/commit-msg", "hooks/pre-push"),
    "git configuration": ("config", "config.worktree", "info/attributes", "commondir", "gitdir"),
    "git history": ("HEAD", "refs", "packed-refs", "objects", "logs", "reftable", "shallow", "info/grafts"),
}
