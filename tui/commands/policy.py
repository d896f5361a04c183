"""`handrail policy`: what would be decided of a call, and the table that decides."""

import json
from argparse import Namespace
from collections.abc import Mapping

from core.assessment import Situation
from core.config_layers import config_dir
from core.errors import ConfigError
from core.messages import JsonValue
from core.policy_table import ROWS
from core.ports import CallFacts
from core.risk import ASSESSORS
from core.rule_file import POLICY_NAME, load_rules
from core.session_policy import SessionPolicy
from core.vocabulary import Mode
from tui.arguments import OneLineParser, workspace_of
from tui.console import print_object, tell
from tui.exits import ANSWERED

HELP = "say what would be decided of a call, or list the table"
MODES: tuple[Mode, ...] = ("read", "ask", "auto", "full")
MAIN_ARGUMENT: Mapping[str, str] = {
    "shell": "command",
    "python": "code",
    "read_file": "path",
    "list_files": "path",
    "ask_human": "question",
    "finish": "answer",
}
"""What plain words after a tool's name are."""


def add_arguments(parser: OneLineParser) -> None:
    """Add the actions."""
    parser.add_argument("action", choices=("check", "list"), help="what to do")
    parser.add_argument(
        "call",
        nargs="?",
        metavar="CALL",
        help="'TOOL {json arguments}', or 'shell COMMAND', 'python CODE', 'browser URL'",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(options: Namespace) -> int:
    """Do one action.

    Raises:
        ConfigError: The call cannot be read.
    """
    if options.action == "list":
        _list(as_json=options.json)
        return ANSWERED
    if not options.call:
        raise ConfigError("policy check needs a CALL.", code="usage")
    name, arguments = parsed_call(options.call)
    rules = load_rules(config_dir() / POLICY_NAME)
    if rules.problem is not None:
        raise rules.problem
    situation = Situation(workspace=workspace_of(options), own_tools=_own_tools(name))
    policy = SessionPolicy(situation, rules=lambda: rules.rules)
    judged = {mode: policy.judge(name, arguments, CallFacts(), mode) for mode in MODES}
    verdicts = {mode: one.verdict for mode, one in judged.items()}
    first = judged["ask"]
    if options.json:
        print_object(
            {
                "tool": name,
                "arguments": arguments,
                "risk": first.risk,
                "verdicts": verdicts,
                "reasons": list(first.reasons),
            }
        )
        return ANSWERED
    tell(f"{name}  risk {first.risk}")
    tell("  ".join(f"{mode}: {verdict}" for mode, verdict in verdicts.items()))
    for reason in first.reasons:
        tell(f"  {reason}")
    return ANSWERED


def _own_tools(name: str) -> frozenset[str]:
    """Return the names of the person's own tools, loaded only where the call is of no tool that comes with Handrail."""
    if name in ASSESSORS:
        return frozenset()
    from tools.own_tools import OWN_TOOLS, load_own_tools

    found = load_own_tools(config_dir() / OWN_TOOLS, frozenset(ASSESSORS))
    return frozenset(tool.name for tool in found.tools)


def parsed_call(text: str) -> tuple[str, Mapping[str, JsonValue]]:
    """Read a call as a person writes it.

    Raises:
        ConfigError: The arguments are no JSON object, or the tool takes no plain words.
    """
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if rest.startswith("{"):
        try:
            arguments = json.loads(rest)
        except ValueError as error:
            raise ConfigError(f"The arguments are no JSON: {error}.", code="usage") from error
        return name, arguments
    if name == "browser":
        return name, {"action": "go_to", "url": rest}
    if name == "fetch_page":
        return name, {"urls": [rest]}
    if name not in MAIN_ARGUMENT:
        known = ", ".join((*MAIN_ARGUMENT, "browser", "fetch_page"))
        raise ConfigError(
            f"{name} needs its arguments as a JSON object.",
            hint=f"Plain words go with: {known}.",
            code="usage",
        )
    return name, {MAIN_ARGUMENT[name]: rest}


def _list(*, as_json: bool) -> None:
    for key, row in ROWS.items():
        verdicts = {mode: row.verdict(mode) for mode in MODES}
        if as_json:
            print_object({"row": key, "risk": row.risk, "what": row.what, "verdicts": verdicts})
            continue
        tell(f"{row.risk}  {key:22}  {row.what}")
        tell("      " + "  ".join(f"{mode}: {verdict}" for mode, verdict in verdicts.items()))
