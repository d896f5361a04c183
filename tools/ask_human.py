"""`ask_human`: a typed question to the person."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, model_validator

from core.decision import QuestionPrompt
from core.messages import JsonObject, ToolForm, ToolResult
from core.ports import Answer, CallContext, CallFacts
from tools.base import ToolArguments, TypedTool

Option = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class AskHumanArguments(ToolArguments):
    """What to ask."""

    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)
    ] = Field(description="One clear question.")
    kind: Literal["text", "choice", "choices", "confirm"] = Field(
        default="text",
        description="text: free answer; choice: one option; choices: several; confirm: yes or no.",
    )
    options: list[Option] = Field(
        default_factory=list, max_length=20, description="For choice and choices: 2 to 20."
    )
    default: str = Field(
        default="", max_length=4000, description="What you will go on with if there is no answer."
    )

    @model_validator(mode="after")
    def _options_fit(self) -> "AskHumanArguments":
        if self.kind in ("choice", "choices") and len(set(self.options)) < 2:
            raise ValueError(f"kind {self.kind} needs at least 2 different options")
        if self.kind in ("text", "confirm") and self.options:
            raise ValueError(f"options do not go with kind {self.kind}; use kind choice")
        return self


class AskHuman(TypedTool[AskHumanArguments]):
    """Puts the question to the person and gives the answer to the model."""

    name = "ask_human"
    description = (
        "Ask the person when a decision or a fact is theirs alone to give and guessing would do harm. "
        "Not for permission: risky calls are put to them anyway."
    )
    arguments = AskHumanArguments
    forms = (
        ToolForm(
            name="ask_human",
            description="ask the person for what only they know, such as their name or their wishes.",
            fields={"question": "question"},
        ),
    )
    example: ClassVar[JsonObject] = {
        "question": "Which format?",
        "kind": "choice",
        "options": ["PDF", "HTML"],
        "default": "PDF",
    }

    async def look(self, arguments: AskHumanArguments) -> CallFacts:
        """Show the question."""
        return CallFacts(title=f"question: {arguments.question}")

    async def act(self, arguments: AskHumanArguments, context: CallContext) -> ToolResult:
        """Ask and wait."""
        prompt = QuestionPrompt(
            call_id=context.call_id,
            question=arguments.question,
            answer_kind=arguments.kind,
            options=tuple(dict.fromkeys(arguments.options)),
            default=arguments.default,
        )
        answer = await context.ask(prompt)
        if answer.resolution == "answered":
            return ToolResult(output=answer.text or "(an empty answer)")
        return _no_answer(arguments, answer)


def _no_answer(arguments: AskHumanArguments, answer: Answer) -> ToolResult:
    default = (
        f" Go on with your default: {arguments.default}"
        if arguments.default
        else " Decide yourself, and say so."
    )
    if answer.decided_by == "nobody":
        text = f"Nobody is there to answer.{default}"
        return ToolResult(outcome="denied", output=text, error="Nobody is there to answer.")
    said = f" They said: {answer.text}" if answer.text else ""
    return ToolResult(output=f"The person leaves it to you.{said}{default}")
