"""Entries of a log file of Kafka: layouts of log4j, prefixes of containers, stack traces.

The layouts are that of Kafka's own files and images, `[%d] %p %m (%c)%n`, with or without brackets
and with a thread behind it; and `HH:mm:ss.SSS [thread] LEVEL logger - message`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

LEVELS = "TRACE|DEBUG|INFO|WARN|ERROR|FATAL"
LOUD = ("WARN", "ERROR", "FATAL")
"""Levels of entries that matter although nobody understands them."""

LONGEST = 4_000
"""Characters of a line that are read."""

MOST_LINES = 24
"""Lines of a stack trace that are kept, besides those that name a cause."""

_DEFAULT = re.compile(
    rf"\[?(\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[,.]\d{{3}})\]?\s+({LEVELS})\s+(.*)$", re.DOTALL
)
_LOGGER_BEHIND = re.compile(r" \(([\w.$]+)\)(?: \[[^\]]*\])?\s*$")
_SIMPLE = re.compile(
    r"((?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[,.]\d{3}) \[([^\]]*)\]"
    rf" ({LEVELS})\s+([\w.$]+) - (.*)$",
    re.DOTALL,
)
_NODE = re.compile(
    r"\b(?:RaftManager|QuorumController|ControllerServer|SharedServer|ControllerApis"
    r"|ControllerRegistrationManager|MetadataLoader|SnapshotGenerator|NodeToControllerChannelManager"
    r"|KafkaRaftServer|BrokerServer)"
    r" (?:id|nodeId)=(\d{1,10})\b|\bnodeId=(\d{1,10})\]|^\s*node\.id = (\d{1,10})\b"
    r"|\bkafka-(\d{1,10})-raft-",
    re.MULTILINE,
)
_PREFIX_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.?\d*(?:Z|[+-]\d\d:\d\d)\s?(?:std\w+ [FP] )?"
)
_VARIES = re.compile(r"\S*\d\d:\d\d:\d\d\S*|\d{4}-\d\d-\d\d\S*|\b[A-Z][a-z]{2} +\d{1,2}\b")
"""Times that a tool puts before a line, as journald does: they name no stream."""

_KEPT = ("Caused by:", "Suppressed:", "node.id = ")
_DAY = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One entry of a log.

    line: number of its first line. time: milliseconds, since 1970 as if the file's times were UTC,
    or since the midnight before the first entry if `dated` is False; None in a line without one.
    node_id: the node that wrote it; None while the file has not told. text: the message with what
    is left of a stack trace below it. stream: what a container's tool put before the line.
    """

    source: str
    line: int
    time: int | None
    dated: bool
    level: str
    logger: str
    text: str
    node_id: int | None = None
    stream: str = ""
    thread: str = ""

    @property
    def message(self) -> str:
        """The first line of the message."""
        return self.text.partition("\n")[0]

    @property
    def place(self) -> str:
        """`server.log:12`."""
        return f"{self.source}:{self.line}"


class LogReader:
    """Reads the lines of one source, in pieces if it grows; the next entry ends one."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = 0
        """Lines that were read."""
        self.pieces = 0
        """Lines, and pieces of those that are longer than LONGEST."""
        self._is_cut = False
        self._open: LogEntry | None = None
        self._rest: list[str] = []
        self._nodes: dict[str, int] = {}
        self._days: dict[str, tuple[int, int]] = {}

    def begin_file(self) -> None:
        """Count lines from 1 again, as the next file of a rotated log does."""
        self.lines = 0
        self._is_cut = False

    def read(self, lines: Iterable[str]) -> Iterator[LogEntry]:
        """Yield the entries that these lines end; of a line in pieces, the first one is read."""
        for line in lines:
            self.pieces += 1
            was_cut, self._is_cut = self._is_cut, len(line) >= LONGEST and line[-1] != "\n"
            if was_cut:
                self._is_cut = line[-1:] != "\n"
                continue
            self.lines += 1
            stream, text = _unwrapped(line.rstrip("\r\n")[:LONGEST])
            entry = self._entry(stream, text)
            if entry is None:
                self._continue(text)
                continue
            yield from self.end()
            self._open = entry

    def end(self) -> Iterator[LogEntry]:
        """Yield the last entry, which nothing ended."""
        entry, rest = self._open, self._rest
        self._open, self._rest = None, []
        if entry is None:
            return
        text = "\n".join([entry.text, *rest])
        if not entry.logger and (match := _LOGGER_BEHIND.search(text)):
            entry, text = replace(entry, logger=match[1]), text[: match.start()]
        if own := _NODE.search(text) or _NODE.search(entry.thread):
            self._nodes[entry.stream] = int(next(filter(None, own.groups())))
        yield replace(entry, text=text, node_id=self._nodes.get(entry.stream))

    def _continue(self, text: str) -> None:
        rest = self._rest
        is_kept = len(rest) < MOST_LINES or text.lstrip().startswith(_KEPT)
        if self._open is not None and is_kept and len(rest) < 4 * MOST_LINES:
            rest.append(text)

    def _entry(self, stream: str, text: str) -> LogEntry | None:
        if match := _SIMPLE.search(text):
            time, thread, level, logger, message = match.groups()
        elif match := _DEFAULT.search(text):
            (time, level, message), thread = match.groups(), ""
            behind = _LOGGER_BEHIND.search(message)
            logger = behind[1] if behind else ""
            message = message[: behind.start()] if behind else message
        else:
            return None
        stream = stream or _VARIES.sub("", match.string[: match.start()]).strip()
        dated = len(time) > 12
        return LogEntry(
            source=self.source,
            line=self.lines,
            time=_dated(time) if dated else self._of_day(stream, time),
            dated=dated,
            level=level,
            logger=logger,
            text=message,
            stream=stream,
            thread=thread,
        )

    def _of_day(self, stream: str, text: str) -> int:
        """Return the time since the first midnight; a day has passed where the clock went back."""
        hours, minutes, seconds = text[:2], text[3:5], text[6:8]
        time = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + int(text[9:12])
        days, last = self._days.get(stream, (0, time))
        days += last - time > _DAY // 2
        self._days[stream] = days, time
        return days * _DAY + time


def _dated(text: str) -> int | None:
    try:
        time = datetime.fromisoformat(text.replace(",", "."))
    except ValueError:  # a 31st of June
        return None
    return round(time.replace(tzinfo=UTC).timestamp() * 1000)


def _unwrapped(line: str) -> tuple[str, str]:
    """Return the stream and the line without what Docker's and Kubernetes' tools add."""
    if line.startswith("{") and '"log":' in line:
        try:
            text = json.loads(line)["log"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return "", line
        return "", text.rstrip("\r\n") if isinstance(text, str) else line
    if match := _PREFIX_TIME.match(line):
        return "", line[match.end() :]
    if " | " in line[:80]:  # docker compose
        stream, _, text = line.partition(" | ")
        return (stream.strip(), text) if " " not in stream.strip() else ("", line)
    if line.startswith("[pod/"):
        stream, _, text = line.partition("] ")
        return f"{stream}]", text
    return "", line
