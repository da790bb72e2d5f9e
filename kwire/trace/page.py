"""One HTML file of a trace, which opens without a server and can load nothing.

The content is JSON and bytes, each compressed and in base64, so that no text from the wire is ever
read as HTML; the page's policy allows this script and this style by their hashes, and nothing else.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

from kwire.proxy.flows.tree import ReadRecords
from kwire.trace.collected import Collected
from kwire.trace.document import make_document

LIMIT = 5_000_000
"""Bytes of a page: attachments of tickets and comments are often limited to a few megabytes more.
If a page would be longer, fewer flows are in it."""

SCRIPTS = ("wire.js", "language.js", "view.js", "page.js")


def write_page(
    collected: Collected, read_records: ReadRecords, title: str, *, shared: bool = False
) -> tuple[bytes, int]:
    """Return a page, and how many flows it has: fewer than collected, if it would be too long."""
    while True:
        data, frames = make_document(collected, read_records, title, shared=shared)
        page = page_of(data, frames)
        count = len(data["flows"].get("n", ()))
        if len(page) <= LIMIT or count <= 1:
            return page, count
        collected.room = max(1, int(count * min(0.9, LIMIT / len(page))))


def page_of(data: dict[str, Any], frames: bytes) -> bytes:
    """Return the page."""
    folder = files("kwire.trace")
    script = "".join(folder.joinpath(name).read_text("utf-8") for name in SCRIPTS)
    style = folder.joinpath("style.css").read_text("utf-8")
    page = folder.joinpath("page.html").read_text("utf-8")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    parts = {
        "POLICY": policy,
        "TITLE": html.escape(data["title"]),
        "STYLE": style,
        "DATA": _packed(json.dumps(data, separators=(",", ":")).encode()),
        "FRAMES": _packed(frames),
        "SCRIPT": script,
    }
    page = re.sub("@([A-Z]+)@", lambda match: parts[match[1]], page)
    return page.encode("utf-8", "backslashreplace")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _packed(data: bytes) -> str:
    return b64encode(gzip.compress(data, 6, mtime=0)).decode()
