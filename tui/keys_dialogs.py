"""Keys of the dialogs, in the form of `tui.keys`.

What an approval takes, and when a key counts at all, is `tui.arming`; here are only names.
"""

from textual.binding import Binding

APPROVAL_KEYS: tuple[Binding, ...] = (
    Binding("y", "approve", "once", id="approval.approve", tooltip="Let this call run once"),
    Binding("e", "edit", "edit", id="approval.edit", tooltip="Change the arguments first"),
    Binding("n", "deny", "deny+say", id="approval.deny", tooltip="Refuse, and say why"),
    Binding(
        "N",
        "deny_pause",
        "deny+pause",
        id="approval.deny-pause",
        tooltip="Refuse and pause the run",
    ),
    Binding("v", "full_text", "full", id="approval.full", tooltip="The whole call, as it is"),
    Binding("d", "diff", "diff", id="approval.diff", tooltip="What the call changes"),
    Binding("x", "reasons", "why", id="approval.reasons", tooltip="Why this is asked"),
)
"""Keys that count only once the dialog is armed."""
LEAVING_KEYS: tuple[Binding, ...] = (
    Binding("tab", "leave('next')", "next", id="decision.next", tooltip="The next open decision"),
    Binding(
        "shift+tab",
        "leave('previous')",
        "previous",
        id="decision.previous",
        tooltip="The open decision before",
        show=False,
    ),
    Binding("escape", "leave('later')", "later", id="decision.later", tooltip="Leave it open"),
)
"""Keys that leave a decision open; they always count."""
QUESTION_KEYS: tuple[Binding, ...] = (
    Binding(
        "ctrl+d",
        "decline",
        "decide yourself",
        id="question.decline",
        tooltip="Let the agent decide",
        priority=True,
    ),
)
"""Keys of every question."""
TEXT_KEYS: tuple[Binding, ...] = (
    Binding("enter", "send", "send", id="question.send", tooltip="Send the answer"),
    Binding(
        "ctrl+j,shift+enter,alt+enter",
        "newline",
        "new line",
        id="question.newline",
        tooltip="A new line in the answer",
    ),
)
"""Keys of a question that is answered by a text."""
CHOICE_KEYS: tuple[Binding, ...] = (
    Binding(
        "space",
        "mark",
        "mark",
        id="question.mark",
        tooltip="Take the option, or not",
        priority=True,
    ),
    Binding(
        "enter",
        "choose",
        "answer",
        id="question.choose",
        tooltip="Answer with the option",
        priority=True,
    ),
)
"""Keys of a question that is answered by one or several of its options."""
CONFIRM_KEYS: tuple[Binding, ...] = (
    Binding("y", "say_yes", "yes", id="question.yes", tooltip="Answer yes"),
    Binding("n", "say_no", "no", id="question.no", tooltip="Answer no"),
)
"""Keys of a question that is answered by yes or no."""
FORM_KEYS: tuple[Binding, ...] = (
    Binding("ctrl+s", "save", "done", id="form.save", tooltip="Take what is written"),
    Binding("escape", "cancel", "back", id="form.cancel", tooltip="Leave everything as it was"),
)
"""Keys of forms in which a text is changed."""
TEXT_VIEW_KEYS: tuple[Binding, ...] = (
    Binding("escape,q", "close", "close", id="text.close", tooltip="Go back"),
)
"""Keys of the full text."""
