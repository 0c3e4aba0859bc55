"""`environment`: the named environment (design §4): the first of the policy's that holds, else `development`."""

TRIGGERS = None

# The namespace is one value: the path is `environment` alone.
SCHEMA = {"": {"type": "str", "doc": "name of the environment the policy chose"}}
