"""What loads what, read off a fresh interpreter: import-linter sees written imports only, and not their cost."""

import json

import pytest

from tests.architecture.tree import PACKAGES, name_of, package_files, run_python

HEAVY = {"openai", "playwright", "browser_use", "docker"}


def _loaded_by(module: str) -> set[str]:
    program = f"import json, sys, {module}; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    ended = run_python("-c", program)
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stdout))


def test_the_session_loads_no_screen_no_sdk_and_no_browser() -> None:
    assert (
        _loaded_by("core.session")
        & (HEAVY | {"textual", "rich", "tomlkit", "tools", "sandbox", "tui"})
        == set()
    )


def test_the_screen_starts_without_the_slow_packages() -> None:
    assert _loaded_by("tui.app") & (HEAVY | {"mcp", "acp"}) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_imports_without_a_warning_or_a_word(package: str) -> None:
    paths = (name_of(path).removesuffix(".py") for path in package_files(".py", package))
    modules = [path.replace("/", ".") for path in paths if not path.endswith("__main__")]
    program = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name.removesuffix('.__init__'))"
    ended = run_python("-W", "error", "-c", program, *modules)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
