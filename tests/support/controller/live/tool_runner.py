"""Kafka's command-line tools, run one after the other in one Java process."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any, Self

from clients.programs import tools_command

LATE = -1
"""The exit code of a run that takes too long."""
UNKNOWN_CLASS = 127
"""The exit code if there is no such tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """The exit code of a tool and the texts that it printed."""

    code: int
    printed: str
    failed: str


class ToolProcess:
    """One Java process; a context manager that ends it. Not for several threads.

    newest_features: as in `tools_command`.
    """

    def __init__(self, *, newest_features: bool = False) -> None:
        self._process = subprocess.Popen(
            tools_command(newest_features=newest_features),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        assert self._process.stdin, "a pipe was asked for"
        assert self._process.stdout, "a pipe was asked for"
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()

    def run(self, *words: str, text: str = "", seconds: int = 60) -> ToolOutcome:
        """Run a main class with its arguments.

        text: for its stdin. seconds: how long it may take. Raises AssertionError if the process
        ended.
        """
        frame = struct.pack(">i", seconds) + _sized(text) + struct.pack(">i", len(words))
        self._in.write(frame + b"".join(map(_sized, words)))
        self._in.flush()
        # A tool that cannot be interrupted must not stop the test for ever.
        guard = threading.Timer(seconds + 30, self._process.kill)
        guard.start()
        try:
            (code,) = struct.unpack(">i", self._read(4))
            return ToolOutcome(code=code, printed=self._text(), failed=self._text())
        finally:
            guard.cancel()

    def _text(self) -> str:
        (size,) = struct.unpack(">i", self._read(4))
        return self._read(size).decode()

    def _read(self, size: int) -> bytes:
        found = self._out.read(size)
        assert len(found) == size, "the Java process ended"
        return found


def _sized(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">i", len(encoded)) + encoded


_MASKS = (
    # First: the beginning of one may look like an id or a time.
    (re.compile(r"(?<![\w+/])[\w+/]{86}=="), "<hmac>"),
    (re.compile(r"(?<![\w/+-])[\w-]{22}(?![\w-])(?=.*)"), "<id>"),
    (re.compile(r"\b(localhost|127\.0\.0\.1):\d+"), "<address>"),
    (re.compile(r"\b1[67]\d{11}\b"), "<time>"),
    (
        re.compile(
            r"/[\w./-]*(?:kwire|kafka|comparison)[\w./-]*?(/data|/more|/nowhere)?(?![\w./-])"
        ),
        r"<path>\1",
    ),
    (re.compile(r"127\.0\.0\.1 \d+"), "<address>"),
    (re.compile(r"^(Could not \w+ \S+).*"), r"\1"),
    (
        re.compile(
            r"^(Error while executing [\w ]+:)"
            r"(?:.*(Authentication failed|does not exist))?.*"
        ),
        r"\1 \2",
    ),
    (re.compile(r"^(\d+\s+<id>)\s.*\s(Leader|Follower|Observer)\s*$"), r"\1 \2"),
    (re.compile(r"\[\d{4}-\d\d-\d\d [\d:,]+\] "), ""),
    (re.compile(r"<address>\s+\(\d+\)"), "<coordinator>"),
    (
        re.compile(r"((?:metadata|share)\.version.*SupportedMaxVersion: ).*(\sFinalized)"),
        r"\1<newest>\2",
    ),
    (re.compile(r"\bEpoch: \d+"), "Epoch: <number>"),
    # Frames of a stack that two causes share: what was compiled meanwhile has others.
    (re.compile(r"\.\.\. \d+ more"), "... more"),
)
"""Parts of the output that are each run's own, and sentences of errors; and the newest levels of
features, which kwire has of the newest release."""
_JSON = re.compile(r"(\w+:\s+)?([\[{].*[\]}])$")
_MINUTE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
_EXCEPTION = re.compile(r"\b(\w+(?:Exception|Error))\b")


def comparable(outcome: ToolOutcome) -> list[str]:
    """Return exit code, lines of the output, sorted, and names of exceptions in both outputs.

    Sentences of errors are each side's own; their exceptions are not. Lines are sorted, because
    tools print maps and sets.
    """
    lines = [line.strip() for line in outcome.printed.splitlines() if line.strip()]
    plain = [
        _masked(line)
        for line in lines
        if not line.startswith(("at ", "Caused by")) and not _EXCEPTION.search(line)
    ]
    names = sorted(set(_EXCEPTION.findall(outcome.printed + outcome.failed)))
    return [f"exit {outcome.code}", *sorted(filter(None, plain)), *names]


def _masked(line: str) -> str:
    if found := _JSON.match(line):
        line = (found[1] or "") + _sorted_json(found[2])
    line = _MINUTE.sub(lambda found: _hours_from_now(found[0]), line)
    for pattern, name in _MASKS:
        line = pattern.sub(name, line)
    return re.sub(r"\s+", " ", line).strip()


def _sorted_json(line: str) -> str:
    """Return JSON with its lists sorted, which are sets; the line if it is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return line
    return json.dumps(_in_order(found), sort_keys=True)


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _in_order(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return sorted(map(_in_order, value), key=repr)
    return value


def _hours_from_now(minute: str) -> str:
    then = datetime.fromisoformat(minute).replace(tzinfo=UTC)
    return f"now + {round((then - datetime.now(UTC)).total_seconds() / 3600)} h"
