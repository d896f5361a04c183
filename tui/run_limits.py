"""Limits of a run, as the settings and the profile give them."""

import difflib
from collections.abc import Sequence

from core.budget import REPLY_TOKENS, Limits
from core.config_layers import state_dir
from core.config_load import Configuration
from core.errors import StoreError
from core.event_log import SystemClock
from core.events import NoticeRaised
from core.ports import Tool
from core.profile import Profile
from core.spending import FOLDER_NAME, past_costs


def limits_of(configuration: Configuration, profile: Profile) -> Limits:
    """Return the limits of a run: the user's, else the profile's, else the defaults."""
    given, own = configuration.settings.limits, profile.file

    def is_free(name: str) -> bool:
        return configuration.origin(f"limits.{name}") == "default"

    return Limits(
        max_steps=own.max_steps if own.max_steps and is_free("max_steps") else given.max_steps,
        max_minutes=(
            own.max_minutes if own.max_minutes and is_free("max_minutes") else given.max_minutes
        ),
        max_cost_usd=(
            own.max_cost_usd
            if own.max_cost_usd is not None and is_free("max_cost_usd")
            else given.max_cost_usd
        ),
        max_cost_per_day_usd=given.max_cost_per_day_usd,
        max_calls={**own.max_calls, **given.max_calls},
        reply_tokens=configuration.settings.model.max_output_tokens or REPLY_TOKENS,
    )


def spent_line(configuration: Configuration) -> str:
    """Return what past runs cost, on average and at most, and what was spent today; "" where nothing ever was."""
    try:
        past = past_costs(state_dir() / FOLDER_NAME, SystemClock())
    except StoreError as error:
        return error.message
    return past.line(configuration.settings.limits.max_cost_per_day_usd)


def unknown_tools(configuration: Configuration, tools: Sequence[Tool]) -> Sequence[NoticeRaised]:
    """Return a warning for each limit of calls whose tool there is not; a slip of the pen would limit nothing."""
    known = sorted(tool.name for tool in tools)
    notices = []
    for name in configuration.settings.limits.max_calls:
        if name in known:
            continue
        key = f"limits.max_calls.{name}"
        near = difflib.get_close_matches(name, known, n=1)
        guess = f"Did you mean {near[0]}? " if near else ""
        text = f"{configuration.origin(key)}: {key}: there is no tool of that name now."
        hint = f"{guess}Tools: {', '.join(known)}."
        notices.append(NoticeRaised(level="warning", text=text, hint=hint, code="config"))
    return notices
