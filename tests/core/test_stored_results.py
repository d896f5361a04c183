import stat
from pathlib import Path

import pytest

from core.errors import StoreError
from core.messages import ToolResult
from core.stored_results import (
    LEAST_BYTES,
    RESULT_BYTES,
    StoredResults,
    handle_of,
    is_handle,
    whole_text,
    window_limit,
)

LIMIT = 4000


def stored(folder: Path, limit: int = LIMIT) -> StoredResults:
    return StoredResults(folder, lambda: limit)


def paged(results: StoredResults, handle: str, limit: int = 10_000) -> list[str]:
    """All lines of a result, page after page."""
    lines: list[str] = []
    while True:
        page = results.page(handle, len(lines) + 1, limit)
        if not page.lines:
            return lines
        assert sum(len(line.encode()) + 1 for line in page.lines) <= results.limit_bytes
        lines += page.lines


def test_a_short_result_goes_as_it_is_and_leaves_no_file(tmp_path: Path) -> None:
    kept = stored(tmp_path).keep(ToolResult(output="x" * LIMIT))
    assert (kept.text, kept.path) == ("x" * LIMIT, "")
    assert list(tmp_path.iterdir()) == []


def test_a_long_result_keeps_head_and_tail_and_says_how_to_page_the_rest(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 2001))
    results = stored(tmp_path)
    kept = results.keep(ToolResult(output=text))
    head, _, rest = kept.text.partition("[... ")
    assert head.startswith("line 1\nline 2\n")
    assert rest.endswith("line 1999\nline 2000\n")
    assert len(kept.text.encode()) <= LIMIT + 200
    first = len(head.splitlines()) + 1
    assert f'read_file(path="result:1", offset={first})' in rest
    assert results.page("result:1", first, 1).lines == (f"line {first}",)
    assert paged(results, "result:1") == text.splitlines()


def test_its_file_is_for_the_owner_only_and_holds_every_byte(tmp_path: Path) -> None:
    text = "é\n" * 5000
    kept = stored(tmp_path).keep(ToolResult(output=text))
    path = Path(kept.path)
    assert path.read_text(encoding="utf-8") == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["1.txt"]


@pytest.mark.parametrize("character", ["x", "é", "漢", "😀"])
def test_one_endless_line_is_paged_in_pieces_that_cut_no_character(
    tmp_path: Path, character: str
) -> None:
    text = character * 20_000
    results = stored(tmp_path)
    kept = results.keep(ToolResult(output=text))
    assert "\\x" not in kept.text
    assert "".join(paged(results, "result:1")) == text


def test_bytes_that_are_no_text_survive_as_escapes(tmp_path: Path) -> None:
    whole = tmp_path / "spill"
    whole.write_bytes(b"\xff\x80 caf\xe9\n" * 3000)
    results = stored(tmp_path)
    results.keep(ToolResult(output="caf\\xe9\n" * 3000, whole_path=str(whole)))
    assert set(paged(results, "result:1")) == {"\\xff\\x80 caf\\xe9"}


def test_a_file_a_tool_has_made_is_taken_over_so_that_more_than_the_output_can_be_paged(
    tmp_path: Path,
) -> None:
    whole = tmp_path / "spill"
    whole.write_text("".join(f"{number}\n" for number in range(100_000)), "utf-8")
    results = stored(tmp_path)
    kept = results.keep(ToolResult(output="head\n... tail", whole_path=str(whole)))
    assert "head\n... tail" in kept.text
    assert 'read_file(path="result:1", offset=1)' in kept.text
    assert not whole.exists()
    assert results.page("result:1", 99_999, 5).lines == ("99998", "99999")


def test_numbers_go_on_after_a_resume(tmp_path: Path) -> None:
    for number in range(1, 13):
        kept = stored(tmp_path).keep(ToolResult(output="x\n" * LIMIT))
        assert handle_of(kept.path) == f"result:{number}"


def test_an_unknown_handle_names_those_that_are_known(tmp_path: Path) -> None:
    results = stored(tmp_path)
    with pytest.raises(StoreError) as none:
        results.page("result:3", 1, 10)
    assert none.value.hint == "No result was stored yet."
    results.keep(ToolResult(output="x\n" * LIMIT))
    with pytest.raises(StoreError) as one:
        results.page("result:3", 1, 10)
    assert one.value.hint == "Known: result:1 to result:1."


@pytest.mark.parametrize(
    ("path", "expected"),
    [("result:7", True), ("./result:7", False), ("result:0", False), ("result:../x", False)],
)
def test_only_a_handle_is_one(path: str, expected: bool) -> None:
    assert is_handle(path) is expected


def test_a_link_in_the_place_of_a_result_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "secret").write_text("secret", "utf-8")
    (tmp_path / "results/1.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(StoreError):
        stored(tmp_path).page("result:1", 1, 10)


def test_what_cannot_be_written_is_said_to_be_lost(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file is in the way", "utf-8")
    kept = stored(tmp_path).keep(ToolResult(output="x\n" * LIMIT))
    assert kept.path == ""
    assert "could not be kept" in kept.text
    assert len(kept.text) <= LIMIT + 200


def test_the_limit_follows_the_window() -> None:
    assert window_limit(0) == RESULT_BYTES
    assert window_limit(200_000) == RESULT_BYTES
    assert LEAST_BYTES < window_limit(8192) < RESULT_BYTES / 3
    assert stored(Path("/nowhere"), 10).limit_bytes == LEAST_BYTES


def test_a_person_reads_the_whole_and_of_a_huge_one_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("whole", "utf-8")
    assert whole_text(str(tmp_path / "a")) == "whole"
    (tmp_path / "b").write_text("x" * (5 << 20), "utf-8")
    assert "only the first" in whole_text(str(tmp_path / "b"))[-200:]
    assert whole_text("") == ""
    assert whole_text(str(tmp_path / "gone")) == ""
