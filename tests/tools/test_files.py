"""`read_file`, `list_files` and `finish`."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from core.errors import ToolFailedError, WorkspaceError
from core.stored_results import StoredResults
from core.workspace import WorkspaceFiles
from tests.support.fake_call import FakeCall
from tests.support.fake_sandbox import WORKSPACE, MemoryFiles
from tools.files import ListFiles, ListFilesArguments, ReadFile, ReadFileArguments, glob_pattern
from tools.finish import Finish, FinishArguments

RESULTS = StoredResults(Path("/nowhere"), lambda: 1 << 20)


async def read(contents: bytes, **arguments: int) -> str:
    tool = ReadFile(MemoryFiles({"a.txt": contents}), WORKSPACE, RESULTS)
    return (await tool.run(ReadFileArguments(path="a.txt", **arguments), FakeCall())).output


async def test_a_text_file_is_read_whole_under_a_line_that_says_what_it_is() -> None:
    assert await read(b"one\ntwo\n") == "a.txt: lines 1-2 of 2, 8 bytes\none\ntwo"


async def test_lines_are_read_from_an_offset() -> None:
    text = b"".join(b"%d\n" % number for number in range(1, 101))
    assert await read(text, offset=98, limit=2) == "a.txt: lines 98-99 of 100, 292 bytes\n98\n99"
    with pytest.raises(ToolFailedError, match="only 100 lines"):
        await read(text, offset=101)


async def test_a_long_file_says_where_to_read_on() -> None:
    text = b"".join(b"%06d\n" % number for number in range(1, 20_001))
    output = await read(text, limit=20_000)
    head, first, *_, last = output.split("\n")
    assert first == "000001"
    assert f"read on with offset={int(last) + 1}" in head
    assert len(output) < 40_000


async def test_a_line_without_end_does_not_flood() -> None:
    output = await read(b"x" * 5_000_000)
    assert "4,996,000 bytes of this line left out" in output
    assert len(output) < 5_000


async def test_no_binary_is_poured_out_and_other_bytes_are_shown_as_escapes() -> None:
    assert await read(b"caf\xe9 \xf0\x9f\x98\x80") == "a.txt: lines 1-1 of 1, 9 bytes\ncaf\\xe9 😀"
    with pytest.raises(ToolFailedError, match="binary file of 3 bytes"):
        await read(b"a\0b")
    assert await read(b"") == "a.txt is empty."


async def test_the_lines_of_a_file_come_out_the_same_however_it_is_cut_into_pieces(
    workspace: Path,
) -> None:
    lines = [f"{number} 日本語" for number in range(200_000)]
    (workspace / "big").write_text("\n".join(lines))
    tool = ReadFile(WorkspaceFiles(workspace), workspace, RESULTS)
    arguments = ReadFileArguments(path=f"{workspace}/big", offset=150_001, limit=3)
    assert (await tool.run(arguments, FakeCall())).output.split("\n")[1:] == lines[150_000:150_003]


async def test_a_listing_shows_sizes_and_keeps_out_of_heavy_folders() -> None:
    files = MemoryFiles(
        {"a/b.py": b"12", "node_modules/x/y.js": b"", "z.txt": b"1234", "a/deep/er/x": b""}
    )
    tool = ListFiles(files, WORKSPACE)
    output = (await tool.run(ListFilesArguments(), FakeCall())).output
    assert output == "a/\na/b.py  2\na/deep/\nnode_modules/  (not listed further)\nz.txt  4"


@pytest.mark.parametrize(
    ("glob", "fits", "does_not"),
    [
        ("*.py", ["a.py", "b/c.py"], ["a.pyc", "py"]),
        ("src/*.py", ["src/a.py"], ["src/b/a.py", "a.py"]),
        ("src/**/*.py", ["src/a.py", "src/b/c/a.py"], ["a.py"]),
        ("a?[1].txt", ["ab[1].txt"], ["ab1.txt"]),
    ],
)
def test_a_glob_means_names_anywhere_or_paths(
    glob: str, fits: list[str], does_not: list[str]
) -> None:
    pattern = glob_pattern(glob)
    assert pattern is not None
    assert all(pattern.fullmatch(path) for path in fits)
    assert not any(pattern.fullmatch(path) for path in does_not)


async def test_a_listing_by_glob_holds_only_files_that_fit() -> None:
    tool = ListFiles(MemoryFiles({"a/b.py": b"", "a/b.txt": b"", "c.py": b""}), WORKSPACE)
    assert (
        await tool.run(ListFilesArguments(glob="*.py"), FakeCall())
    ).output == "a/b.py  0\nc.py  0"
    assert (
        "no file like *.rs" in (await tool.run(ListFilesArguments(glob="*.rs"), FakeCall())).output
    )


async def test_a_folder_outside_is_not_listed() -> None:
    with pytest.raises(WorkspaceError):
        await ListFiles(MemoryFiles(), WORKSPACE).run(ListFilesArguments(path="/etc"), FakeCall())


async def test_finish_names_the_files_as_the_workspace_does() -> None:
    tool = Finish(MemoryFiles({"out/a.txt": b"x"}), WORKSPACE)
    arguments = FinishArguments(
        answer="Done.", status="answered", files=["/workspace/out/a.txt", "out"]
    )
    result = await tool.run(arguments, FakeCall())
    assert (result.final_answer, result.gave_up) == ("Done.", False)
    assert result.files == ("out/a.txt", "out")


async def test_finish_is_refused_once_for_files_that_are_not_there_and_then_says_so() -> None:
    tool = Finish(MemoryFiles({"a": b""}), WORKSPACE)
    arguments = FinishArguments(answer="Done.", files=["a", "b", "/etc/passwd"])
    first = await tool.run(arguments, FakeCall())
    assert (first.outcome, first.final_answer) == ("failed", None)
    assert "b does not exist" in first.output
    second = await tool.run(arguments, FakeCall())
    assert second.files == ("a",)
    assert second.final_answer == "Done.\n\nNot found on disk: /etc/passwd, b."


def test_the_status_of_finish_is_understood_in_common_words() -> None:
    assert FinishArguments.model_validate({"answer": "x", "status": "Success"}).status == "answered"
    assert FinishArguments.model_validate({"answer": "x", "status": "failure"}).status == "gave_up"
    with pytest.raises(ValidationError, match="'answered' or 'gave_up'"):
        FinishArguments.model_validate({"answer": "x", "status": "maybe"})
