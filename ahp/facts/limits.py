"""`limits`: the policy's own constants (design §4), one value each or one an environment."""

TRIGGERS = None

# Fields and their types are the policy's.
SCHEMA: dict[str, dict[str, object]] = {}
