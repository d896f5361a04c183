import json
import time
from itertools import pairwise
from pathlib import Path

import pytest

from core.messages import AssistantMessage, Image, ModelRequest, ToolCall, ToolMessage, UserMessage
from core.tokens import TokenCounter, estimate_text, image_tokens
from tests.support.reply_reading import TOOLS

KINDS = json.loads((Path(__file__).parent / "data/token_kinds.json").read_text(encoding="utf-8"))
"""Ten kinds of text, each with its tokens as four tokenizers count them."""
TEXTS = {kind: found["text"] for kind, found in KINDS.items()}
TOO_LOW, TOO_HIGH = 0.93, 1.15


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_near_the_tokenizer_for_every_kind_of_text(kind: str) -> None:
    true = KINDS[kind]["tokens"]["o200k_base"]
    assert TOO_LOW <= estimate_text(TEXTS[kind]) / true <= TOO_HIGH


@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base", "qwen3", "llama3"])
def test_one_report_of_the_server_is_enough_for_texts_of_the_same_mix(tokenizer: str) -> None:
    counter = TokenCounter()
    kinds = list(KINDS)
    for seen in (kinds[:5], kinds[5:]):
        mixed = [*seen, *kinds]
        true = sum(KINDS[kind]["tokens"][tokenizer] for kind in mixed)
        counter.learn(sum(counter.text(TEXTS[kind]) for kind in mixed), true)
    true = sum(KINDS[kind]["tokens"][tokenizer] for kind in kinds)
    assert sum(counter.text(TEXTS[kind]) for kind in kinds) == pytest.approx(true, rel=0.05)


def test_nothing_costs_nothing_and_anything_at_least_one() -> None:
    assert estimate_text("") == 0
    assert estimate_text(" ") == 1


def test_more_text_is_never_fewer_tokens() -> None:
    for text in TEXTS.values():
        counts = [estimate_text(text[:size]) for size in range(0, len(text), 7)]
        assert all(later >= earlier - 1 for earlier, later in pairwise(counts))


def test_a_megabyte_is_estimated_quickly() -> None:
    text = TEXTS["python"] * 800
    started_s = time.perf_counter()
    estimate_text(text)
    assert time.perf_counter() - started_s < 2


def test_the_factor_is_learned_from_what_the_server_counts() -> None:
    counter = TokenCounter()
    for _ in range(20):
        counter.learn(round(1000 * counter.factor), 1500)
    assert counter.factor == pytest.approx(1.5, rel=0.02)
    assert counter.text("word " * 100) == pytest.approx(
        1.5 * estimate_text("word " * 100), rel=0.03
    )


@pytest.mark.parametrize(("estimated", "reported"), [(10, 1000), (1000, 0), (0, 5)])
def test_small_and_missing_counts_teach_nothing(estimated: int, reported: int) -> None:
    counter = TokenCounter()
    counter.learn(estimated, reported)
    assert counter.factor == 1.0


def test_the_factor_stays_within_reason() -> None:
    counter = TokenCounter()
    for _ in range(50):
        counter.learn(1000, 1_000_000)
    assert counter.factor == 2.0
    for _ in range(50):
        counter.learn(1000, 1)
    assert counter.factor == 0.5


def test_a_request_is_the_sum_of_its_parts() -> None:
    counter = TokenCounter()
    call = ToolCall(
        id="c", name="read_file", arguments={"path": "a"}, raw_arguments='{"path": "a"}'
    )
    messages = (
        UserMessage(text="read the file", images=(Image(path="x", width=1024, height=512),)),
        AssistantMessage(text="Looking.", calls=(call,)),
        ToolMessage(call_id="c", name="read_file", text="data " * 50),
    )
    request = ModelRequest(system="You are careful.", messages=messages, tools=TOOLS)
    parts = sum(counter.message(message) for message in messages) + sum(
        counter.tool(tool) for tool in TOOLS
    )
    assert counter.request(request) == parts + counter.text("You are careful.") + 4
    assert counter.message(messages[0]) > image_tokens(1024, 512)


def test_pictures_are_counted_by_tiles_where_their_size_is_known() -> None:
    assert image_tokens(512, 512) == 255
    assert image_tokens(1025, 512) == 85 + 3 * 170
    assert image_tokens(0, 0) == 1000
