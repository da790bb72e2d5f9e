"""`kwire log history` and `blame`: what changed in the metadata, and what set each value last."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.event_loop import run
from kwire.cli.exit_codes import exit_code
from kwire.cli.metadata_sources import SourceOptions
from kwire.cli.options import argument, option, reads_options, repeated
from kwire.cli.output import Column, Output, OutputOptions, Table, cell_text, number_columns
from kwire.text.times import moment

if TYPE_CHECKING:
    from kwire.metadata_history.history import LoggedChange
    from kwire.metadata_history.reading import HistoryReading
    from kwire.metadata_history.requests import CausingRequest, RecordedRequests

_SPAN = re.compile(r"(\d{1,9})\s*(s|m|min|h|d)", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}

Changes = Callable[[Iterable["LoggedChange"]], Iterable["LoggedChange"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """The options of what is read of a log."""

    path: str = argument(
        default="/",
        metavar="[PATH]",
        help="A path of `kwire shell`, as /topics/orders, /partitions/orders-3,"
        " /configs/BROKER:1, /acls, /voters; / is everything. Globs are possible.",
    )
    directory: Path | None = option(
        "--directory",
        "-d",
        metavar="DIR",
        help="Read the folder __cluster_metadata-0, or the log directory that has it.",
    )
    since: str | None = option(
        metavar="TIME", help="Only what changed since then: 30m, 2h, 7d, by the leader's clock."
    )
    offset: int | None = option(
        "--at", metavar="OFFSET", min=0, help="Only up to this offset, as it was there."
    )
    recording: list[Path] = repeated(
        "--recording",
        metavar="FILE",
        help="Captures of `kwire proxy -w`, or folders of them: print the request that caused each"
        " change, its principal and its client id.",
    )

    def show(
        self, sources: SourceOptions, printed: OutputOptions, changes: Changes, table: _TableKind
    ) -> None:
        """Print the changes under the path, and what is to be said about them.

        Of a log that is broken, what stands before that is printed.
        """
        from kwire.metadata_history.paths import PathFilter

        output, earliest = printed.output(), self._earliest()
        with exit_code(output):
            if not self.path.startswith("/"):
                raise WrongUsage(f"{self.path!r}: a path begins with /, as /topics/{self.path}.")
            chosen, requests = PathFilter(self.path), self._requests()
            reading, failed = self._reading(sources), _FirstError()
            reading.history.wanted = chosen.__contains__
            rows = [
                _row(change, requests)
                for change in changes(_noted(requests, failed.until(reading.changes(self.offset))))
                if change.entry.path in chosen
                and (earliest is None or change.place.timestamp >= earliest)
            ]
            sentences = list(reading.sentences())
            sentences += [] if requests is None else requests.sentences()
            if output.is_document and failed.error is not None:
                sentences.append(f"read up to the damage: {failed.error}")
            facts = {"notes": sentences} if output.is_document else {}
            columns = [*table.columns, *(_CAUSE if requests is not None else ())]
            if failed.error is None or rows:
                empty = f"{table.empty} under {self.path}"
                output.show(Table(table.name, columns, rows, key="path", facts=facts), empty=empty)
            for sentence in () if output.is_document else sentences:
                output.warn(sentence)
            if failed.error is not None:
                _end_with(failed.error, output, is_printed=bool(rows))

    def _reading(self, sources: SourceOptions) -> HistoryReading:
        from kwire.metadata_history.reading import live_history, stored_history

        if self.directory is not None:
            if sources.names_cluster:
                raise WrongUsage("give --directory or the options of a cluster, not both.")
            return stored_history(self.directory)
        cluster = sources.cluster()

        async def read() -> HistoryReading:
            async with cluster.notice():
                return await live_history(
                    cluster.controllers, security=cluster.security, timeouts=cluster.timeouts
                )

        return run(read())

    def _requests(self) -> RecordedRequests | None:
        if not self.recording:
            return None
        from kwire.cli.capture.files import files, records_of
        from kwire.metadata_history.requests import RecordedRequests

        return RecordedRequests.of(records_of(files(self.recording)))

    def _earliest(self) -> float | None:
        """Return the time of --since in milliseconds since 1970. Raises WrongUsage."""
        if self.since is None:
            return None
        match = _SPAN.fullmatch(self.since.strip())
        if match is None:
            raise WrongUsage(f"--since {self.since}: write 30m, 2h or 7d.")
        return (time.time() - int(match[1]) * _SECONDS[match[2]]) * 1000


def _end_with(error: Exception, output: Output, *, is_printed: bool) -> NoReturn:
    """End the command with an error; as JSON, the one object that is printed has it already."""
    if output.is_document and is_printed:
        output.warn(str(error))
        raise typer.Exit(1)
    raise error


class _FirstError:
    """Ends a sequence at an error about a file, and keeps it."""

    error: Exception | None = None

    def until(self, changes: Iterable[LoggedChange]) -> Iterator[LoggedChange]:
        from kwire.errors import FileError

        try:
            yield from changes
        except FileError as error:
            self.error = error


def _noted(
    requests: RecordedRequests | None, changes: Iterable[LoggedChange]
) -> Iterator[LoggedChange]:
    for change in changes:
        if requests is not None:
            requests.note_topic(change)
        yield change


@reads_options
def history(asked: HistoryOptions, sources: SourceOptions, printed: OutputOptions) -> None:
    """Print every change of a value in the metadata: when, by which leader, from what to what.

    A directory has the history since its log begins, a running quorum since its leader's last
    checkpoint; what stands there already is no change. In a directory the last records may not be
    committed. With a recording of the proxy, see who asked for each change.

    \b
    kwire log history /topics/orders --directory /var/lib/kafka/metadata
    kwire log history /configs --since 2h --bootstrap-controller localhost:9093
    kwire log history --since 12h -d /var/lib/kafka/metadata --recording /var/log/kwire
    """

    def logged(changes: Iterable[LoggedChange]) -> Iterator[LoggedChange]:
        from kwire.metadata_history.history import Origin

        return (change for change in changes if change.place.origin is not Origin.CHECKPOINT)

    asked.show(sources, printed, logged, _HISTORY)


@reads_options
def blame(asked: HistoryOptions, sources: SourceOptions, printed: OutputOptions) -> None:
    """Print every value under a path with the change that set it last.

    An offset with a ≤ stands for the checkpoint that the log begins with: the value was set there
    or before.

    \b
    kwire log blame /topics/orders --directory /var/lib/kafka/metadata
    kwire log blame /configs --at 178 --bootstrap-controller localhost:9093
    """
    from kwire.metadata_history.history import blame as last_changes

    asked.show(sources, printed, last_changes, _BLAME)


def _row(change: LoggedChange, requests: RecordedRequests | None) -> dict[str, Any]:
    place, entry = change.place, change.entry
    when = moment(place.timestamp / 1000) if place.timestamp > 0 else None
    row: dict[str, Any] = {
        "offset": place.offset,
        "time": when and when.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "epoch": place.epoch,
        "leaderId": place.leader_id,
        "path": entry.path,
        "field": entry.field,
        "before": entry.before,
        "after": entry.after,
        "origin": place.origin.value,
    }
    return row if requests is None else row | _cause_values(requests.cause(change))


def _cause_values(cause: CausingRequest | None) -> dict[str, Any]:
    if cause is None:
        return {"request": None, "principal": None, "clientId": None, "client": None, "match": None}
    return {
        "request": cause.request,
        "principal": cause.principal,
        "clientId": cause.client_id,
        "client": cause.client,
        "match": cause.match.value,
    }


def _offset_text(row: Mapping[str, Any]) -> str:
    match row.get("origin"):
        case "formatting":
            return "formatting"
        case "checkpoint":
            return f"≤{row['offset']}"
    return ""


def _value_text(value: Any) -> str:
    """Return a value for a cell, in which what is not there differs from an empty text."""
    if value is None:
        return "-"
    return {"": '""', "[]": "[]"}.get(str(value)) or cell_text(value)


def _not_recorded(row: Mapping[str, Any]) -> str:
    return "" if row.get("match") else "not recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableKind:
    name: str
    columns: list[Column]
    empty: str


_PLACE = [
    Column(key="offset", right=True, instead=_offset_text),
    Column(key="time"),
    *number_columns("epoch"),
    Column(key="leaderId", title="Leader", right=True),
    Column(key="path"),
    Column(key="field"),
]
_AFTER = Column(key="after", text=_value_text)
_ORIGIN = Column(key="origin", wide=True)
_HISTORY = _TableKind(
    name="changes",
    columns=[*_PLACE, Column(key="before", text=_value_text), _AFTER, _ORIGIN],
    empty="nothing changed",
)
_BLAME = _TableKind(
    name="values",
    columns=[*_PLACE, Column(key="after", title="Value", text=_value_text), _ORIGIN],
    empty="there is nothing",
)
_CAUSE = [
    Column(key="request", instead=_not_recorded),
    Column(key="principal"),
    Column(key="clientId"),
    Column(key="client", wide=True),
    Column(key="match"),
]
