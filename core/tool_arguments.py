"""Explains to a model, in one short text, why its arguments do not fit a tool."""

import difflib
import json
from collections.abc import Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from core.ports import Tool

MAX_PROBLEMS = 5


def explain(tool: Tool, error: ValidationError) -> str:
    """Return what is wrong, what is allowed and an example, in a few lines at most."""
    allowed = list(tool.arguments.model_fields)
    items = error.errors(include_url=False, include_context=False)[:MAX_PROBLEMS]
    problems = "; ".join(_problem(item, allowed) for item in items)
    return f"Bad arguments for {tool.name}: {problems}. {signature(tool)}{_example(tool)}"


def signature(tool: Tool) -> str:
    """Return the arguments of a tool in one line: required ones plain, optional ones with "?"."""
    names = [
        name if field.is_required() else f"{name}?"
        for name, field in tool.arguments.model_fields.items()
    ]
    return f"Arguments: {tool.name}({', '.join(names)})."


def _problem(item: ErrorDetails, allowed: Sequence[str]) -> str:
    where = ".".join(str(part) for part in item["loc"]) or "arguments"
    if item["type"] == "missing":
        return f"{where} is required"
    if item["type"] == "extra_forbidden":
        close = difflib.get_close_matches(where, allowed, n=1)
        return f"{where} is not an argument" + (f" (did you mean {close[0]}?)" if close else "")
    text = item["msg"].removeprefix("Value error, ")
    return f"{where}: {text[:1].lower()}{text[1:]}" if where != "arguments" else text


def _example(tool: Tool) -> str:
    """Return a call that fits, for tools that have one."""
    example = getattr(tool, "example", None)
    return f" Example: {json.dumps(example, ensure_ascii=False)}" if example else ""
