"""More forms in which models write calls: channels of Harmony, tags with `invoke`, lists of Python calls.

As in `core.chat.text_templates`, each reader takes a whole message or nothing.
"""

import ast
import html
import json
import re

from core.chat.call_reading import RawCall
from core.messages import JsonValue

_BAR = r"[|\uff5c]"
_HARMONY_BEFORE = re.compile(
    r"\A(?:\s*(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>(?:(?!<\|end\|>).)*<\|end\|>)+",
    re.DOTALL,
)
_HARMONY = re.compile(
    r"\s*(?:<\|start\|>assistant)?<\|channel\|>(?:commentary|analysis)\s+to=([\w.:-]+)\s*"
    r"(?:<\|constrain\|>)?\s*\w*\s*<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|\Z)",
    re.DOTALL,
)
_MARK = rf"(?:{_BAR}[A-Z]+{_BAR}|\w+:)?"
_FRAMES = rf"(?:\s*</?{_MARK}(?:function_calls|tool_calls?)>)*"
_LAST_FRAMES = re.compile(rf"{_FRAMES}\s*\Z")
_INVOKE = re.compile(
    rf"{_FRAMES}\s*<{_MARK}invoke name=\"([^\">]+)\">(.*?)(?:</{_MARK}invoke>|\Z)", re.DOTALL
)
_PARAMETER = re.compile(
    rf"\s*<{_MARK}parameter name=\"([^\">]+)\"[^>]*>(.*?)</{_MARK}parameter>", re.DOTALL
)
_BAR_CALL = re.compile(r"\A<\|/?tool_call\|?>\s*(.*?)\s*(?:<\|?/tool_call\|>)?\Z", re.DOTALL)
_PYTHON_START = re.compile(r"\[\s*(?:[A-Za-z_][\w.]*(?:\(.*)?)?\Z", re.DOTALL)
MAX_PYTHON_CHARS = 100_000
"""A longer list of Python calls is no list of calls."""
MARKUP_STARTS = (
    *("<|channel|>", "<|start|>assistant", "<|tool_call|>", "<invoke", "<function_calls>"),
    *("<minimax:", "<\uff5cDSML", "<|DSML"),
)
"""How messages in these forms begin."""


def may_be_python_calls(start: str) -> bool:
    """Return whether a message that begins like this could be a list of Python calls."""
    return _PYTHON_START.match(start) is not None


def bar_call_body(message: str) -> str:
    """Return the JSON inside <|tool_call|>, "" where there is none."""
    found = _BAR_CALL.match(message)
    return found.group(1) if found is not None else ""


def read_harmony(message: str) -> list[RawCall]:
    """Read the commentary channel of Harmony; an analysis before it is reasoning.

    Source: OpenAI Harmony response format, "Function calling".
    """
    rest, at = _HARMONY_BEFORE.sub("", message).strip(), 0
    calls: list[RawCall] = []
    while at < len(rest):
        found = _HARMONY.match(rest, at)
        if found is None:
            return []
        calls.append(_raw(found.group(1), found.group(2).strip()))
        at = found.end()
    return calls


def read_invokes(message: str) -> list[RawCall]:
    """Read `invoke` tags with `parameter` tags in them, as Claude, MiniMax and DeepSeek write them."""
    at = 0
    calls: list[RawCall] = []
    while _LAST_FRAMES.match(message, at) is None:
        found = _INVOKE.match(message, at)
        if found is None:
            return []
        body = found.group(2)
        left = _PARAMETER.sub("", body).strip()
        if left and not left.startswith("<"):
            return []
        values = {
            name: html.unescape(value.strip("\n")) for name, value in _PARAMETER.findall(body)
        }
        # A parameter without its end was cut off: an open object says so to whoever reads the arguments.
        written = '{"' if left else json.dumps(values, ensure_ascii=False)
        calls.append(_raw(found.group(1), written))
        at = found.end()
    return calls


def read_python_calls(message: str) -> list[RawCall]:
    """Read a list of Python calls with named constants for arguments, as Llama 4 writes them."""
    if not may_be_python_calls(message) or len(message) > MAX_PYTHON_CHARS:
        return []
    try:
        tree = ast.parse(message, mode="eval").body
        items = tree.elts if isinstance(tree, ast.List) else []
        return [_python_call(item) for item in items]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return []


def _python_call(node: ast.expr) -> RawCall:
    if not isinstance(node, ast.Call) or node.args:
        raise ValueError("not a call with named arguments")
    values: dict[str, JsonValue] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ValueError("an argument has no name")
        values[keyword.arg] = ast.literal_eval(keyword.value)
    return _raw(ast.unparse(node.func), json.dumps(values, ensure_ascii=False))


def _raw(name: str, arguments: str) -> RawCall:
    return RawCall(name=name.strip(), arguments=arguments, source="text")
