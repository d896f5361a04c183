"""The transcript as blocks: what was said, asked, called and answered, in order."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from core.decision import DecisionClosed, DecisionOpened, QuestionPrompt
from core.events import (
    MessageSteered,
    ModelReplied,
    ReasoningStreamed,
    RunEnded,
    RunStarted,
    TextStreamed,
)
from core.record import Record
from core.view.calls import CallsView, CallView
from core.view.decisions import Notice
from core.vocabulary import DecidedBy, Resolution


@dataclass(slots=True, kw_only=True)
class UserBlock:
    """A message of the person, or of the program where `author` says so."""

    n: int
    text: str
    author: Literal["user", "handrail"] = "user"
    is_steering: bool = False
    """It came while a run was going on."""
    revision: int = 0
    kind: Literal["user"] = "user"


@dataclass(slots=True, kw_only=True)
class ReasoningBlock:
    """The model's reasoning of one step."""

    n: int
    step: int
    text: str = ""
    is_open: bool = True
    """It still streams."""
    revision: int = 0
    kind: Literal["reasoning"] = "reasoning"


@dataclass(slots=True, kw_only=True)
class TextBlock:
    """The model's text of one step; Markdown. Empty when the reply turned out to hold none."""

    n: int
    step: int
    text: str = ""
    is_open: bool = True
    """It still streams."""
    revision: int = 0
    kind: Literal["text"] = "text"


@dataclass(slots=True, kw_only=True)
class CallBlock:
    """A card of one call."""

    n: int
    call: CallView
    kind: Literal["call"] = "call"

    @property
    def revision(self) -> int:
        """Grows with the call."""
        return self.call.revision


@dataclass(slots=True, kw_only=True)
class QuestionBlock:
    """A question of the agent and its answer."""

    n: int
    decision_id: str
    prompt: QuestionPrompt
    resolution: Resolution | None = None
    """None while it is open."""
    answer: str = ""
    decided_by: DecidedBy = ""
    revision: int = 0
    kind: Literal["question"] = "question"


@dataclass(slots=True, kw_only=True)
class NoticeBlock:
    """A notice in its place."""

    n: int
    notice: Notice
    revision: int = 0
    kind: Literal["notice"] = "notice"


@dataclass(slots=True, kw_only=True)
class ResultBlock:
    """The result page at the end of a run."""

    n: int
    run_id: str
    ended: RunEnded
    is_answer_above: bool = False
    """The answer is the last text block already."""
    failed_calls: int = 0
    """Calls of the run that did not end well."""
    revision: int = 0
    kind: Literal["result"] = "result"


Block: TypeAlias = (
    UserBlock | ReasoningBlock | TextBlock | CallBlock | QuestionBlock | NoticeBlock | ResultBlock
)


@dataclass(slots=True)
class ConversationView:
    """Blocks in order; only ever added to."""

    blocks: list[Block] = field(default_factory=list)
    settled: int = 0
    """Blocks before this index never change again."""
    open_text: TextBlock | None = None
    open_reasoning: ReasoningBlock | None = None
    last_text: TextBlock | None = None
    """Newest text block of the run."""
    questions: dict[str, QuestionBlock] = field(default_factory=dict)
    """Open questions by decision id."""
    listed: set[str] = field(default_factory=set)
    """Ids of the calls that have a card."""
    steered: int = 0
    """Messages of the person that entered a run."""


def begin_run(talk: ConversationView, record: Record, event: RunStarted) -> None:
    """Add the task."""
    talk.settled = len(talk.blocks)
    talk.last_text = None
    talk.blocks.append(UserBlock(n=record.n, text=event.task))


def begin_step(talk: ConversationView) -> None:
    """All that is there is settled."""
    close_stream(talk)
    talk.settled = len(talk.blocks)


def add_message(talk: ConversationView, record: Record, event: MessageSteered) -> None:
    """Add what the person says in between."""
    talk.steered += event.author == "user"
    talk.blocks.append(
        UserBlock(n=record.n, text=event.text, author=event.author, is_steering=True)
    )


def stream_text(talk: ConversationView, record: Record, event: TextStreamed) -> None:
    """Add to the text of the step."""
    block = talk.open_text
    if block is None:
        block = talk.open_text = talk.last_text = TextBlock(n=record.n, step=record.step)
        talk.blocks.append(block)
    block.text += event.text
    block.revision += 1


def stream_reasoning(talk: ConversationView, record: Record, event: ReasoningStreamed) -> None:
    """Add to the reasoning of the step."""
    block = talk.open_reasoning
    if block is None:
        block = talk.open_reasoning = ReasoningBlock(n=record.n, step=record.step)
        talk.blocks.append(block)
    block.text += event.text
    block.revision += 1


def reset_stream(talk: ConversationView) -> None:
    """Forget what streamed: the try it came from failed and another one begins."""
    for block in (talk.open_text, talk.open_reasoning):
        if block is not None:
            block.text = ""
            block.revision += 1


def settle_reply(talk: ConversationView, record: Record, event: ModelReplied) -> None:
    """Replace what streamed by the reply as it is kept, which may differ from it."""
    if event.reasoning and talk.open_reasoning is None:
        stream_reasoning(talk, record, ReasoningStreamed(text=event.reasoning))
    if event.text and talk.open_text is None:
        stream_text(talk, record, TextStreamed(text=event.text))
    for block, text in (
        (talk.open_text, event.text),
        (talk.open_reasoning, event.reasoning),
    ):
        if block is not None:
            block.text = text
    close_stream(talk)


def close_stream(talk: ConversationView) -> None:
    """Nothing streams any more."""
    for block in (talk.open_text, talk.open_reasoning):
        if block is not None:
            block.is_open = False
            block.revision += 1
    talk.open_text = talk.open_reasoning = None


def show_calls(talk: ConversationView, record: Record, calls: CallsView, *call_ids: str) -> None:
    """Add a card for each call that has none yet."""
    for call_id in call_ids:
        call = calls.by_id.get(call_id)
        if call is None or call_id in talk.listed:
            continue
        talk.listed.add(call_id)
        talk.blocks.append(CallBlock(n=record.n, call=call))


def ask_question(talk: ConversationView, record: Record, event: DecisionOpened) -> None:
    """Add a question; approvals are shown by the card of their call."""
    if not isinstance(event.prompt, QuestionPrompt):
        return
    block = QuestionBlock(n=record.n, decision_id=event.decision_id, prompt=event.prompt)
    talk.questions[event.decision_id] = block
    talk.blocks.append(block)


def answer_question(talk: ConversationView, event: DecisionClosed) -> None:
    """Show the answer; a secret is never shown."""
    block = talk.questions.pop(event.decision_id, None)
    if block is None:
        return
    is_secret = block.prompt.answer_kind == "secret"
    block.resolution, block.decided_by = event.resolution, event.decided_by
    block.answer = "" if is_secret else event.text
    block.revision += 1


def tell(talk: ConversationView, notice: Notice) -> None:
    """Add a notice."""
    talk.blocks.append(NoticeBlock(n=notice.n, notice=notice))


def add_result(talk: ConversationView, record: Record, event: RunEnded, failed_calls: int) -> None:
    """Add the result page."""
    close_stream(talk)
    above = talk.last_text
    talk.blocks.append(
        ResultBlock(
            n=record.n,
            run_id=record.run_id,
            ended=event,
            is_answer_above=above is not None and above.text.strip() == event.answer.strip(),
            failed_calls=failed_calls,
        )
    )
