from pathlib import Path

import pytest
from PIL import Image
from rich.color import Color

from tui.widgets.half_block import UPPER_HALF, Frame, Mark, PictureError, draw_picture

RED, BLUE = (248, 0, 0), (0, 0, 248)


def picture(folder: Path, size: tuple[int, int] = (4, 4)) -> Path:
    """Red above, blue below."""
    image = Image.new("RGB", size, RED)
    image.paste(BLUE, (0, size[1] // 2, size[0], size[1]))
    image.save(folder / "p.png")
    return folder / "p.png"


def frame(width: int, height: int, **more: object) -> Frame:
    return Frame(width_cells=width, height_cells=height, **more)  # type: ignore[arg-type]


def test_a_cell_shows_two_pixels_the_upper_one_in_the_foreground(tmp_path: Path):
    strips = draw_picture(picture(tmp_path, (2, 2)), frame(2, 1))
    (segment,) = list(strips[0])
    assert segment.text == UPPER_HALF * 2
    assert segment.style is not None
    assert segment.style.color == Color.from_rgb(*RED)
    assert segment.style.bgcolor == Color.from_rgb(*BLUE)


def test_cells_that_look_alike_are_one_run(tmp_path: Path):
    strips = draw_picture(picture(tmp_path, (400, 400)), frame(80, 40))
    assert [len(list(strip)) for strip in strips] == [1] * len(strips)


def test_neighbouring_shades_join_and_far_ones_do_not(tmp_path: Path):
    image = Image.new("RGB", (3, 2), (16, 16, 16))
    image.paste((19, 19, 19), (1, 0, 2, 2))
    image.paste((40, 40, 40), (2, 0, 3, 2))
    image.save(tmp_path / "p.png")
    (strip,) = draw_picture(tmp_path / "p.png", frame(3, 1))
    assert [segment.text for segment in strip] == ["  ", " "]


@pytest.mark.parametrize(("size", "cells"), [((1280, 800), (76, 24)), ((800, 1600), (24, 24))])
def test_the_shape_is_kept(tmp_path: Path, size: tuple[int, int], cells: tuple[int, int]):
    strips = draw_picture(picture(tmp_path, size), frame(80, 24))
    assert abs(strips[0].cell_length - cells[0]) <= 1
    assert len(strips) == cells[1]


def test_all_rows_are_equally_wide_and_inside_the_frame(tmp_path: Path):
    strips = draw_picture(picture(tmp_path, (1280, 800)), frame(61, 17))
    assert len({strip.cell_length for strip in strips}) == 1
    assert strips[0].cell_length <= 61
    assert len(strips) <= 17


def test_a_crop_shows_that_part_only(tmp_path: Path):
    strips = draw_picture(picture(tmp_path, (40, 40)), frame(10, 5, crop=(0, 30, 10, 10)))
    styles = {segment.style.bgcolor for strip in strips for segment in strip if segment.style}
    assert styles == {Color.from_rgb(*BLUE)}


@pytest.mark.parametrize("crop", [(-5, -5, 10, 10), (35, 35, 400, 400), (90, 90, 5, 5)])
def test_a_crop_beyond_the_edge_is_moved_inside(tmp_path: Path, crop: tuple[int, int, int, int]):
    assert draw_picture(picture(tmp_path, (40, 40)), frame(10, 5, crop=crop))


def test_a_mark_stands_where_its_element_is(tmp_path: Path):
    mark = Mark(text="7", box=(20, 20, 10, 10))
    strips = draw_picture(picture(tmp_path, (40, 40)), frame(20, 10, marks=(mark,)))
    assert strips[5].text[10] == "7"


def test_of_two_marks_in_one_place_the_chosen_one_is_drawn(tmp_path: Path):
    marks = (Mark(text="1", box=(0, 0, 9, 9)), Mark(text="22", box=(0, 0, 9, 9), chosen=True))
    strips = draw_picture(picture(tmp_path, (40, 40)), frame(20, 10, marks=marks))
    assert strips[0].text.startswith("22")


def test_a_mark_outside_the_part_that_is_shown_is_left_out(tmp_path: Path):
    mark = Mark(text="9", box=(0, 0, 5, 5))
    strips = draw_picture(
        picture(tmp_path, (40, 40)), frame(10, 5, crop=(20, 20, 10, 10), marks=(mark,))
    )
    assert "9" not in "".join(strip.text for strip in strips)


def test_a_file_that_is_no_picture_says_so(tmp_path: Path):
    (tmp_path / "p.png").write_bytes(b"\x89PNG\r\n\x1a\nnot really")
    with pytest.raises(PictureError, match="cannot be read"):
        draw_picture(tmp_path / "p.png", frame(10, 5))


def test_a_missing_file_says_so(tmp_path: Path):
    with pytest.raises(PictureError, match="cannot be read"):
        draw_picture(tmp_path / "none.png", frame(10, 5))


def test_a_cut_off_file_says_so(tmp_path: Path):
    path = picture(tmp_path, (300, 300))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(PictureError):
        draw_picture(path, frame(10, 5))


def test_a_huge_picture_is_refused_before_it_is_decoded(tmp_path: Path):
    Image.new("1", (9000, 9000)).save(tmp_path / "p.png")
    with pytest.raises(PictureError, match="9000x9000"):
        draw_picture(tmp_path / "p.png", frame(10, 5))


def test_a_picture_of_one_pixel_and_a_frame_of_one_cell_are_drawn(tmp_path: Path):
    assert draw_picture(picture(tmp_path, (1, 2)), frame(1, 1))[0].cell_length == 1
