"""A record: an event with what the log knows of it, and its two JSON forms."""

import json
from dataclasses import dataclass

from core.events import EVENT_ADAPTER, Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry of the log."""

    n: int
    """Sequence in the session, from 1, without gaps."""
    at_utc: str
    """ISO 8601 with milliseconds and Z; for display only."""
    mono_s: float
    """Monotonic seconds since the process started counting; durations come from this."""
    run_id: str
    """"" outside a run."""
    step: int
    """Step of the run, from 1; 0 outside a step."""
    event: Event

    def fields(self) -> dict[str, object]:
        """Return the flat JSON object of `run --json`: kind, n, at_utc, run_id, step and the event's own fields."""
        body = EVENT_ADAPTER.dump_python(self.event, mode="json")
        kind = body.pop("kind")
        return {
            "kind": kind,
            "n": self.n,
            "at_utc": self.at_utc,
            "run_id": self.run_id,
            "step": self.step,
            **body,
        }

    def json_line(self) -> str:
        """Return the flat object as one line of JSON without a newline."""
        return json.dumps(self.fields(), ensure_ascii=False, separators=(",", ":"))
