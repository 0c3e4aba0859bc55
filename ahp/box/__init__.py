"""The box: a floor for agents that reads nothing (docs/box.md). A wing."""
