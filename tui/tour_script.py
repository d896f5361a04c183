"""What the scripted model of the tour says and does, line by line.

Each line looks at what the calls before it really gave back; what cannot be done on this machine is passed over and
named at the end.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from core.messages import JsonValue, ToolMessage

TASK = (
    "Find out when the Harbour Library is open, ask me which day suits me, "
    "and write a short plan of the visit into visit.md."
)
PLAN_FILE = "visit.md"
LEAFLET = "leaflet.txt"
QUESTION = "Which day suits you for a visit?"
LINK_NAME = "Opening hours"
_OPENING = re.compile(r"\b(\w+day): (\d{1,2}:\d\d-\d{1,2}:\d\d)(, [^\n\"<]+)?")
_ELEMENT = re.compile(r"^\[(\d+)\]<a>" + LINK_NAME, re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One reply of the script."""

    text: str
    tool: str = ""
    """Tool to call; "" for a reply that ends the run."""
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the script can see when it speaks its next line."""

    tools: frozenset[str]
    """Offered now."""
    results: Sequence[ToolMessage]
    """Of this run, oldest first."""
    url: str
    """First page of the tour's site."""

    def last(self, tool: str) -> ToolMessage | None:
        """Return the newest result of a tool that worked, None when there is none."""
        for result in reversed(self.results):
            if result.name == tool and result.outcome == "ok":
                return result
        return None

    def opening(self) -> list[str]:
        """Return the opening hours that some result held, one line a day, empty when none did."""
        for result in reversed(self.results):
            found = _OPENING.findall(result.text)
            if found:
                return list(dict.fromkeys(f"{day}: {hours}{more}" for day, hours, more in found))
        return []

    def day(self) -> str:
        """Return the line of the day the person chose, the first one when they left it open."""
        days = self.opening()
        answer = self.last("ask_human")
        said = answer.text if answer else ""
        return next(
            (line for line in days if line.partition(":")[0] in said), days[0] if days else ""
        )


ScriptLine: TypeAlias = Callable[[Scene], Line | None]
"""A line, or None where it cannot be spoken on this machine."""


def look_around(scene: Scene) -> Line | None:
    """Look into the workspace: with the shell where there is a sandbox, else with the file tool."""
    text = "This is the scripted tour of Handrail: no model is used. First I look at the workspace."
    if "shell" in scene.tools:
        return Line(text=text, tool="shell", arguments={"command": "ls -la"})
    return Line(text=text, tool="list_files", arguments={"path": "."})


def read_leaflet(scene: Scene) -> Line | None:
    """Read the file that lies there."""
    text = "There is a leaflet. I read it."
    return Line(text=text, tool="read_file", arguments={"path": LEAFLET})


def open_site(scene: Scene) -> Line | None:
    """Open the library's page."""
    if "browser" not in scene.tools:
        return None
    text = "I check the hours on the library's own page, which ships with Handrail."
    return Line(text=text, tool="browser", arguments={"action": "go_to", "url": scene.url})


def follow_link(scene: Scene) -> Line | None:
    """Click the link by the number the page's list gave it."""
    page = scene.last("browser")
    found = _ELEMENT.search(page.text) if page and "browser" in scene.tools else None
    if found is None:
        return None
    text = f"The list of elements has the link [{found[1]}] {LINK_NAME}. I follow it."
    return Line(text=text, tool="browser", arguments={"action": "click", "ref": int(found[1])})


def read_hours(scene: Scene) -> Line | None:
    """Read the text of the page."""
    if "browser" not in scene.tools or scene.last("browser") is None:
        return None
    return Line(text="I read the page.", tool="browser", arguments={"action": "read_text"})


def ask_day(scene: Scene) -> Line | None:
    """Ask the question."""
    days = scene.opening()
    if len(days) < 2:
        return None
    text = "The day is yours to choose."
    arguments: Mapping[str, JsonValue] = {
        "question": QUESTION,
        "kind": "choice",
        "options": days,
        "default": days[0],
    }
    return Line(text=text, tool="ask_human", arguments=arguments)


def write_plan(scene: Scene) -> Line | None:
    """Write the file; in mode ask this needs an approval."""
    day = scene.day()
    name, _, hours = day.partition(": ")
    plan = (
        f"# Visit to the Harbour Library\n\n- Day: {name}\n- Open: {hours}\n- Bring: library card\n"
    )
    text = f"I write the plan for {name}. Handrail asks you first and shows what would change."
    arguments: Mapping[str, JsonValue] = {
        "command": "create",
        "path": PLAN_FILE,
        "file_text": plan,
    }
    return Line(text=text, tool="edit_file", arguments=arguments)


def check_plan(scene: Scene) -> Line | None:
    """Look at what was written."""
    if scene.last("edit_file") is None:
        return None
    text = "I check the file."
    if "shell" in scene.tools:
        return Line(text=text, tool="shell", arguments={"command": f"cat {PLAN_FILE}"})
    return Line(text=text, tool="read_file", arguments={"path": PLAN_FILE})


def end(scene: Scene) -> Line | None:
    """Say what came of it, and what was left out."""
    written = scene.last("edit_file") is not None
    day = scene.day()
    answer = (
        f"The plan for your visit is in {PLAN_FILE}: {day}."
        if written
        else f"Nothing was written, as you wished. The library would be open on {day}."
    )
    left_out = "".join(f"\n\nLeft out: {reason}" for reason in missing(scene))
    files = [PLAN_FILE] if written else []
    arguments: Mapping[str, JsonValue] = {
        "answer": f"{answer}{left_out}\n\nThis was the scripted tour; a model does the real work.",
        "status": "answered",
        "files": files,
    }
    return Line(text="That is all.", tool="finish", arguments=arguments)


def missing(scene: Scene) -> list[str]:
    """Return what this machine could not show, a sentence each."""
    reasons = []
    if scene.last("browser") is None:
        reasons.append("the browser, because no Chromium could be used.")
    if scene.last("shell") is None:
        reasons.append("the shell, because no sandbox could be used.")
    return reasons


SCRIPT: tuple[ScriptLine, ...] = (
    look_around,
    read_leaflet,
    open_site,
    follow_link,
    read_hours,
    ask_day,
    write_plan,
    check_plan,
    end,
)
