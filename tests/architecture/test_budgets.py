"""The sizes that keep the code readable. There is no list of exceptions: what grows past one is split.

Complexity, nesting, arguments and statements are checked by ruff (pyproject.toml), with no way around it either.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import (
    PACKAGES,
    Function,
    functions,
    name_of,
    package_files,
    parse,
    python_files,
)

FILE_LINES = 400
CLASS_LINES = 250
CLASS_METHODS = 20
FUNCTION_LINES = 60
STYLE_SHEET_LINES = 250

BOUNDARIES = {
    ("core/dispatch.py", "Dispatcher.dispatch"): "a defect in one tool becomes a failed call",
    ("core/run.py", "Run.work"): "top of a run's task",
    ("tui/headless.py", "HeadlessRun.play"): "top of a run without a screen",
    ("tui/session_host.py", "SessionHost._guarded"): "top of a worker",
    ("tools/browser/bridge.py", "dom_service"): "browser-use's own code",
    ("tools/browser/bridge.py", "leave_nodes"): "browser-use's own code",
    ("tools/own_tools.py", "OwnTool.unavailable"): "the person's own code",
    ("tools/own_tools.py", "OwnTool._guarded"): "the person's own code",
    ("tools/own_tools.py", "_Loading.load_file"): "the person's own code",
    ("tools/own_tools.py", "_Loading.load_point"): "the person's own code",
    ("tools/own_tools.py", "_Loading._take"): "the person's own code",
    ("tools/own_function.py", "_in_thread.call"): "the person's own code, in its thread",
    ("sandbox/runner/python_worker.py", "Worker._run"): "code that the model wrote",
}
"""The functions that may catch any exception at all, and what they keep from ending the others."""

BUDGET_RULES = re.compile(r"noqa:[^#\n]*\b(C901|PLR\d+)\b|ruff: *noqa")


def test_files_are_short() -> None:
    long = [(name_of(path), n) for path in python_files() if (n := _line_count(path)) > FILE_LINES]
    assert not long, long


def test_style_sheets_are_short() -> None:
    sheets = package_files(".tcss", *PACKAGES)
    long = [(name_of(path), n) for path in sheets if (n := _line_count(path)) > STYLE_SHEET_LINES]
    assert not long, long


def test_classes_are_small() -> None:
    large = [
        (name_of(path), node.name, lines, methods)
        for path, node in _classes()
        if (lines := _span(node)) > CLASS_LINES or (methods := _method_count(node)) > CLASS_METHODS
    ]
    assert not large, large


def test_functions_are_short() -> None:
    long = [
        (name_of(path), name, lines)
        for path in python_files()
        for name, node in functions(parse(path))
        if (lines := _lines_without_docstring(node)) > FUNCTION_LINES
    ]
    assert not long, long


def test_no_rule_of_size_is_switched_off() -> None:
    switched = [
        (name_of(path), number)
        for path in python_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if BUDGET_RULES.search(line) and path != Path(__file__)
    ]
    assert not switched, switched


def test_only_boundaries_catch_everything() -> None:
    caught = {
        (name_of(path), name)
        for path in python_files()
        for name, node in functions(parse(path))
        if any(_catches_everything(inner) for inner in _own_nodes(node))
    }
    beyond = sorted(caught - set(BOUNDARIES))
    assert not beyond, beyond


def _line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _span(node: ast.ClassDef | Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for path in python_files():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                yield path, node


def _method_count(node: ast.ClassDef) -> int:
    return sum(isinstance(item, Function) for item in node.body)


def _lines_without_docstring(node: Function) -> int:
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is None:
        return _span(node)
    return _span(node) - ((first.end_lineno or first.lineno) - first.lineno + 1)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, less what is in functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function | ast.ClassDef):
            yield from _own_nodes(child)


def _catches_everything(node: ast.AST) -> bool:
    """True for a broad `except` that does not raise again at its end, and for a broad `suppress`."""
    if isinstance(node, ast.ExceptHandler):
        return (node.type is None or _is_broad(node.type)) and not _raises_again(node)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).endswith("suppress") and any(map(_is_broad, node.args))
    return False


def _is_broad(expression: ast.expr) -> bool:
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    return bool(names & {"Exception", "BaseException", "ExceptionGroup", "BaseExceptionGroup"})


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None
