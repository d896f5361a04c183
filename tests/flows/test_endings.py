"""How a run ends: what its answer claims, and what is left when a limit stops it."""

from pathlib import Path

from core.budget import Limits
from core.errors import ModelUnreachableError
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening
from tests.support.scripted_model import ScriptedModel, call, text


async def test_files_a_text_answer_names_are_looked_for_on_the_disk(tmp_path: Path) -> None:
    opening = Opening(
        tmp_path, ScriptedModel(text("The result is in made.txt and `invented.txt`."))
    )
    (opening.workspace / "made.txt").write_text("x")
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.missing_files) == ("answered", ("invented.txt",))
    await session.close()


async def test_files_the_last_words_name_are_looked_for_too(tmp_path: Path) -> None:
    model = ScriptedModel(call("echo", {"text": "1"}), text("It is in half.md."))
    opening = Opening(tmp_path, model, [EchoTool()])
    opening.limits = Limits(max_steps=1)
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.answer, ended.missing_files) == (
        "limit",
        "It is in half.md.",
        ("half.md",),
    )
    await session.close()


async def test_a_model_that_fails_at_the_last_words_does_not_hide_the_limit(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(call("echo", {"text": "1"}), ModelUnreachableError("Nothing answers."))
    opening = Opening(tmp_path, model, [EchoTool()])
    opening.limits = Limits(max_steps=1)
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, ended.limit, ended.answer) == ("limit", 3, "steps", "")
    assert ended.error is not None
    assert ended.error.message.endswith("No last answer: Nothing answers.")
    await session.close()
