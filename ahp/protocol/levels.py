"""The spectrum of control: four intensities and the decisions they lead to (seed 002 §2).  [light]"""

ALLOW = "allow"
SILENT, UNDECIDED = "silent", "undecided"
"""What a rule says of a change that exists, where it says no level."""

LEVEL_OF = {"block": "blocking", "control": "controlling", "prompt": "prompting", "aid": "aiding"}
DECISION_OF = {
    "block": "deny",
    "control": "allow_with_modification",
    "prompt": "warn",
    "aid": "suggest",
    "allow": "allow",
}
_STRENGTH = {"allow": 0, "aid": 1, "prompt": 2, "control": 3, "block": 4}


def strength(intensity: str) -> int:
    """How compulsory an intensity is: allow 0, aid 1, prompt 2, control 3, block 4."""
    return _STRENGTH[intensity]


def strongest(intensities: list[str]) -> str:
    """The most compulsory of them, `allow` of none."""
    return max(intensities, key=strength, default=ALLOW)
