"""`edit_file` on real files."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from core.errors import ToolFailedError, WorkspaceError
from core.preimage import PreimageStore
from core.workspace import WorkspaceFiles
from tests.support.fake_call import FakeCall
from tools.edit import EditFile, EditFileArguments


class Editor:
    """Runs the tool the way a call does."""

    def __init__(self, workspace: Path, session: Path) -> None:
        files = WorkspaceFiles(workspace)
        self.tool = EditFile(files, files, PreimageStore(session), workspace)

    async def __call__(self, command: str, path: str, **rest: Any) -> str:
        arguments = EditFileArguments.model_validate({"command": command, "path": path, **rest})
        return (await self.tool.run(arguments, FakeCall())).output

    async def diff(self, command: str, path: str, **rest: Any) -> str:
        arguments = EditFileArguments.model_validate({"command": command, "path": path, **rest})
        return (await self.tool.facts(arguments)).diff


@pytest.fixture
def edit(workspace: Path, tmp_path: Path) -> Editor:
    return Editor(workspace, tmp_path)


async def test_a_new_file_is_made_with_its_folders(edit: Editor, workspace: Path) -> None:
    assert "Made src/a.py (2 lines)" in await edit("create", "src/a.py", file_text="a\nb\n")
    assert (workspace / "src/a.py").read_text() == "a\nb\n"


async def test_the_diff_is_shown_before_and_changes_nothing(edit: Editor, workspace: Path) -> None:
    (workspace / "a").write_text("one\ntwo\nthree\n")
    diff = await edit.diff("replace", "a", old_str="two", new_str="2")
    assert diff == "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    assert (workspace / "a").read_text() == "one\ntwo\nthree\n"


async def test_an_approval_holds_for_what_the_file_held(edit: Editor, workspace: Path) -> None:
    arguments = EditFileArguments(command="create", path="a", file_text="x")
    before = (await edit.tool.facts(arguments)).bindings
    (workspace / "a").write_text("changed meanwhile")
    assert (await edit.tool.facts(arguments)).bindings != before


async def test_text_that_stands_nowhere_is_refused_with_the_nearest_line(
    edit: Editor, workspace: Path
) -> None:
    (workspace / "a").write_text("def total(values):\n    return sum(values)\n")
    with pytest.raises(ToolFailedError, match=r"nearest line is 1: 'def total\(values\):'"):
        await edit.diff("replace", "a", old_str="def totl(values):", new_str="x")
    with pytest.raises(ToolFailedError, match="same but for white space as line 2"):
        await edit("replace", "a", old_str="return sum(values) ", new_str="x")


async def test_text_that_stands_twice_is_refused_with_the_lines(
    edit: Editor, workspace: Path
) -> None:
    (workspace / "a").write_text("x\ny\nx\n")
    with pytest.raises(ToolFailedError, match=r"2 times in a \(lines 1, 3\)"):
        await edit("replace", "a", old_str="x", new_str="z")
    assert (workspace / "a").read_text() == "x\ny\nx\n"


async def test_line_endings_mode_and_tabs_stay(edit: Editor, workspace: Path) -> None:
    path = workspace / "a.bat"
    path.write_bytes(b"one\r\n\ttwo\r\nthree")
    path.chmod(0o755)
    await edit("replace", "a.bat", old_str="one\n\ttwo\n", new_str="1\n\t2\n")
    await edit("insert", "a.bat", new_str="between", insert_line=1)
    await edit("append", "a.bat", file_text="end\n")
    assert path.read_bytes() == b"1\r\nbetween\r\n\t2\r\nthree\r\nend\r\n"
    assert path.stat().st_mode & 0o777 == 0o755


async def test_bytes_that_are_not_utf8_stay(edit: Editor, workspace: Path) -> None:
    (workspace / "a").write_bytes(b"caf\xe9\nx\n")
    assert "caf\\xe9" in await edit("replace", "a", old_str="x", new_str="y")
    assert (workspace / "a").read_bytes() == b"caf\xe9\ny\n"


async def test_lines_are_inserted_at_the_beginning_the_middle_and_the_end(
    edit: Editor, workspace: Path
) -> None:
    (workspace / "a").write_text("1\n2")
    await edit("insert", "a", new_str="0", insert_line=0)
    await edit("insert", "a", new_str="3", insert_line=3)
    assert (workspace / "a").read_text() == "0\n1\n2\n3"
    with pytest.raises(ToolFailedError, match="only 4 lines"):
        await edit("insert", "a", new_str="x", insert_line=9)


async def test_edits_are_undone_one_by_one(edit: Editor, workspace: Path) -> None:
    await edit("create", "a", file_text="1\n")
    await edit("replace", "a", old_str="1", new_str="2")
    assert "-2\n+1" in await edit.diff("undo", "a")
    await edit("undo", "a")
    assert (workspace / "a").read_text() == "1\n"
    await edit("undo", "a")
    assert not (workspace / "a").exists()
    with pytest.raises(ToolFailedError, match="no change of a to undo"):
        await edit("undo", "a")


async def test_an_edit_is_not_undone_over_somebody_elses_change(
    edit: Editor, workspace: Path
) -> None:
    await edit("create", "a", file_text="1\n")
    (workspace / "a").write_text("by hand\n")
    with pytest.raises(ToolFailedError, match="changed since by something else"):
        await edit("undo", "a")
    assert (workspace / "a").read_text() == "by hand\n"


async def test_a_view_numbers_the_lines(edit: Editor, workspace: Path) -> None:
    (workspace / "a").write_text("x\ty\nz")
    assert await edit("view", "a") == "    1\tx\ty\n    2\tz"


@pytest.mark.parametrize("command", ["create", "append"])
async def test_own_files_and_links_are_not_written(
    edit: Editor, workspace: Path, tmp_path: Path, command: str
) -> None:
    (tmp_path / "outside").write_text("kept")
    (workspace / "link").symlink_to(tmp_path / "outside")
    for path in (".handrail/policy.toml", "link", "../outside"):
        with pytest.raises(WorkspaceError):
            await edit(command, path, file_text="x")
    assert (tmp_path / "outside").read_text() == "kept"


async def test_a_binary_or_huge_file_is_not_edited_as_text(edit: Editor, workspace: Path) -> None:
    (workspace / "binary").write_bytes(b"a\0b")
    with (workspace / "huge").open("wb") as stream:
        stream.truncate(20 << 20)
    for path in ("binary", "huge"):
        with pytest.raises(ToolFailedError):
            await edit("append", path, file_text="x")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"command": "replace", "path": "a"}, "needs old_str and new_str"),
        ({"command": "create", "path": "a"}, "needs file_text"),
        ({"command": "insert", "path": "a", "new_str": "x"}, "needs insert_line"),
        ({"command": "replace", "path": "a", "old_str": "", "new_str": "x"}, "old_str is empty"),
        ({"command": "delete", "path": "a"}, "'view', 'create'"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(
    arguments: dict[str, str], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        EditFileArguments.model_validate(arguments)


async def test_the_diff_of_a_large_file_keeps_its_line_numbers(
    edit: Editor, workspace: Path
) -> None:
    (workspace / "a").write_text("".join(f"{number}\n" for number in range(1, 100_001)))
    diff = await edit.diff("replace", "a", old_str="\n50000\n", new_str="\nfifty\n")
    assert "@@ -49997,7 +49997,7 @@" in diff
    assert "-50000\n+fifty\n" in diff
