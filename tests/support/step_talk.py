"""Requests and replies of models that work step by step, for tests."""

import json
from collections.abc import Mapping
from typing import Any

from core.messages import (
    AssistantMessage,
    Message,
    Outcome,
    ToolCall,
    ToolForm,
    ToolMessage,
    ToolSpec,
    UserMessage,
)

SHELL = ToolSpec(
    name="shell",
    description="Runs commands, in many words.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}, "timeout_s": {"type": "number"}},
        "required": ["command"],
    },
)
EDIT = ToolSpec(
    name="edit_file",
    description="Edits.",
    parameters={
        "type": "object",
        "properties": {
            "command": {"enum": ["create", "replace"]},
            "path": {"type": "string"},
            "file_text": {"type": "string"},
            "old_str": {"type": "string"},
            "new_str": {"type": "string"},
        },
        "required": ["command", "path"],
    },
    forms=(
        ToolForm(
            name="write_file",
            description="write a file.",
            fields={"path": "path", "text": "file_text"},
            fixed={"command": "create"},
            changes="path",
        ),
        ToolForm(
            name="replace_text",
            description="change a file.",
            fields={"path": "path", "old": "old_str", "new": "new_str"},
            fixed={"command": "replace"},
            changes="path",
        ),
    ),
)
FETCH = ToolSpec(
    name="fetch_page",
    description="Reads pages.",
    parameters={
        "type": "object",
        "properties": {"urls": {"type": "array", "items": {"type": "string"}}},
        "required": ["urls"],
    },
    forms=(
        ToolForm(
            name="fetch_page",
            description="read a page.",
            fields={"urls": "urls"},
            needs_address=True,
            looks=True,
        ),
    ),
)
FINISH = ToolSpec(
    name="finish",
    description="Ends.",
    parameters={
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "status": {"enum": ["answered", "gave_up"]},
        },
        "required": ["answer"],
    },
    forms=(ToolForm(name="finish", description="end.", fields={"answer": "answer"}, ends=True),),
)
HIDDEN = ToolSpec(name="hidden", description="", parameters={"type": "object"}, forms=())
TOOLS = (SHELL, EDIT, FETCH, FINISH, HIDDEN)


def step(name: str, thought: str = "", **arguments: Any) -> str:
    """A reply that names one call."""
    return json.dumps({"thought": thought, "call": {"name": name, "arguments": arguments}})


class Talk:
    """A conversation that grows call by call."""

    def __init__(self, task: str = "Do it.") -> None:
        self.messages: list[Message] = [UserMessage(text=task)]

    def did(
        self,
        name: str,
        arguments: Mapping[str, Any],
        result: str = "done",
        outcome: Outcome = "ok",
    ) -> "Talk":
        """Add a call with its result."""
        number = len(self.messages)
        call = ToolCall(id=f"c{number}", name=name, arguments=arguments, source="text")
        self.messages.append(AssistantMessage(text="so", calls=(call,)))
        self.messages.append(ToolMessage(call_id=call.id, name=name, text=result, outcome=outcome))
        return self

    def said(self, text: str) -> "Talk":
        """Add an answer of the model."""
        self.messages.append(AssistantMessage(text=text))
        return self

    def asked(self, text: str) -> "Talk":
        """Add a message of the person."""
        self.messages.append(UserMessage(text=text))
        return self
