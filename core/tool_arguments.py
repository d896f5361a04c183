"""Explains to a model, in one short text, why its arguments do not fit a tool."""

from pydantic import ValidationError

from core.ports import Tool

MAX_PROBLEMS = 5


def explain(tool: Tool, error: ValidationError) -> str:
    """Return what is wrong and what is allowed, at most a few lines."""
    problems = []
    for item in error.errors(include_url=False, include_context=False)[:MAX_PROBLEMS]:
        where = ".".join(str(part) for part in item["loc"]) or "arguments"
        problems.append(f"{where}: {item['msg']}")
    return f"Bad arguments for {tool.name}: {'; '.join(problems)}. {signature(tool)}"


def signature(tool: Tool) -> str:
    """Return the arguments of a tool in one line: required ones plain, optional ones with "?"."""
    names = [
        name if field.is_required() else f"{name}?"
        for name, field in tool.arguments.model_fields.items()
    ]
    return f"Arguments: {tool.name}({', '.join(names)})."
