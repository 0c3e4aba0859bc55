"""Random git operations, compared with plain git and with an oracle that knows nothing of ahp's code."""
