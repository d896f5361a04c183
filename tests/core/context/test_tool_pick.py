import pytest

from core.context.tool_pick import ALWAYS_OFFERED
from core.messages import ToolMessage, ToolSpec
from tests.support.remembered import Remembered, builder

NAMES = {
    "shell": "Run bash in the sandbox.",
    "python": "Run Python code and keep its variables.",
    "read_file": "Read a text file of the workspace.",
    "fetch_page": "Fetch a web page and return its text.",
    "chart": "Draw a chart of numbers as a picture.",
    "ask_human": "Ask the person.",
    "finish": "End the run with an answer.",
}
SPECS = tuple(
    ToolSpec(name=name, description=text, parameters={"type": "object"})
    for name, text in NAMES.items()
)


def offered(made: Remembered, max_tools: int) -> list[str]:
    request = builder(max_tools=max_tools).build(made.memory, SPECS).request
    return [tool.name for tool in request.tools]


@pytest.mark.parametrize("max_tools", [0, 7, 20])
def test_all_tools_are_offered_unless_the_limit_is_smaller(max_tools: int) -> None:
    made = Remembered("Draw a chart")
    assert offered(made, max_tools) == list(NAMES)
    row = builder(max_tools=max_tools)
    rows = row.rows(row.build(made.memory, SPECS), made.memory)
    assert rows[1].why == "sent with every request"


def test_the_pick_follows_the_words_of_the_task_in_the_order_of_the_list() -> None:
    assert offered(Remembered("Draw a chart of the numbers"), 3) == ["chart", "ask_human", "finish"]
    assert "fetch_page" in offered(Remembered("What is on this web page?"), 3)


@pytest.mark.parametrize("max_tools", [1, 2, 3, 4])
def test_finish_and_ask_human_are_never_left_out(max_tools: int) -> None:
    made = Remembered("Run bash, run Python code, read a text file, fetch a web page, draw a chart")
    for _ in range(4):
        made.step("x", name="shell")
    assert set(ALWAYS_OFFERED) <= set(offered(made, max_tools))


def test_a_tool_in_use_stays_although_the_task_does_not_name_it() -> None:
    made = Remembered("Draw a chart of the numbers as a picture")
    made.step("ok", name="python")
    assert "python" in offered(made, 4)
    assert "chart" in offered(made, 4)


def test_a_stored_result_keeps_the_tool_that_pages_it() -> None:
    made = Remembered("Draw a chart of the numbers as a picture")
    made.step("ok", name="shell")
    call_id = next(iter(made.memory.units[1].results))
    made.memory.add_result(
        ToolMessage(call_id=call_id, name="shell", text="long", stored="result:1")
    )
    assert "read_file" in offered(made, 3)


def test_the_inspector_shows_which_were_picked_and_why_and_which_were_not() -> None:
    made, building = Remembered("Draw a chart of the numbers"), builder(max_tools=3)
    row = building.rows(building.build(made.memory, SPECS), made.memory)[1]
    assert row.why.startswith("3 of 7 are offered")
    assert "finish: always offered" in row.text
    assert "chart: shares chart, draw, number with the task" in row.text
    assert "python: left out, nothing points to it" in row.text


def test_the_last_request_without_tools_stays_without() -> None:
    made = Remembered("Draw a chart")
    assert builder(max_tools=3).build(made.memory, ()).request.tools == ()
