"""How many cases a test tries: a sample in `make test`, all of them in `make faults`."""

import os

EXHAUSTIVE = os.environ.get("HANDRAIL_FAULTS") == "all"
"""Whether every case is wanted."""


def count(sampled: int, exhaustive: int) -> int:
    """Return how many cases to try: `exhaustive` when HANDRAIL_FAULTS is "all", else `sampled`."""
    return exhaustive if EXHAUSTIVE else sampled
