"""A flow or a notice as records that fit a datagram, and back."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kwire.capture import CaptureRecord
from kwire.proxy.capture.records import event_records, events
from kwire.proxy.feed.datagrams import LIMIT, BadDatagram, encode_records
from kwire.proxy.flows.flow import Event
from kwire.proxy.flows.text import TEXT_SHOWN, printable

ROOM = LIMIT - 256
"""Bytes for the records in a datagram; what stands around them takes the rest."""

_SENTENCES, _SENTENCE = 4, 300
_LAST_MOMENT_US = 253_402_300_800_000_000  # the year 10000, which no clock of Python's knows


def records_of(
    event: Event, number: int, feed: str, monotonic: float = 0.0
) -> tuple[CaptureRecord, ...]:
    """Its records, secrets masked, texts short and printable. monotonic: when a notice came."""
    return tuple(_tidy(record) for record in event_records(event, number, feed, monotonic))


def fitted(records: tuple[CaptureRecord, ...], room: int = ROOM) -> tuple[CaptureRecord, ...]:
    """The records in so many bytes: the shorter frame whole where it takes half or less.

    A record's `size` still tells how long its frame was.
    """
    encoded = len(encode_records(records))
    if encoded <= room:
        return records
    lengths = [len(record.frame or b"") for record in records]
    room -= encoded - sum(lengths)
    least = min(lengths) if len(lengths) > 1 else 0
    share = room - least if least <= room // 2 else room // 2
    return tuple(_cut(record, max(share, 0)) for record in records)


def event_of(records: Sequence[CaptureRecord]) -> tuple[int, Event]:
    """The number of an event, and the event. Raises BadDatagram where the records are not one."""
    if any(not 0 <= record.at_us < _LAST_MOMENT_US for record in records):
        raise BadDatagram("a record of no time that there is")
    found = list(events(records))
    if len(found) != 1:
        raise BadDatagram(f"{len(found)} events in place of one")
    event = found[0]
    assert isinstance(event, Event)
    return records[0].event, event


def _tidy(record: CaptureRecord) -> CaptureRecord:
    client_id, text = record.client_id or "", record.text or ""
    is_tidy = len(client_id) <= TEXT_SHOWN and client_id.isprintable()
    if is_tidy and not (record.problems or record.notes or text):
        return record
    return msgspec.structs.replace(
        record,
        client_id=None if record.client_id is None else printable(client_id),
        problems=_few(record.problems),
        notes=_few(record.notes),
        text=None if record.text is None else printable(text, _SENTENCE),
    )


def _few(sentences: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(printable(one, _SENTENCE) for one in sentences[:_SENTENCES])


def _cut(record: CaptureRecord, length: int) -> CaptureRecord:
    if record.frame is None or len(record.frame) <= length:
        return record
    return msgspec.structs.replace(record, frame=record.frame[:length])
