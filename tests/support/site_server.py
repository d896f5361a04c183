"""A small web site of our own on several loopback origins, served by real HTTP.

`first` and `second` differ in their port only (another origin of the same site); `other` has another host name, so
that Chromium puts its frames into another process.
"""

import contextlib
import http.server
import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

PAGES = Path(__file__).with_name("site")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css"}


@dataclass
class Answer:
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Origin"

    def log_message(self, *_arguments: Any) -> None:
        """Keep stderr clean."""

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        if parts.path == "/endless":
            self.pour(query.get("name", "endless.bin"))
            return
        made = MADE.get(parts.path)
        answer = made(query, self.server) if made else page(parts.path, self.server)
        self.reply(answer)

    def do_POST(self) -> None:
        self.server.requests.append(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.posted.append(body)
        self.reply(Answer(b"<!doctype html><title>Sent</title><h1>Thank you</h1>"))

    def pour(self, name: str) -> None:
        """Send a download that never ends, until the browser has enough of it."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Disposition", f'attachment; filename="{name}"')
            self.end_headers()
            while not self.server.released.wait(0.02):
                self.wfile.write(b"x" * 200_000)

    def reply(self, answer: Answer) -> None:
        try:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)
        except OSError:
            self.close_connection = True


class Origin(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, site: "Site") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.host = host
        self.site = site
        self.requests: list[str] = []
        self.posted: list[bytes] = []
        self.arrived = threading.Event()
        """Set when /held was asked for."""
        self.released = threading.Event()
        """Lets /held answer."""

    def handle_error(self, *_arguments: Any) -> None:
        """A browser that hangs up is no fault of the server."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.server_port}"


def page(path: str, origin: Origin) -> Answer:
    """Serve a file, with the addresses of the origins put in for {first}, {second} and {other}."""
    file = PAGES / path.lstrip("/")
    if not file.is_file():
        return Answer(b"<!doctype html><title>Not here</title><h1>404</h1>", status=404)
    text = file.read_text(encoding="utf-8")
    for name, place in origin.site.origins.items():
        text = text.replace("{" + name + "}", place.url)
    return Answer(text.encode(), TYPES.get(file.suffix, "application/octet-stream"))


def links(query: dict[str, str], _origin: Origin) -> Answer:
    count = int(query.get("n", "100"))
    rows = [
        f'<li><a data-t="link{n}" href="/numbered?n={n}">Entry {n} of the catalogue</a></li>'
        for n in range(count)
    ]
    return Answer(
        ("<!doctype html><title>Catalogue</title><h1>Catalogue</h1><ul>" + "\n".join(rows)).encode()
    )


def numbered(query: dict[str, str], _origin: Origin) -> Answer:
    number = int(query.get("n", "0"))
    return Answer(f"<!doctype html><title>Entry {number}</title><h1>Entry {number}</h1>".encode())


def redirect(query: dict[str, str], _origin: Origin) -> Answer:
    return Answer(b"", status=302, headers={"Location": query["to"]})


def circle(_query: dict[str, str], _origin: Origin) -> Answer:
    return Answer(b"", status=307, headers={"Location": "/circle"})


def slow(query: dict[str, str], _origin: Origin) -> Answer:
    time.sleep(float(query.get("s", "0.5")))
    return Answer(
        b"<!doctype html><title>Slow</title><h1>Slow page</h1><a href='/form.html'>on</a>"
    )


def held(_query: dict[str, str], origin: Origin) -> Answer:
    origin.arrived.set()
    origin.released.wait(20)
    return Answer(b"<!doctype html><title>Held</title>")


def download(query: dict[str, str], _origin: Origin) -> Answer:
    name = query.get("name", "report.bin")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Answer(b"x" * int(query.get("n", "1000")), "application/octet-stream", headers=headers)


def status(query: dict[str, str], _origin: Origin) -> Answer:
    code = int(query["code"])
    return Answer(f"<!doctype html><title>Status</title><p>{code}</p>".encode(), status=code)


def data(query: dict[str, str], _origin: Origin) -> Answer:
    return Answer(json.dumps(query).encode(), "application/json")


MADE = {
    "/links": links,
    "/numbered": numbered,
    "/redirect": redirect,
    "/circle": circle,
    "/slow": slow,
    "/held": held,
    "/download": download,
    "/status": status,
    "/data": data,
}


class Site:
    """All origins of the site; a context manager."""

    def __init__(self) -> None:
        self.first = Origin("127.0.0.1", self)
        self.second = Origin("127.0.0.1", self)
        self.other = Origin("localhost", self)
        self.origins = {"first": self.first, "second": self.second, "other": self.other}
        self._threads = [
            threading.Thread(target=origin.serve_forever, args=(0.05,), daemon=True)
            for origin in self.origins.values()
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        for origin in self.origins.values():
            origin.released.set()
            origin.shutdown()
            origin.server_close()
