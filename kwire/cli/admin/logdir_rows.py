"""The rows of `kwire logdirs describe`: by directory, broker, topic or replica."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kwire.cli.output import (
    ERROR,
    MESSAGE,
    Column,
    Table,
    cell_text,
    error_document,
    number_columns,
    text_columns,
)

if TYPE_CHECKING:
    from kwire.admin.logdirs import LogDirDescription, LogDirsByPath
    from kwire.admin.outcomes import Outcomes

Shown = Callable[[str], bool]
"""True for a topic whose replicas are counted."""
Described = Iterable[tuple[int, str, "LogDirDescription"]]


class Grouping(StrEnum):
    """A row of `logdirs describe` is for one of these."""

    DIRECTORY = "directory"
    BROKER = "broker"
    TOPIC = "topic"
    REPLICA = "replica"


def size_text(value: Any) -> str:
    """Return bytes as people read them, 1.5 GiB."""
    if not isinstance(value, int) or isinstance(value, bool):
        return cell_text(value)
    if value < 1024:
        return f"{value} B"
    size = value / 1024
    units = iter(("KiB", "MiB", "GiB", "TiB", "PiB"))
    unit = next(units)
    while size >= 1024 and (larger := next(units, None)):
        size, unit = size / 1024, larger
    return f"{size:.1f} {unit}"


def size_column(key: str) -> Column:
    """Return a column of bytes: readable on a screen, exact elsewhere."""
    return Column(key=key, right=True, text=size_text)


def log_dir_table(outcomes: Outcomes[int, LogDirsByPath], by: Grouping, shown: Shown) -> Table:
    """Return the table of log directories; `shown` says which topics count."""
    failed = [
        {"broker": broker_id, **error_document(error)}
        for broker_id, error in outcomes.failed.items()
    ]
    name, columns, grouped = {
        Grouping.DIRECTORY: ("logDirs", DIRECTORY_COLUMNS, _by_directory),
        Grouping.BROKER: ("brokers", BROKER_COLUMNS, _by_broker),
        Grouping.TOPIC: ("topics", TOPIC_COLUMNS, _by_topic),
        Grouping.REPLICA: ("replicas", REPLICA_COLUMNS, _by_replica),
    }[by]
    return Table(name, [*columns, ERROR, MESSAGE], [*grouped(outcomes, shown), *failed])


DIRECTORY_COLUMNS = [
    Column(key="broker", right=True),
    Column(key="logDir"),
    Column(key="replicas", right=True),
    size_column("size"),
    size_column("totalBytes"),
    size_column("usableBytes"),
    Column(key="cordoned"),
]
BROKER_COLUMNS = [
    *number_columns("broker", "logDirs", "replicas"),
    size_column("size"),
]
TOPIC_COLUMNS = [
    Column(key="topic"),
    Column(key="replicas", right=True),
    size_column("size"),
    Column(key="brokers"),
    Column(key="broker", right=True, wide=True),
]
REPLICA_COLUMNS = [
    Column(key="broker", right=True),
    *text_columns("logDir", "topic"),
    Column(key="partition", right=True),
    size_column("size"),
    Column(key="offsetLag", right=True),
    Column(key="future"),
]


def _directories(outcomes: Outcomes[int, LogDirsByPath]) -> Described:
    for broker_id, directories in outcomes.items():
        for path, directory in sorted(directories.items()):
            yield broker_id, path, directory


def _by_directory(outcomes: Outcomes[int, LogDirsByPath], shown: Shown) -> Iterator[dict[str, Any]]:
    for broker_id, path, directory in _directories(outcomes):
        sizes = [held.size for key, held in directory.replicas.items() if shown(key.topic)]
        error = directory.error
        yield {
            "broker": broker_id,
            "logDir": path,
            # A disk that failed lists nothing: that it is empty is not known.
            "replicas": None if error else len(sizes),
            "size": None if error else sum(sizes),
            "totalBytes": directory.total_bytes,
            "usableBytes": directory.usable_bytes,
            "cordoned": directory.is_cordoned,
            **(error_document(error) if error else {"error": None, "message": None}),
        }


def _by_broker(outcomes: Outcomes[int, LogDirsByPath], shown: Shown) -> Iterator[dict[str, Any]]:
    for broker_id, directories in outcomes.items():
        sizes = [
            held.size
            for directory in directories.values()
            for key, held in directory.replicas.items()
            if shown(key.topic)
        ]
        broken = [directory.error for directory in directories.values() if directory.error]
        yield {
            "broker": broker_id,
            "logDirs": len(directories),
            "replicas": len(sizes),
            "size": sum(sizes),
            **(error_document(broken[0]) if broken else {"error": None, "message": None}),
        }


def _by_topic(outcomes: Outcomes[int, LogDirsByPath], shown: Shown) -> Iterator[dict[str, Any]]:
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    brokers: defaultdict[str, set[int]] = defaultdict(set)
    for broker_id, _, directory in _directories(outcomes):
        if directory.error:
            yield {"broker": broker_id, **error_document(directory.error)}
        for key, held in directory.replicas.items():
            if shown(key.topic):
                sizes[key.topic].append(held.size)
                brokers[key.topic].add(broker_id)
    for topic in sorted(sizes, key=lambda name: (-sum(sizes[name]), name)):
        yield {
            "topic": topic,
            "replicas": len(sizes[topic]),
            "size": sum(sizes[topic]),
            "brokers": sorted(brokers[topic]),
            "error": None,
            "message": None,
        }


def _by_replica(outcomes: Outcomes[int, LogDirsByPath], shown: Shown) -> Iterator[dict[str, Any]]:
    for broker_id, path, directory in _directories(outcomes):
        if directory.error:
            yield {"broker": broker_id, "logDir": path, **error_document(directory.error)}
        for key, held in sorted(directory.replicas.items()):
            if shown(key.topic):
                yield {
                    "broker": broker_id,
                    "logDir": path,
                    "topic": key.topic,
                    "partition": key.partition,
                    "size": held.size,
                    "offsetLag": held.offset_lag,
                    "future": held.is_future,
                    "error": None,
                    "message": None,
                }
