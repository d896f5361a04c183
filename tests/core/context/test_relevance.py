import pytest

from core.context.relevance import RelevanceOrder, terms_of
from tests.support.remembered import TOOLS, Remembered, builder, filled, states


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Sort the FILES of a folder", {"sort", "file", "folder"}),
        ("归并排序", {"归并", "并排", "排序"}),
        ("好", {"好"}),
        ("read_file(path)", {"read", "file", "path"}),
        ("数据 chart für Größe", {"数据", "chart", "für", "grösse"}),
        ("of to it is", set()),
    ],
)
def test_words_and_pairs_of_characters_are_what_is_compared(text: str, terms: set[str]) -> None:
    assert terms_of(text) == terms


def scores(made: Remembered) -> list[float]:
    units = [unit for unit in made.memory.units if not unit.is_task]
    return [one.score for one in RelevanceOrder().scores(made.memory, units)]


def test_newer_units_matter_more_where_nothing_else_tells_them_apart() -> None:
    assert scores(filled(5, "x")) == sorted(scores(filled(5, "x")))


@pytest.mark.parametrize(
    ("task", "fitting", "other"),
    [
        ("Find the harbour tariffs of Rotterdam", "harbour tariffs rotterdam 2026", "weather"),
        ("统计港口的收费标准", "港口收费标准如下", "今天天气很好"),
    ],
)
def test_an_older_unit_about_the_task_outlives_newer_ones_that_are_not(
    task: str, fitting: str, other: str
) -> None:
    made = Remembered(task)
    for number in range(9):
        made.step(fitting if number == 2 else other)
    found = scores(made)
    assert found.index(max(found[:8])) == 2


def test_what_the_person_said_last_counts_as_much_as_the_task() -> None:
    made = Remembered("Begin")
    for number in range(9):
        made.step("the volcano with the greatest height" if number == 1 else "nothing")
    before = scores(made)
    made.say("Which volcano has the greatest height?")
    after = scores(made)
    assert after[1] > before[1]
    assert after[1] == max(after[:8])


def test_the_order_decides_what_is_cut_first_and_each_row_says_why() -> None:
    made = Remembered("Compare heights of volcanoes")
    for number in range(20):
        topic = "compare heights of volcanoes " if number == 3 else "other things "
        made.step(topic * 100)
    building = builder()
    whole = building.build(made.memory, TOOLS).tokens
    plan = building.build(made.memory, TOOLS, limit_tokens=int(whole * 0.7))
    assert states(plan)[4] == "sent"
    assert states(plan).count("shortened") >= 8
    row = next(r for r in building.rows(plan, made.memory) if "shortened" in r.flags)
    assert row.why == "results cut: 19 steps old, 0 of 3 words of the task in it"


def test_it_is_not_worked_out_while_everything_fits() -> None:
    made = filled(20, "words of a result " * 10)
    builder().build(made.memory, TOOLS, limit_tokens=1_000_000)
    assert all(unit.terms is None for unit in made.memory.units)
