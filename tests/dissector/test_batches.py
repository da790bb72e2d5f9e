"""tshark shows the records of batches that Kafka's builders made, of all formats and codecs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest

import vectors
from kwire.dissector.proto_fields import snake
from kwire.messages.metadata_topic import METADATA_TOPIC
from tests.support.dissector.packets import fetched, write_exchanges
from tests.support.dissector.trees import differences, raw, roots, show
from tests.support.dissector.tshark import Tshark
from vectors import BatchVector

pytestmark = pytest.mark.java

RELEASE = "4.4.0"
NOT_UNPACKED = "zstd"
"""Wireshark 4.0 offers Lua no zstd."""

LARGEST = 20_000
"""Bytes; the last vector of each kind fills 100 kB with more of the same."""


def test_the_records_of_every_batch_are_shown(tshark: Tshark, tmp_path: Path) -> None:
    chosen = [batch for batch in vectors.batches(RELEASE) if len(batch.data) < LARGEST]
    path = tmp_path / "batches.pcapng"
    write_exchanges(path, (fetched(topic_of(batch), batch.data) for batch in chosen))
    frames = list(tshark.frames(path, "-J", "kwire"))[1::2]
    wrong = {
        f"{number} {batch.name}": found
        for number, (batch, frame) in enumerate(zip(chosen, frames, strict=True))
        if batch.decoded.error is None and (found := list(unequal(batch, frame)))
    }
    assert not wrong


def topic_of(batch: BatchVector) -> str:
    return METADATA_TOPIC if batch.name == "metadata" else "orders"


def unequal(vector: BatchVector, frame: Element) -> Iterator[str]:
    """Yield what the frame shows in another way than Kafka reads it."""
    partial = roots(frame, "kafka.batch.partial")
    if [len(raw(element)) for element in partial] != [vector.decoded.remaining] * bool(
        vector.decoded.remaining
    ):
        yield f"partial: {len(partial)}, wanted {vector.decoded.remaining} bytes"
    batches = vector.decoded.batches
    if batches and batches[0].magic < 2:
        return
    shown = roots(frame, "kafka.batch")
    if len(shown) != len(batches):
        yield f"{len(shown)} batches, wanted {len(batches)}"
        return
    for batch, element in zip(batches, shown, strict=True):
        records = roots(element, "kafka.record")
        if batch.compression == NOT_UNPACKED and batch.records:
            if not roots(element, "kafka.batch.compressed_records"):
                yield "compressed records are not shown"
        elif len(records) != len(batch.records):
            yield f"{batch.compression}: {len(records)} records, wanted {len(batch.records)}"
        else:
            for record, record_element in zip(batch.records, records, strict=True):
                yield from unequal_record(record, record_element)


def unequal_record(record: vectors.DecodedRecord, element: Element) -> Iterator[str]:
    values: dict[str, Any] = {
        "offset": only(element, "offset"),
        "timestamp": milliseconds(only(element, "timestamp")),
        "key": content(element, "key"),
        "value": content(element, "value"),
    }
    for name, value in values.items():
        if value != (str(record.offset) if name == "offset" else getattr(record, name)):
            yield f"{name}: {value!r}, wanted {getattr(record, name)!r}"
    keys = [raw(header).decode() for header in roots(element, "kafka.record.headers.key")]
    if keys != [key for key, _ in record.headers]:
        yield f"headers {keys}, wanted {record.headers}"
    if record.message is not None:
        found = roots(element, f"kafka.{snake(record.message.name)}")
        if len(found) != 1:
            yield f"no {record.message.name}"
        else:
            yield from differences(record.message.json, found[0])  # type: ignore[arg-type]


def only(element: Element, name: str) -> str:
    found = roots(element, f"kafka.record.{name}")
    return show(found[0]) if found else ""


def content(element: Element, name: str) -> bytes | None:
    found = roots(element, f"kafka.record.{name}")
    return raw(found[0]) if found else None


def milliseconds(text: str) -> int:
    """Return the time that Wireshark shows (`Nov 14, 2023 22:13:20.215000000 UTC`)."""
    if not text:
        return -1
    moment = datetime.strptime(text.removesuffix("000 UTC"), "%b %d, %Y %H:%M:%S.%f")
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)
