"""Puts the calls of one case through the argument check and the policy; nothing is executed."""

import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from core.assessment import OriginText, Situation
from core.chat.argument_repair import read_arguments
from core.chat.tool_names import ToolNames
from core.messages import ToolSpec
from core.policy import judge
from core.ports import CallFacts, ElementFacts
from core.risk import ASSESSORS, assess
from core.rule_file import RuleSet, load_rules
from core.vocabulary import Mode, Verdict
from tools.ask_human import AskHuman
from tools.browser.tool import BrowserTool
from tools.edit import EditFile
from tools.fetch_page import FetchPage
from tools.files import ListFiles, ReadFile
from tools.finish import Finish
from tools.python import Python
from tools.shell import Shell

Result: TypeAlias = dict[str, Any]

INSIDE = "/ws"
HOME = "/root"
TOOLS = {
    tool.name: tool
    for tool in (
        AskHuman,
        BrowserTool,
        EditFile,
        FetchPage,
        Finish,
        ListFiles,
        Python,
        ReadFile,
        Shell,
    )
}
NAMES = ToolNames(
    [ToolSpec(name=name, description="", parameters={}) for name in {*TOOLS, *ASSESSORS}]
)
NOT_YET = frozenset({"upload_files", "download", "check", "evaluate", "web_search"})
"""Browser actions that the policy knows and the tool does not offer; the policy alone judges them."""


def run_case(case: Mapping[str, Any]) -> Result:
    """Return the result object of a case."""
    result: Result = {
        "id": case["id"],
        "judged": False,
        "got": [],
        "outcome": None,
        "call_decision": None,
        "passed": None,
        "detail": "",
    }
    calls = [case["call"]] if "call" in case else case.get("calls", [])
    if case.get("judged") != "file" or not calls or "events" in case:
        result["detail"] = "no scenario" if case.get("judged") == "scenario" else "needs the screen"
        return result
    with tempfile.TemporaryDirectory() as folder:
        world = World(case, Path(folder).resolve())
        decided = [world.decide(call) for call in calls]
    result["judged"] = True
    result["got"] = [verdict for verdict, _, _ in decided]
    result["detail"] = "; ".join(dict.fromkeys(why for _, why, _ in decided))[:300]
    if all(refused for _, _, refused in decided):
        result["outcome"] = "error_result"
    return result


class World:
    """The workspace, the person's files and the window that a case describes."""

    def __init__(self, case: Mapping[str, Any], folder: Path) -> None:
        self.case = case
        self.workspace = folder / "ws"
        self.rules = self._rules(folder)
        self._make_files()
        config = tomllib.loads(case.get("config", ""))
        taint = tuple(
            OriginText(origin=item["origin"], text=text_of(item["text"]))
            for item in case.get("taint", [])
        )
        visited = {text.origin.removeprefix("web:") for text in taint if text.untrusted}
        page = case.get("page", {}).get("url", "")
        if page:
            visited.add(origin_of(page))
        self.situation = Situation(
            workspace=self.workspace,
            inside=INSIDE,
            home=HOME,
            taint=taint,
            visited=frozenset(visited),
            hosts_listed=config.get("browser", {}).get("hosts") == "listed",
        )

    @property
    def mode(self) -> Mode:
        """The mode of the case, read where the rules cannot be used."""
        return "read" if self.rules.problem else self.case.get("mode", "ask")

    def decide(self, call: Mapping[str, Any]) -> tuple[Verdict, str, bool]:
        """Return the verdict on a call, why, and whether it was refused before the policy."""
        found = NAMES.find(call["tool"])
        if found is None:
            return "deny", f"there is no tool {call['tool']!r}", True
        name = found.spec.name
        arguments, problem = self._arguments(name, call)
        if problem:
            return "deny", problem, True
        self._make_named(arguments)
        judgement = judge(
            assess(name, arguments, self._facts(arguments), self.situation),
            mode=self.mode,
            rules=self.rules.rules,
            headless=bool(self.case.get("headless")),
        )
        return judgement.verdict, "; ".join(judgement.reasons), False

    def _arguments(self, name: str, call: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the arguments as the tool takes them, or why it does not."""
        given = {key: text_of(value) for key, value in call.get("args", {}).items()}
        if "args_text" in call:
            read = read_arguments(text_of(call["args_text"]))
            if read.problem or len(read.objects) != 1:
                return {}, read.problem or "the arguments are not one object"
            given = dict(read.objects[0])
        if name not in TOOLS or given.get("action") in NOT_YET:
            return given, ""
        try:
            model = TOOLS[name].arguments.model_validate(given)
        except ValidationError as error:
            return {}, f"arguments: {error.errors(include_url=False)[0]['msg']}"
        return model.model_dump(mode="json", exclude_none=True), ""

    def _facts(self, arguments: Mapping[str, Any]) -> CallFacts:
        page = self.case.get("page", {})
        elements = {item["ref"]: item for item in page.get("elements", [])}
        element = elements.get(arguments.get("ref"))
        host = re.sub(r"^\w+://|[:/?#].*$", "", str(arguments.get("url", "")))
        addresses = self.case.get("dns", {}).get(host, [])
        return CallFacts(
            bindings={"addresses": ",".join(addresses)} if addresses else {},
            element=facts_of(element) if element else None,
            origin=origin_of(page["url"]) if page else "",
        )

    def _rules(self, folder: Path) -> RuleSet:
        if "rules" not in self.case:
            return RuleSet()
        path = folder / "policy.toml"
        path.write_text(self.case["rules"], encoding="utf-8")
        path.chmod(int(self.case.get("rules_mode", "0600"), 8))
        return load_rules(path)

    def _make_files(self) -> None:
        for number in range(3):
            self._make(f"build/file{number}.o", "x\n")
        self._make(".git/HEAD", "ref: refs/heads/main\n")
        self._make(".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        for path, content in self.case.get("files", {}).items():
            self._make(path, content)
        for path, target in self.case.get("links", {}).items():
            (self.workspace / path).symlink_to(target)

    def _make_named(self, arguments: Mapping[str, Any]) -> None:
        """Make the ordinary files a call names, where the case says nothing else of them."""
        words = " ".join(value for value in arguments.values() if isinstance(value, str)).split()
        for word in words:
            if (
                re.fullmatch(r"[A-Za-z][\w-]*\.[a-z]{1,4}|f\d?", word)
                and not (self.workspace / word).exists()
            ):
                self._make(word, "text\n")

    def _make(self, path: str, content: str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


def text_of(value: Any) -> Any:
    """Return a value with long texts written out."""
    if isinstance(value, Mapping) and set(value) == {"join"}:
        return "".join(piece * times for piece, times in value["join"])
    return value


def origin_of(url: str) -> str:
    """Return scheme://host[:port] of an address."""
    found = re.match(r"\w+://[^/?#]+", url)
    return found.group() if found else ""


def facts_of(element: Mapping[str, Any]) -> ElementFacts:
    """Return what the browser tool would say of an element of the page."""
    kind = element.get("type", "")
    submits = kind in ("submit", "image") or (
        element.get("tag") == "button" and bool(element.get("form_method"))
    )
    return ElementFacts(
        role=element.get("role", ""),
        name=element.get("name", ""),
        tag=element.get("tag", ""),
        input_type=kind,
        href=element.get("href", ""),
        submits=submits,
        form_method=element.get("form_method", ""),
        secret=kind == "password",
    )
