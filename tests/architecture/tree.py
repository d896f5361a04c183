"""The repository as data: its folders, its files, and what is defined in them."""

import ast
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "tools", "sandbox", "themes", "tui")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def package_files(suffix: str, *folders: str) -> list[Path]:
    found = (path for folder in folders for path in (REPOSITORY / folder).rglob(f"*{suffix}"))
    return sorted(path for path in found if "__pycache__" not in path.parts)


def python_files() -> list[Path]:
    return [REPOSITORY / "handrail.py", *package_files(".py", *PACKAGES, "bench", "tests")]


def tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True
    )
    paths = (REPOSITORY / name for name in listing.stdout.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def name_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


@functools.cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every function, methods and nested ones too, as (dotted name, node)."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
        inner = f"{prefix}{node.name}." if isinstance(node, Function | ast.ClassDef) else prefix
        yield from functions(node, inner)


def run_python(
    *arguments: str, cwd: Path = REPOSITORY, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run this Python in a fresh process that inherits no import path."""
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
