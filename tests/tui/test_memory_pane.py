import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from core.events import MemoryEdited
from core.messages import AssistantMessage, ModelReply, ModelRequest
from core.model_piece import ModelPiece
from core.record import Record
from core.run_view import RunView, reduce, reduce_all
from core.session import Session
from tests.support.dialog_host import DialogHost, press, settled
from tests.support.opened import Opening
from tests.support.scripted_model import ScriptedModel, text
from tui.panes.memory import MemoryPane
from tui.screens.text_view import TextViewScreen
from tui.widgets.search_bar import SearchBar


class WireModel(ScriptedModel):
    """Its body is JSON of the whole request; it looks at the pane while it is asked."""

    window = 100_000

    def __init__(self, *replies: ModelReply) -> None:
        super().__init__(*replies)
        self.sent: list[bytes] = []
        self.seen: list[bytes] = []
        self.pane: MemoryPane | None = None
        self.view = RunView()

    def body(self, request: ModelRequest) -> bytes:
        messages = [
            {
                "role": "assistant" if isinstance(message, AssistantMessage) else "user",
                "content": message.text,
            }
            for message in request.messages
        ]
        whole = [{"role": "system", "content": request.system}, *messages]
        return json.dumps({"model": self.name, "messages": whole}, ensure_ascii=False).encode()

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        self.sent.append(self.body(request))
        if self.pane is not None:
            self.pane.show(self.view)
            self.seen.append(self.pane.request.body)
        async for piece in super().reply(request):
            yield piece


@dataclass
class Inspected:
    session: Session
    model: WireModel
    view: RunView
    pane: MemoryPane
    pilot: Pilot[None]

    async def refresh(self) -> None:
        self.pane.show(self.view)
        await settled(self.pilot)

    def rows(self) -> list[str]:
        return [self.pane.rows_view.row_text(row) for row in range(self.pane.rows_view.row_count)]

    def says(self, part: str) -> str:
        return str(self.pane.query_one(f"#memory-{part}", Static).content)

    def edits(self) -> list[tuple[str, str]]:
        events = [record.event for record in self.session.log.records]
        return [(e.operation, e.text) for e in events if isinstance(e, MemoryEdited)]

    def wire(self) -> str:
        return self.session.next_request().body.decode()


@asynccontextmanager
async def inspected(
    folder: Path, *replies: ModelReply, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Inspected]:
    model = WireModel(*replies)
    session = Opening(folder, model).session()
    view = model.view
    reduce_all(view, session.log.records)

    def follow(record: Record) -> None:
        reduce(view, record)

    session.log.follow(follow)
    pane = MemoryPane(session)
    async with DialogHost(widget=pane).run_test(size=size) as pilot:
        model.pane = pane
        seen = Inspected(session, model, view, pane, pilot)
        await seen.refresh()
        pane.rows_view.focus()
        yield seen
    await session.close()


async def test_what_is_shown_while_a_run_goes_on_is_byte_equal_to_what_is_sent(tmp_path: Path):
    async with inspected(tmp_path, text("one"), text("two")) as i:
        await i.session.run("count")
        await i.session.run("go on, ё 漢字 \u202e")
        assert len(i.model.sent) == 2
        assert i.model.seen == i.model.sent


async def test_rows_are_the_units_of_the_next_request_in_wire_order(tmp_path: Path):
    async with inspected(tmp_path, text("the answer")) as i:
        await i.session.run("the task")
        await i.refresh()
        roles = [row.split()[1] for row in i.rows()]
        assert roles == ["system", "tools", "user", "assistant"]
        assert i.rows()[2].endswith("the task")
        assert "of 100,000 tokens" in i.says("head")


async def test_looking_sends_nothing_and_changes_nothing(tmp_path: Path):
    async with inspected(tmp_path, text("a")) as i:
        await i.session.run("task")
        before, count = i.wire(), len(i.session.log)
        await i.refresh()
        await press(i.pilot, "w", "w", "w", "enter", "escape", "slash", "x", "enter", "n")
        assert len(i.model.sent) == 1
        assert len(i.session.log) == count
        assert i.wire() == before


async def test_the_request_is_built_again_only_when_it_may_have_changed(tmp_path: Path):
    async with inspected(tmp_path, text("a")) as i:
        await i.session.run("task")
        await i.refresh()
        shown = i.pane.request
        await i.refresh()
        assert i.pane.request is shown


async def test_the_wire_tabs_show_the_json_and_the_exact_bytes(tmp_path: Path):
    async with inspected(tmp_path, text("a")) as i:
        await i.session.run('say "hé"')
        await i.refresh()
        await press(i.pilot, "w")
        pretty = "\n".join(line.text for line in i.pane.wire_view.text.lines)
        assert json.loads(pretty) == json.loads(i.wire())
        await press(i.pilot, "w")
        assert "".join(line.text for line in i.pane.wire_view.text.lines) == i.wire()
        await press(i.pilot, "w")
        assert i.pane.rows_view.display
        assert not i.pane.wire_view.display


async def test_dropping_and_undoing_change_the_next_request(tmp_path: Path):
    async with inspected(tmp_path, text("the answer")) as i:
        await i.session.run("task")
        await i.refresh()
        before = i.wire()
        i.pane.rows_view.cursor_row = 3
        await press(i.pilot, "d")
        await i.refresh()
        assert "the answer" not in i.wire()
        assert "D" in i.rows()[3].split()
        await press(i.pilot, "u")
        await i.refresh()
        assert i.wire() == before
        assert i.edits() == [("drop", ""), ("undo", "")]


async def test_a_dropped_unit_is_brought_back_by_the_same_key(tmp_path: Path):
    async with inspected(tmp_path, text("the answer")) as i:
        await i.session.run("task")
        await i.refresh()
        i.pane.rows_view.cursor_row = 3
        for _ in range(2):
            await press(i.pilot, "d")
            await i.refresh()
        assert [operation for operation, _ in i.edits()] == ["drop", "restore"]


async def test_pinning_is_a_switch(tmp_path: Path):
    async with inspected(tmp_path, text("a")) as i:
        await i.session.run("task")
        await i.refresh()
        i.pane.rows_view.cursor_row = 3
        for _ in range(2):
            await press(i.pilot, "p")
            await i.refresh()
        assert [operation for operation, _ in i.edits()] == ["pin", "unpin"]


async def test_an_edit_replaces_the_text_and_can_be_taken_back(tmp_path: Path):
    async with inspected(tmp_path, text("the answer")) as i:
        await i.session.run("task")
        await i.refresh()
        before = i.wire()
        i.pane.rows_view.cursor_row = 3
        await press(i.pilot, "e")
        i.pilot.app.screen.query_one(TextArea).text = "another answer"
        await press(i.pilot, "ctrl+s")
        await i.refresh()
        assert "another answer" in i.wire()
        assert "E" in i.rows()[3].split()
        await press(i.pilot, "u")
        await i.refresh()
        assert i.wire() == before


async def test_a_note_is_added_at_the_end_and_can_be_taken_back(tmp_path: Path):
    async with inspected(tmp_path, text("a")) as i:
        await i.session.run("task")
        await i.refresh()
        await press(i.pilot, "i", *"be brief", "ctrl+s")
        await i.refresh()
        assert i.rows()[-1].endswith("be brief")
        await press(i.pilot, "u")
        await i.refresh()
        assert "be brief" not in i.wire()


async def test_the_system_message_cannot_be_changed_here(tmp_path: Path):
    async with inspected(tmp_path) as i:
        i.pane.rows_view.cursor_row = 0
        await press(i.pilot, "d")
        assert "cannot be changed" in i.says("why")
        await press(i.pilot, "e")
        assert not i.pilot.app.screen.query(TextArea)
        assert i.edits() == []


async def test_enter_opens_the_whole_text_of_a_unit(tmp_path: Path):
    async with inspected(tmp_path, text("first\nlast\x1b[2J")) as i:
        await i.session.run("task")
        await i.refresh()
        i.pane.rows_view.cursor_row = 3
        await press(i.pilot, "enter")
        screen = i.pilot.app.screen
        assert isinstance(screen, TextViewScreen)
        assert [line.text for line in screen.lines_view.text.lines] == ["first", "last<U+001B>[2J"]


async def test_a_search_looks_into_the_whole_text_of_units(tmp_path: Path):
    async with inspected(tmp_path, text("first\nneedle"), text("none"), text("a needle too")) as i:
        for task in ("one", "two", "three"):
            await i.session.run(task)
        await i.refresh()
        i.pane.rows_view.cursor_row = 0
        await press(i.pilot, "slash", *"NEEDLE", "enter")
        assert i.pane.rows_view.cursor_row == 3
        await press(i.pilot, "n")
        assert i.pane.rows_view.cursor_row == 7
        await press(i.pilot, "N")
        assert i.pane.rows_view.cursor_row == 3


async def test_giving_a_search_up_closes_its_line(tmp_path: Path):
    async with inspected(tmp_path) as i:
        await press(i.pilot, "slash", "x", "escape")
        assert not i.pane.query_one(SearchBar).display
        assert i.pane.rows_view.has_focus


async def test_without_a_model_the_pane_says_that_nothing_would_be_sent(tmp_path: Path):
    session = Opening(tmp_path, None).session()
    pane = MemoryPane(session)
    view = RunView()
    reduce_all(view, session.log.records)
    async with DialogHost(widget=pane).run_test(size=(80, 24)) as pilot:
        pane.show(view)
        await press(pilot, "w", "w")
        assert "no model is configured" in str(pane.query_one("#memory-tabs", Static).content)
    await session.close()


LONG = "words that take some room in the window of a model " * 20
NOTES = "It was counted twice."


async def test_the_old_units_up_to_the_cursor_are_summed_up_and_enter_shows_before_and_after(
    tmp_path: Path,
):
    async with inspected(tmp_path, text(LONG), text(LONG), text("new"), text(NOTES)) as i:
        for task in ("one", "two", "three"):
            await i.session.run(task)
        await i.refresh()
        before = i.wire()
        i.pane.rows_view.cursor_row = 5
        await press(i.pilot, "m")
        await i.pilot.app.workers.wait_for_complete()
        await i.refresh()
        assert NOTES in i.wire()
        assert LONG.strip() not in i.wire()
        assert "4 units summarised" in i.says("head")
        assert "S4" in i.rows()[2].split()
        assert [row.split()[4] for row in i.rows()[3:7]] == ["*s", "s", "*s", "s"]
        i.pane.rows_view.cursor_row = 2
        await press(i.pilot, "enter")
        screen = i.pilot.app.screen
        assert isinstance(screen, TextViewScreen)
        shown = "\n".join(line.text for line in screen.lines_view.text.lines)
        assert shown.index("after: the summary") < shown.index("before: 4 units")
        assert LONG.strip() in shown
        await press(i.pilot, "escape", "u")
        await i.refresh()
        assert i.wire() == before
        await press(i.pilot, "U")
        await i.refresh()
        assert NOTES in i.wire()


async def test_a_summary_is_not_made_of_nothing_nor_while_a_step_goes_on(tmp_path: Path):
    async with inspected(tmp_path, text(LONG), text(LONG)) as i:
        await i.session.run("one")
        await i.session.run("two")
        await i.refresh()
        i.pane.rows_view.cursor_row = 2
        await press(i.pilot, "m")
        assert "nothing to sum up" in i.says("why")
        assert len(i.model.sent) == 2


async def test_what_must_stay_says_how_it_can_go(tmp_path: Path):
    async with inspected(tmp_path, text("a")) as i:
        await i.session.run("task")
        await i.refresh()
        i.pane.rows_view.cursor_row = 2
        await press(i.pilot, "d")
        assert "the task and the plan are in every request" in i.says("why")
        i.pane.rows_view.cursor_row = 3
        await press(i.pilot, "p")
        await i.refresh()
        await press(i.pilot, "d")
        assert "p lets it go first" in i.says("why")
