"""Facts of a session in which a page was looked at and commands ran, for panes to show."""

from pathlib import Path
from typing import Literal

from PIL import Image as Pictures
from PIL import ImageDraw

from core.event_log import EventLog
from core.events import (
    CallIntended,
    ModelReplied,
    SessionOpened,
    ToolEnded,
    ToolOutputReceived,
)
from core.messages import Image, Outcome, ToolCall
from core.surroundings import BrowserSnapshotted, Element, SandboxChanged

ELEMENTS = (
    Element(ref=1, role="link", name="Home", box=(20, 20, 100, 40)),
    Element(
        ref=2,
        role="textbox",
        name="Search",
        value="primes",
        flags=("focused",),
        box=(40, 120, 360, 60),
    ),
    Element(ref=3, role="button", name="Go", box=(40, 220, 160, 50)),
    Element(
        ref=4,
        role="link",
        name="A long name that goes on and on and on and on and on",
        box=(40, 320, 860, 10),
    ),
    Element(ref=5, role="combobox", name="Sprache 言語", options=("de", "日本語")),
)
"""What is on the page."""


def draw_page(folder: Path) -> Image:
    """Draw the page as a picture file."""
    picture = Pictures.new("RGB", (1280, 800), (250, 250, 250))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, 1280, 80), fill=(30, 60, 120))
    pen.rectangle((40, 120, 400, 180), outline=(0, 0, 0), width=3)
    pen.rectangle((40, 220, 200, 270), fill=(20, 140, 60))
    for top in range(320, 780, 40):
        pen.rectangle((40, top, 900, top + 10), fill=(120, 120, 120))
    path = folder / "page.png"
    picture.save(path)
    return Image(path=str(path), width=1280, height=800)


def look_at_page(log: EventLog, picture: Image | None = None, *, snapshot: str = "s1") -> None:
    """Tell of a look at the page."""
    log.append(
        BrowserSnapshotted(
            url="http://127.0.0.1:8000/search?q=primes",
            title="Search: primes 素数",
            snapshot=snapshot,
            engine="fast",
            elements=ELEMENTS,
            total=12,
            screenshot=picture,
            tabs=("Search", "Docs"),
            action='type [2] "primes"',
            effect="value changed",
            messages=("error: 404 favicon.ico",),
            hosts=("127.0.0.1:8000 allowed", "evil.test refused"),
        )
    )


def open_sandbox(log: EventLog) -> None:
    """Tell that the session and its sandbox are open."""
    log.append(SessionOpened(session_id="s", workspace="/w", version="0", model="local-1.5b"))
    log.append(
        SandboxChanged(
            state="ready",
            label="Docker 20.10 (handrail-sandbox:base)",
            tier="docker",
            image="handrail-sandbox:base",
            limits={"memory": "1 GiB", "cpus": "2", "processes": "256"},
            network="none",
            workspace="/workspace",
        )
    )


class Commands:
    """Runs commands that never ran."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.count = 0

    def begin(self, command: str, tool: str = "shell") -> str:
        """Start a command and return the call's id."""
        self.count += 1
        call_id = f"call-{self.count}"
        name = "code" if tool == "python" else "command"
        call = ToolCall(id=call_id, name=tool, arguments={name: command})
        self.log.append(ModelReplied(calls=(call,)))
        self.log.append(
            CallIntended(
                call_id=call_id,
                name=tool,
                arguments=call.arguments or {},
                digest="",
                risk="R2",
                decided_by="person",
            )
        )
        return call_id

    def write(
        self, call_id: str, text: str, stream: Literal["stdout", "stderr"] = "stdout"
    ) -> None:
        """Let a command write."""
        self.log.append(ToolOutputReceived(call_id=call_id, stream=stream, text=text))

    def end(
        self, call_id: str, exit_code: int | None = 0, outcome: Outcome = "ok", error: str = ""
    ) -> None:
        """Let a command end."""
        self.log.append(
            ToolEnded(
                call_id=call_id,
                name="shell",
                outcome=outcome,
                exit_code=exit_code,
                duration_s=0.12,
                error=error,
            )
        )

    def run(self, command: str, stdout: str = "", stderr: str = "", exit_code: int = 0) -> None:
        """Run a whole command."""
        call_id = self.begin(command)
        for stream, text in (("stdout", stdout), ("stderr", stderr)):
            if text:
                self.write(call_id, text, stream)  # type: ignore[arg-type]
        self.end(call_id, exit_code, "ok" if exit_code == 0 else "failed")
