"""`env`: environment variables, only those the policy lists under `env_allow` (design §4, §6)."""

TRIGGERS = None

# Fields are the policy's; ENTRY is the type of each.
SCHEMA: dict[str, dict[str, object]] = {}
ENTRY = {"type": "str", "doc": "value of the variable; empty when it is not set; never logged"}
