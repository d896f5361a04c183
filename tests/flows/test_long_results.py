from pathlib import Path

from core.events import ToolEnded
from core.messages import ModelRequest, ToolMessage
from core.stored_results import StoredResults
from core.view.calls import CallView
from core.workspace import WorkspaceFiles
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text
from tools.files import ReadFile
from tui.call_rows import call_full_text

LONG = "".join(f"row {number}\n" for number in range(1, 5001))


def last_result(request: ModelRequest) -> ToolMessage:
    message = request.messages[-1]
    assert isinstance(message, ToolMessage)
    return message


async def test_a_model_pages_through_a_result_that_was_too_long_for_it(tmp_path: Path) -> None:
    model = ScriptedModel(
        call("echo", {"text": LONG}),
        call("read_file", {"path": "result:1", "offset": 2500, "limit": 2}),
        text("done"),
    )
    opening = Opening(tmp_path, model)
    results = StoredResults(opening.folder)
    reading = ReadFile(WorkspaceFiles(opening.workspace), opening.workspace, results)
    opening.tools, opening.results = [EchoTool(), reading], results
    session = opening.session()
    await session.run("Look at the rows")
    first, second = (last_result(request) for request in model.requests[1:])
    assert 'read_file(path="result:1"' in first.text
    assert first.stored == "result:1"
    assert "row 2500\n" not in first.text
    assert second.text.startswith("result:1: lines 2500-2501 of 5000")
    assert second.text.endswith("row 2500\nrow 2501")
    await session.close()


async def test_the_whole_of_it_is_in_the_full_text_but_not_in_the_journal(tmp_path: Path) -> None:
    opening = Opening(tmp_path, ScriptedModel(call("echo", {"text": LONG}), text("done")))
    opening.tools = [EchoTool()]
    session = opening.session()
    await session.run("Look at the rows")
    ended = next(event for event in events_of(session) if isinstance(event, ToolEnded))
    shown = CallView("c", "echo", output=ended.output, whole_path=ended.whole_path)
    assert "row 2500\n" not in ended.output
    assert "row 2500\n" in call_full_text(shown)
    await session.close()
    reopened = opening.session()
    unit = next(unit for unit in reopened.memory.units if unit.results)
    assert next(iter(unit.results.values())).stored == "result:1"
    await reopened.close()
