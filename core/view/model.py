"""What is shown of the model itself: another one answers, it can do less, or its server was learned about."""

from core.chat.flag_words import learned_words
from core.events import ModelAdapted
from core.model_events import ModelDowngraded, ModelSwitched
from core.record import Record
from core.view.decisions import Notice, NoticesView
from core.view.header import HeaderView


def tell_of_model(
    header: HeaderView,
    notices: NoticesView,
    record: Record,
    event: ModelAdapted | ModelSwitched | ModelDowngraded,
) -> Notice:
    """Add and return the notice of an event; the header names the model that answers now."""
    if isinstance(event, ModelSwitched):
        header.model, header.waits_for = event.model, ""
        hint = "The next run begins with the first model again."
        notice = Notice("warning", event.line, hint, "model_switched", record.n)
    elif isinstance(event, ModelDowngraded):
        notice = Notice("info", event.line, "", "model_downgraded", record.n)
    else:
        text = f"Learned of the model's server: {learned_words(event.flag)}."
        hint = "It is remembered; `handrail doctor --forget` forgets it."
        notice = Notice("info", text, hint, "model_adapted", record.n)
    notices.notices.append(notice)
    return notice
