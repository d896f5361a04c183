"""Words with a fixed meaning everywhere: events, policy, screens."""

from typing import Literal

Mode = Literal["read", "ask", "auto", "full"]
"""How much runs without a question."""
SandboxKind = Literal["auto", "docker", "local", "none"]
"""auto: Docker when an engine answers, else local; local: bubblewrap; none: shell and python are not offered."""
RiskLevel = Literal["R0", "R1", "R2", "R3", "R4"]
"""R0 no effect, R1 reversible or public read, R2 reversible write, R3 hard to undo, R4 final."""
Verdict = Literal["allow", "ask", "ask_strong", "deny", "block"]
"""What the policy says of a call, from least to most strict."""
EndReason = Literal["answered", "gave_up", "limit", "stopped", "failed"]
"""How a run ended; `run --json` maps it to the exit code."""
DecidedBy = Literal["", "person", "rule", "policy", "nobody", "tour", "answers_file"]
"""Who allowed, refused or answered; "" while nobody has."""
QuestionKind = Literal["text", "choice", "choices", "confirm", "secret", "file"]
"""What form an answer to `ask_human` takes."""

Resolution = Literal[
    "approved", "edited", "denied", "denied_pause", "answered", "declined", "withdrawn"
]
"""approved, edited (approved with other arguments), denied, denied_pause; answered, declined ("decide yourself");
withdrawn: the call is gone."""
