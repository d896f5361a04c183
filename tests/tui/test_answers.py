import os
from pathlib import Path

import pytest

from core.decision import QuestionPrompt
from core.errors import ConfigError
from tui.answers import load_answers

FILE = """
[[answer]]
match = "Which DAY"
answer = "Tuesday"

[[answer]]
match = ""
answer = "go on"
"""


def question(text: str) -> QuestionPrompt:
    return QuestionPrompt(call_id="c", question=text)


def test_the_first_entry_that_matches_is_taken_every_time(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text(FILE, encoding="utf-8")
    answers = load_answers(tmp_path / "answers.toml")
    for _ in range(2):
        answer = answers.reply(question("Tell me: which day?"))
        assert answer is not None
        assert (answer.text, answer.resolution, answer.decided_by) == (
            "Tuesday",
            "answered",
            "answers_file",
        )
    other = answers.reply(question("Anything else?"))
    assert other is not None
    assert other.text == "go on"


def test_a_question_without_a_match_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text(
        '[[answer]]\nmatch = "x"\nanswer = "y"', encoding="utf-8"
    )
    assert load_answers(tmp_path / "answers.toml").reply(question("why?")) is None


@pytest.mark.parametrize(
    "text",
    [
        "answer = 3",
        "[[answer]]\nmatch = 'x'",
        "[[answer]]\nmatch = 'x'\nanswer = 3",
        "[[answer]]\nmatch = 'x'\nanswer = 'y'\napprove = true",
        "[[answer]\n",
        "[[other]]\nx = 1",
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "answers.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"answers\.toml"):
        load_answers(tmp_path / "answers.toml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml"):
        load_answers(tmp_path / "gone.toml")


def test_what_never_ends_is_refused_and_a_pipe_is_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="1 MiB"):
        load_answers(Path("/dev/zero"))
    reading, writing = os.pipe()
    os.write(writing, FILE.encode())
    os.close(writing)
    try:
        assert len(load_answers(Path(f"/dev/fd/{reading}")).entries) == 2
    finally:
        os.close(reading)
