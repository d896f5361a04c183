import pytest

from core.chat.think_tags import ThinkSplitter, split_unopened


def split(*pieces: str) -> tuple[str, str]:
    splitter = ThinkSplitter()
    parts = [*(splitter.feed(piece) for piece in pieces), splitter.flush()]
    return "".join(reasoning for reasoning, _ in parts), "".join(answer for _, answer in parts)


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>plan</think>\n\nAnswer", "plan", "Answer"),
        (" \n<think>plan</think>Answer", "plan", "Answer"),
        ("<thinking>plan</thinking>Answer", "plan", "Answer"),
        ("<THINK>plan</THINK>Answer", "plan", "Answer"),
        ("<think></think>Answer", "", "Answer"),
        ("<think>a</think><think>b</think>Answer", "ab", "Answer"),
        ("<think>a < b </thin k></think>Answer", "a < b </thin k>", "Answer"),
        ("<think>never closed", "never closed", ""),
        ("<think>plan</think>\n", "plan", ""),
        ("No block", "", "No block"),
        ("Later <think>x</think>", "", "Later <think>x</think>"),
        ("<thing>x</thing>", "", "<thing>x</thing>"),
        ("<", "", "<"),
        ("  ", "", "  "),
    ],
)
def test_a_block_at_the_start_is_parted_off_wherever_the_pieces_are_cut(
    text: str, reasoning: str, answer: str
) -> None:
    assert split(text) == (reasoning, answer)
    assert split(*text) == (reasoning, answer)
    for at in range(len(text)):
        assert split(text[:at], text[at:]) == (reasoning, answer)


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("plan</think>Answer", "plan", "Answer"),
        ("plan</think>\nAnswer</think>", "plan", "Answer</think>"),
        ("The tag `</think>` ends it.", "", "The tag `</think>` ends it."),
        ("```\n</think>\n```\nThat.", "", "```\n</think>\n```\nThat."),
        ("a <think>b</think>c", "", "a <think>b</think>c"),
        ("No tag", "", "No tag"),
    ],
)
def test_a_closing_tag_alone_ends_the_reasoning_unless_it_is_talked_about(
    text: str, reasoning: str, answer: str
) -> None:
    assert split_unopened(text) == (reasoning, answer)
