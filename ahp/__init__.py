"""ahp: one policy file governs what people and coding agents do to a repository."""

__version__ = "0.3.0"
