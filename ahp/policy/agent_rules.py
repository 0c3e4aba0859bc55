"""Whether a policy judges what coding agents do, and the pack that does: put into `extends`, the file's layout kept."""

from ahp.policy.rule import Policy
from ahp.policy.yamltext import decode, parse
from ahp.system.errors import AhpError
from ahp.system.yamltree import Node

PACK = "agents"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def are_in(policy: Policy) -> bool:
    """Whether a rule reads an agent's call before it runs: one of the pack, or of the policy's own.

    Those of other packs do not count: `tickets` asks for a ticket, and lets an agent take its hooks away.
    """
    return any(
        rule.trigger == "pre-tool-use"
        and (rule.layer == f"pack {PACK}" or not rule.layer.startswith("pack "))
        and any(path.partition(".")[0] in ("tool", "actor") for path in rule.reads)
        for rule in policy.rules
    )


def extended(data: bytes, name: str) -> bytes:
    """The policy file `data` with the pack as the last that it extends, every other byte as it was.

    Raises PolicyError for a file that cannot be read, AhpError where the edit would say anything else.
    """
    text, root = decode(data, name), parse(data, name)
    start, end, new = _edit(text, root)
    after = (text[:start] + new + text[end:]).encode()
    known = root.plain() if root is not None else {}
    result = parse(after, name)
    if isinstance(known, dict) and result is not None:
        listed = known.get("extends", [])
        meant = [listed] if isinstance(listed, str) else listed
        if isinstance(meant, list) and result.plain() == {**known, "extends": [*meant, PACK]}:
            return (_BYTE_ORDER_MARK if data.startswith(_BYTE_ORDER_MARK) else b"") + after
    raise AhpError(f"{name}: `extends` is written in a way that is not changed here")


def _edit(text: str, root: Node | None) -> tuple[int, int, str]:
    """Where the text changes, from and to which offset, and what stands there then."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if root is None or not isinstance(root.value, dict):
        begin = "" if not text or text.endswith("\n") else newline
        return len(text), len(text), f"{begin}extends: [{PACK}]{newline}"
    node = root.value.get("extends")
    if node is None:
        return root.start, root.start, f"extends: [{PACK}]{newline}"
    if not isinstance(node.value, list):
        return node.start, node.end, f"[{text[node.start : node.end]}, {PACK}]"
    if not node.value:
        return node.start, node.end, f"[{PACK}]"
    last = node.value[-1]
    if node.flow:
        return last.end, last.end, f", {PACK}"
    lead = text[text.rfind("\n", 0, last.start) + 1 : last.start]
    end = text.find("\n", last.end)
    end = len(text) if end < 0 else end - (text[end - 1] == "\r")
    return end, end, f"{newline}{lead}{PACK}"
