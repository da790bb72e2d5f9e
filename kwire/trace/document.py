"""The content of a page: columns of flows, marks, lanes and declarations, and the frames' bytes.

Frames stand in the order of API, version and direction: those that are alike are near each other,
and need little room when compressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwire.error_codes import ErrorCode
from kwire.messages.index import APIS
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.proxy.flows.field_paths import field_paths
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.tree import ReadRecords
from kwire.text.ids import uuid_text
from kwire.trace.collected import Collected
from kwire.trace.marks import KINDS, TraceMark
from kwire.trace.rows import MICROS, OUTCOMES, FlowRows
from kwire.trace.schemas import schemas

_SPARSE = ("inner", "records", "cuts", "own", "problems", "notes")


def make_document(
    collected: Collected, read_records: ReadRecords, title: str, *, shared: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Return the content of a page for JSON, and the bytes of all frames. shared: without names."""
    flows = collected.flows()
    marks = sorted(collected.marks.thinned(collected.marks.room), key=lambda mark: mark.at)
    times = [flow.at for _, flow in flows[:1]] + [mark.at for mark in marks[:1]]
    rows = FlowRows(read_records, min(times, default=0.0))
    columns = _columns([rows.row(index, *numbered) for index, numbered in enumerate(flows)])
    indexes = {flow: index for index, (_, flow) in enumerate(flows)}
    columns["chain"] = rows.chains.found()
    columns["caused"] = {
        indexes[flow]: texts for flow, texts in collected.caused.items() if flow in indexes
    }
    data = {
        "title": title,
        "shared": shared,
        "begin": round(rows.begin * MICROS),
        "totals": dict(collected.totals),
        "says": collected.notes(len(flows)),
        "lanes": rows.lanes.named(),
        "flows": columns,
        "marks": [_mark(mark, rows.begin, indexes) for mark in marks],
        "kinds": dict(KINDS),
        "topics": {uuid_text(METADATA_TOPIC_ID): METADATA_TOPIC} | rows.topics,
        "apis": dict(APIS),
        "codes": {code.value: code.name for code in ErrorCode},
        "outcomes": [outcome.value for outcome in OUTCOMES],
        "strings": list(rows.strings),
        "sets": list(rows.sets),
        "trees": rows.trees,
        "schemas": schemas(rows.keys),
        "paths": field_paths(),
    }
    return data, b"".join(_placed(rows, columns))


def _placed(rows: FlowRows, columns: dict[str, Any]) -> Iterator[bytes]:
    """Yield the frames in their order, and note in two columns where each begins."""
    columns["places"] = places = [[0] * len(columns.get("n", ())) for _ in range(2)]
    end = 0
    for (_, _, direction, index), frame in sorted(rows.frames, key=lambda item: item[0]):
        places[direction][index] = end
        end += len(frame)
        yield frame


def _mark(mark: TraceMark, begin: float, indexes: dict[Flow, int]) -> list[Any]:
    """Return microseconds, kind, text, and the index of the flow, -1 for none in the page."""
    flow = -1 if mark.flow is None else indexes.get(mark.flow, -1)
    return [round((mark.at - begin) * MICROS), mark.kind, mark.text, flow]


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a list for each column; of those that few flows have, the values by index."""
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in (rows or [{}])[0]}
    for name in _SPARSE:
        values = enumerate(columns.get(name, ()))
        columns[name] = {index: value for index, value in values if value}
    return columns
