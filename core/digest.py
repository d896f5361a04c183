"""What an approval is bound to: one digest of the tool, its arguments and what they resolve to."""

import hashlib
import json
from collections.abc import Mapping

from core.messages import JsonValue
from core.ports import CallFacts


def call_digest(name: str, arguments: Mapping[str, JsonValue], facts: CallFacts) -> str:
    """Return the SHA-256 of a call in canonical JSON.

    Args:
        name: Tool name.
        arguments: Validated arguments.
        facts: What the tool found out before running: bindings (pre-image hash, origin, element) and the diff shown.

    Returns:
        64 hexadecimal digits; any change of what would be done changes them.
    """
    element = facts.element
    bound = {
        "tool": name,
        "arguments": arguments,
        "bindings": dict(facts.bindings),
        "origin": facts.origin,
        "diff": facts.diff,
        "element": None
        if element is None
        else [element.role, element.name, element.tag, element.input_type, element.href],
    }
    text = json.dumps(bound, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
