"""Decisions as tests put them to dialogs."""

import hashlib
from dataclasses import replace

from core.decision import ApprovalPrompt
from core.vocabulary import RiskLevel

DIGEST = hashlib.sha256(b"a call").hexdigest()
DELETION = ApprovalPrompt(
    call_id="call-1",
    tool="shell",
    arguments={"command": "cd build && rm -r -f .", "timeout_s": 120},
    risk="R2",
    strong=False,
    title="shell in sandbox (network off)",
    parts=("cd build", "rm -r -f .  -> /ws/build (34 files, 1.2 MB)"),
    reasons=("a command that writes", '"rm" deletes 34 files with the option -r'),
    digest=DIGEST,
)
"""A shell command that deletes."""
EDIT = ApprovalPrompt(
    call_id="call-2",
    tool="edit_file",
    arguments={"command": "replace", "path": "a.py", "old_str": "x = 1", "new_str": "x = 2"},
    risk="R2",
    strong=False,
    title="change a.py in the workspace",
    parts=("a.py",),
    reasons=("changes a file of the workspace",),
    diff="--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n print(x)\n",
    digest=DIGEST,
)
"""A change of a file."""


def of_risk(risk: RiskLevel, prompt: ApprovalPrompt = DELETION) -> ApprovalPrompt:
    """Return the prompt with another level of risk; R3 and R4 are strong."""
    return replace(prompt, risk=risk, strong=risk in {"R3", "R4"})
