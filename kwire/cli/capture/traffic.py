"""Counts of the traffic in captures: versions, slowest calls, errors, gaps, connections by node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import typer

from kwire.capture import NOTICE, REQUEST, CaptureRecord
from kwire.capture.client_versions import used_versions
from kwire.cli.capture.facts import time_text
from kwire.cli.output import Column, Output, Table, number_columns, text_columns
from kwire.messages.registry import api_name
from kwire.pipeline.frame import read_frame

Values = dict[str, Any]
EventRange = tuple[int, int, int, int]
"""First and last event, and the times of both, in microseconds of Unix time."""


@dataclass(slots=True)
class Traffic:
    """The calls of captures. slowest: of each API. nodes: by upstream and node id."""

    slowest: dict[str, Values] = field(default_factory=dict)
    errors: Counter[tuple[str, str | None, str]] = field(default_factory=Counter)
    nodes: dict[tuple[str, int | None], Values] = field(default_factory=dict)
    ranges: dict[str, list[EventRange]] = field(default_factory=dict)

    def tables(self, events: Iterable[list[CaptureRecord]]) -> list[Table]:
        """Count all events; return the tables that people see. events: the records of each."""
        versions = [
            {
                "clientId": used.client_id,
                **{name: getattr(used, name) for name in _USED},
                "clients": len(used.hosts),
            }
            for used in used_versions(self._followed(events))
        ]
        slowest = sorted(self.slowest.values(), key=lambda one: -one["slowestMs"])
        errors = [
            {"api": api, "clientId": client, "failure": name, "calls": count}
            for (api, client, name), count in self.errors.most_common()
        ]
        nodes = [
            one | {"connections": len(one["connections"])}
            for _, one in sorted(self.nodes.items(), key=lambda item: str(item[0]))
        ]
        return [
            Table("versions", [*text_columns("clientId"), *_columns(*_USED, "clients")], versions),
            Table("slowest", _columns("api", "calls", "slowestMs", "event", "clientId"), slowest),
            Table("errors", _columns("api", "clientId", "failure", "calls"), errors),
            Table("gaps", _columns("recording", "missing", "after", "before"), self._gaps()),
            Table("nodes", _columns("upstream", "nodeId", "connections", "calls"), nodes),
        ]

    def _followed(self, events: Iterable[list[CaptureRecord]]) -> Iterator[list[CaptureRecord]]:
        for records in events:
            self._follow_numbers(records[0])
            if records[0].kind != NOTICE:
                self._add(records)
            yield records

    def _follow_numbers(self, record: CaptureRecord) -> None:
        ranges = self.ranges.setdefault(record.capture, [])
        event, at = record.event, record.at_us
        if ranges and ranges[-1][1] in (event - 1, event):
            first, _, begin, end = ranges[-1]
            ranges[-1] = first, event, begin, max(at, end)
        else:
            ranges.append((event, event, at, at))

    def _add(self, records: list[CaptureRecord]) -> None:
        first, last = records[0], records[-1]
        api = "unknown API" if first.api_key is None else api_name(first.api_key)
        own: Values = {"upstream": first.upstream, "nodeId": first.node_id}
        own |= {"connections": set(), "calls": 0}
        node = self.nodes.setdefault((first.upstream, first.node_id), own)
        node["connections"].add((first.capture, first.connection))
        node["calls"] += 1
        slowest = self.slowest.setdefault(api, {"api": api, "calls": 0, "slowestMs": 0.0})
        slowest["calls"] += 1
        took = round((last.monotonic_ns - first.monotonic_ns) / 1e6, 3)
        if first is not last and took >= slowest["slowestMs"]:
            slowest |= {"slowestMs": took, "event": first.event, "clientId": first.client_id}
        if failure := _failure(first, last):
            self.errors[api, first.client_id, failure] += 1

    def _gaps(self) -> Iterator[Values]:
        for recording, ranges in sorted(self.ranges.items()):
            until = end = None
            for first, last, begin, finish in sorted(ranges):
                if until is not None and first > until + 1:
                    times = {"after": time_text(end), "before": time_text(begin)}
                    yield {"recording": recording, "missing": first - until - 1, **times}
                until = last if until is None else max(until, last)
                end = finish


def print_traffic(table: Table) -> None:
    """Print a table for people, with its title; of versions those that Kafka 4 does not answer."""
    if table.name == "versions" and table.rows:
        count = len(table.rows)
        table = Table("versions", table.columns, [row for row in table.rows if row["blocked"]])
        if not table.rows:
            typer.echo(f"\nKafka 4 answers all versions that were used ({count} by client and API)")
    if table.rows:
        typer.echo(f"\n{_TITLES[table.name]}:")
        Output().show(table)


def _failure(first: CaptureRecord, last: CaptureRecord) -> str | None:
    """Return the first error in the response, or what became of a request without one."""
    if last.kind == REQUEST:
        return None if last.ending in ("ANSWERED", "NO_RESPONSE") else last.ending
    found = read_frame(
        last.frame, last.size, first.api_key, first.api_version, is_request=False, bodies=False
    )
    if found.error is not None:
        return found.status
    return str(found.errors[0]["name"]) if found.errors else None


def _columns(*keys: str) -> list[Column]:
    numbers = {*_USED[1:], "clients", "slowestMs", "event", "missing", "connections"}
    made = (number_columns(key) if key in numbers else text_columns(key) for key in keys)
    return [column for (column,) in made]


_TITLES = {
    "versions": "versions that Kafka 4 does not answer (--json has all)",
    "slowest": "slowest call of each API (fetches may wait for records)",
    "errors": "errors, and requests without a response",
    "gaps": "events that are missing in a recording",
    "nodes": "connections by node",
}
_USED = ("api", "lowest", "highest", "needed", "blocked", "calls")
