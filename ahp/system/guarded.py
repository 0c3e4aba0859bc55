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
# Of a home: what programs were installed into, and what they keep to be faster. A box shows that, and SETTINGS.
_SHOWN_TOOLS = """
    .asdf .bun .cache .cargo .deno .dotnet .gem .ghcup .goenv .gradle .jenv .juliaup .local .m2 .mise .nix-profile
    .nodenv .npm .nuget .nvm .opam .pnpm-store .pub-cache .pyenv .rbenv .rustup .sdkman .volta .yarn go
"""
# Settings without which a tool would go elsewhere: a hidden `registry=` asks the public one for private names.
_SHOWN_SETTINGS = """
    .cargo/config.toml .condarc .config/git/attributes .config/git/config .config/git/ignore .config/pip/pip.conf
    .config/uv/uv.toml .gitconfig .gitignore .gitignore_global .gradle/gradle.properties .inputrc .m2/settings.xml
    .npmrc .pip/pip.conf .yarnrc .yarnrc.yml
"""
TOOLS, SETTINGS = tuple(_SHOWN_TOOLS.split()), tuple(_SHOWN_SETTINGS.split())
_KEYS = ("credential", "auth", "token", "keyring", "netrc")  # beginnings of the names of files with keys


def is_key_file(name: str) -> bool:
    """Whether a file holds keys, by its name."""
    return name.removeprefix(".").casefold().startswith(_KEYS)


def is_hidden(path: str, home: str) -> bool:
    """Whether a whole path, or one that begins with `~/`, is one of the home that a box hides."""
    below = path[2:] if path.startswith("~/") else path.removeprefix(home.rstrip("/") + "/")
    if below == path or not below:
        return False
    shown = any(f"{below}/".startswith(f"{one}/") for one in (*TOOLS, *SETTINGS, *IN_HOME["agent settings"]))
    return not shown or any(map(is_key_file, below.split("/")[1:3]))
