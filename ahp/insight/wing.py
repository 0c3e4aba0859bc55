"""What this wing adds to ahp's tables (`ahp.system.wings`)."""

COMMANDS = {
    "replay": "ahp.insight.commands.replay:command",
    "stats": "ahp.insight.commands.stats:command",
    "report": "ahp.insight.commands.report:command",
    "watch": "ahp.insight.commands.watch:command",
    "verify-history": "ahp.insight.commands.verify_history:command",
    "log export": "ahp.insight.commands.log_export:export",
    "log ship": "ahp.insight.commands.log_export:ship",
}
HELP = {
    "replay": ("Write rules", "what another policy would have said to what is in the log"),
    "stats": ("Look back", "which rules earn their keep: asked, said, answered, fixed"),
    "report": ("Look back", "a page of charts of what the log tells, or an audit of commits"),
    "verify-history": ("Look back", "whether each revision of a branch was judged, by signed statements"),
    "watch": ("Look back", "signals as they come, and what is about to block"),
}
ADVICE = {
    "outcomes": "ahp.insight.commands.outcomes:of_tried",
}
