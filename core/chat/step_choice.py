"""What a model that works step by step may choose now: what leads nowhere is taken away by the grammar.

A small model makes the same call again and again, and no message talks it out of that.
"""

import re
from collections.abc import Callable, Sequence

from core.chat.step_report import DoneCall, calls_since_asked, done_calls
from core.chat.stepwise import OfferedForm, StepForms
from core.messages import AssistantMessage, Message

REPEATS_SEEN = 4
"""Calls back in which a repetition counts."""
_ADDRESS = re.compile(r"https?://|\bwww\.", re.IGNORECASE)


def useless_forms(messages: Sequence[Message], forms: StepForms) -> frozenset[str]:
    """Return the names of forms that can be of no use: the web, while no address is known."""
    texts = (message.text for message in messages if not isinstance(message, AssistantMessage))
    if any(_ADDRESS.search(text) for text in texts):
        return frozenset()
    return _names(forms, lambda one: one.form.needs_address)


def withheld_forms(
    messages: Sequence[Message], forms: StepForms, missing: Sequence[str] = ()
) -> frozenset[str]:
    """Return the names of forms that may not be chosen in the next reply; at least one is always left.

    - What needs another form to be used first, as a click needs a page.
    - A call that was made before and went well, made again: nothing is left but to end.
    - The same while a file the task names is missing: nothing is left but what can make it.
    - The same where it failed: that form is taken away.
    - An end that was refused because something must be done first: the end.
    - Two changes of one file in a row: a look must come before the next.
    """
    used = {forms.shown(one.call)[0] for one in done_calls(messages) if one.outcome == "ok"}
    early = _names(forms, lambda one: bool(one.form.after) and one.form.after not in used)
    done = calls_since_asked(messages)[-REPEATS_SEEN:]
    withheld = useless_forms(messages, forms) | early
    withheld |= _after(done, forms, making=bool(missing)) if done else frozenset()
    return withheld if len(withheld) < len(forms.offered) else frozenset()


def _after(done: Sequence[DoneCall], forms: StepForms, *, making: bool) -> frozenset[str]:
    last = done[-1]
    form = forms.form_of(last.call)
    if form is not None and form.ends:
        if last.outcome != "denied":
            return frozenset()
        return _names(forms, lambda one: one.form.ends or (making and one.form.looks))
    changes = form is not None and bool(form.changes)
    if sum(one.same_as(last) or (changes and one.same_call(last)) for one in done) > 1:
        return _after_repetition(last, forms, making=making)
    changed = _file_of(last, forms)
    if changed and len(done) > 1 and changed == _file_of(done[-2], forms):
        return _names(forms, lambda one: bool(one.form.changes))
    return frozenset()


def _after_repetition(last: DoneCall, forms: StepForms, *, making: bool) -> frozenset[str]:
    name, _ = forms.shown(last.call)
    if last.outcome != "ok":
        return frozenset((name,))
    if making:
        return _names(forms, lambda one: one.form.ends or one.form.looks) | {name}
    return _names(forms, lambda one: not one.form.ends)


def _file_of(done: DoneCall, forms: StepForms) -> object:
    """Return the file a call has changed, None where it changed none."""
    form = forms.form_of(done.call)
    if form is None or not form.changes:
        return None
    return (done.call.arguments or {}).get(form.changes)


def _names(forms: StepForms, fits: Callable[[OfferedForm], bool]) -> frozenset[str]:
    return frozenset(name for name, one in forms.offered.items() if fits(one))
