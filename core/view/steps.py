"""The step log: one row a step, one a call."""

from dataclasses import dataclass, field

from core.events import ModelReplied, ModelRetried, RunStarted, StepEnded
from core.messages import Usage
from core.record import Record
from core.view.calls import CallsView, CallView


@dataclass(slots=True)
class StepRow:
    """One line of the step log: a run, a step, or a call."""

    n: int
    """Sequence of the record that made it; jump mark to the transcript and to memory."""
    run_id: str
    step: int
    """0 for the row that starts a run."""
    title: str = ""
    """Task of a run, first line of the reply of a step."""
    call: CallView | None = None
    """Set for a call."""
    state: str = "running"
    """Of a step or run: running, ended."""
    started_mono_s: float = 0.0
    duration_s: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    has_reply: bool = False
    """The model's reply of a step is there."""
    is_estimated: bool = False
    cost_usd: float | None = None
    is_price_unknown: bool = False
    """The price of some request of the step is not known."""
    is_note: bool = False
    """A remark on the step above: `title` is all there is."""
    own_revision: int = 0

    @property
    def revision(self) -> int:
        """Grows with each change of the row or of its call."""
        return self.own_revision + (self.call.revision if self.call else 0)


@dataclass(slots=True)
class StepsView:
    """Rows in order; only ever added to."""

    rows: list[StepRow] = field(default_factory=list)
    open_step: StepRow | None = None
    listed: set[str] = field(default_factory=set)
    """Ids of the calls that have a row."""


def list_run(steps: StepsView, record: Record, event: RunStarted) -> None:
    """Add the row of a run."""
    title = event.task.strip().partition("\n")[0]
    steps.rows.append(
        StepRow(
            record.n,
            record.run_id,
            0,
            title,
            started_mono_s=record.mono_s,
            state="ended",
        )
    )


def start_step(steps: StepsView, record: Record) -> None:
    """Add the row of a step."""
    row = StepRow(record.n, record.run_id, record.step, started_mono_s=record.mono_s)
    steps.rows.append(row)
    steps.open_step = row


def note_step_reply(steps: StepsView, event: ModelReplied) -> None:
    """Add tokens, price and the first line of the reply."""
    row = steps.open_step
    if row is None:
        return
    row.title = event.text.strip().partition("\n")[0] or row.title
    row.has_reply = True
    _add_usage(row, event.usage, event.cost_usd)


def list_new_calls(steps: StepsView, record: Record, calls: CallsView, *call_ids: str) -> None:
    """Add a row for each call that has none yet."""
    for call_id in call_ids:
        call = calls.by_id.get(call_id)
        if call is None or call_id in steps.listed:
            continue
        steps.listed.add(call_id)
        steps.rows.append(
            StepRow(
                record.n,
                record.run_id,
                record.step,
                call=call,
                started_mono_s=record.mono_s,
            )
        )


def list_note(steps: StepsView, record: Record, text: str) -> None:
    """Add a remark on the step above."""
    steps.rows.append(
        StepRow(
            record.n,
            record.run_id,
            record.step,
            text,
            started_mono_s=record.mono_s,
            state="ended",
            is_note=True,
        )
    )


def list_retry(steps: StepsView, record: Record, event: ModelRetried) -> None:
    """Add a remark on a request that failed and is sent again."""
    of = f" of {event.limit}" if event.limit else ""
    list_note(steps, record, f"try {event.attempt}{of} failed: {event.error.message}")
    if steps.open_step is not None and event.usage.input_tokens:
        _add_usage(steps.open_step, event.usage, event.cost_usd)


def _add_usage(row: StepRow, usage: Usage, cost_usd: float | None) -> None:
    row.input_tokens += usage.input_tokens
    row.output_tokens += usage.output_tokens
    row.is_estimated |= usage.estimated
    if cost_usd is not None:
        row.cost_usd = (row.cost_usd or 0.0) + cost_usd
    row.is_price_unknown |= cost_usd is None
    row.own_revision += 1


def end_step(steps: StepsView, event: StepEnded) -> None:
    """Close the open step."""
    close_step(steps, event.duration_s)


def close_step(steps: StepsView, duration_s: float | None = None) -> None:
    """Close the open step, if there is one; its duration is unknown when the run broke off."""
    row = steps.open_step
    if row is not None:
        row.state, row.duration_s = "ended", duration_s
        row.own_revision += 1
        steps.open_step = None
