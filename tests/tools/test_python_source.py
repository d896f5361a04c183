"""Python source that JSON broke, and hints after commands that did not start."""

import ast

import pytest

from tools.command_hint import command_hint
from tools.edit import EditFileArguments
from tools.python import PythonArguments
from tools.python_source import mended

BROKEN = [
    "print('a\nb')",
    "print(f'one: {1}\ntwo: {2}')",
    'text = "a\nb\nc"\nprint(text)',
    "    x = 1\n    print(x)",
    "\n    for i in range(3):\n        print(i, end='\n')\n",
]


@pytest.mark.parametrize("source", BROKEN)
def test_what_json_broke_can_be_compiled_again(source: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(source)
    ast.parse(mended(source))


def test_a_line_break_in_quotes_is_written_as_an_escape() -> None:
    assert mended("print('a\nb')") == "print('a\\nb')"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = '''a\nb'''\n",
        "if x:\n    y = 1\n",
        "    # only a comment\n",
        "print('a",
        "def f(:\n    pass",
        "x = '''never closed\n",
        "a\0b",
        "print('open\n" * 200,
    ],
)
def test_what_runs_or_cannot_be_mended_stays_as_it_is(source: str) -> None:
    assert mended(source) == source


def test_the_tools_show_and_run_the_mended_source() -> None:
    assert PythonArguments(code="print('a\nb')").code == "print('a\\nb')"
    written = EditFileArguments(command="create", path="a.py", file_text="print('a\nb')")
    assert written.file_text == "print('a\\nb')"


@pytest.mark.parametrize("command", ["primes.py", "python primes.py", " python3 primes.py\n"])
def test_the_command_that_runs_a_file_becomes_code_that_runs_it(command: str) -> None:
    assert "run_path('primes.py'" in PythonArguments(code=command).code
    written = EditFileArguments(command="create", path="a.py", file_text=command)
    assert written.file_text == command or "run_path" not in (written.file_text or "")


def test_other_files_are_written_as_they_are() -> None:
    written = EditFileArguments(command="create", path="a.txt", file_text="  it's\nso")
    assert written.file_text == "  it's\nso"


@pytest.mark.parametrize(
    ("code", "stderr", "hint"),
    [
        (126, "bash: ./go.sh: Permission denied", "run it as: bash ./go.sh"),
        (126, "bash: line 3: ./go.py: Permission denied\n", "run it as: python3 ./go.py"),
        (127, "bash: frob: command not found", "no program frob"),
    ],
)
def test_a_command_that_did_not_start_gets_a_way_that_works(
    code: int, stderr: str, hint: str
) -> None:
    assert hint in command_hint(code, stderr)


@pytest.mark.parametrize(
    ("code", "stderr"),
    [
        (0, "bash: ./go.sh: Permission denied"),
        (1, "bash: frob: command not found"),
        (126, ""),
        (None, "x"),
    ],
)
def test_nothing_is_said_where_nothing_is_known(code: int | None, stderr: str) -> None:
    assert command_hint(code, stderr) == ""
