"""Flows and notices as capture records that fit a datagram, and back."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kwire.capture import CaptureRecord
from kwire.proxy.capture.records import event_records, events
from kwire.proxy.feed.datagrams import LIMIT, BadDatagram, encode_array
from kwire.proxy.flows.flow import Event
from kwire.proxy.flows.text import TEXT_SHOWN, printable

ROOM = LIMIT - 256
"""Bytes for the records in a datagram; seal, sequence and other fields take the rest."""

_SENTENCES, _SENTENCE = 4, 300  # how many problems and notes of a flow, and characters of each
_END_OF_TIME_US = 253_402_300_800_000_000  # the year 10000, which datetime cannot express


def records_of_event(
    event: Event, number: int, feed: str, monotonic: float = 0.0
) -> tuple[CaptureRecord, ...]:
    """Return the records of an event, with secrets masked and texts short and printable.

    monotonic: seconds, when a notice came.
    """
    return tuple(_shorten_texts(record) for record in event_records(event, number, feed, monotonic))


def shorten_frames(
    records: tuple[CaptureRecord, ...], room: int = ROOM
) -> tuple[CaptureRecord, ...]:
    """Cut the frames of records so that they fit so many bytes.

    The shorter frame stays whole if it takes half of the room or less. A record's `size` is still
    that of the whole frame, so that a viewer can ask for the rest.
    """
    encoded = len(encode_array(records))
    if encoded <= room:
        return records
    lengths = [len(record.frame or b"") for record in records]
    room -= encoded - sum(lengths)
    shorter = min(lengths) if len(lengths) > 1 else 0
    share = room - shorter if shorter <= room // 2 else room // 2
    return tuple(_cut(record, max(share, 0)) for record in records)


def event_of_records(records: Sequence[CaptureRecord]) -> tuple[int, Event]:
    """Return the number of an event and the event. Raises BadDatagram if they are not one event."""
    if any(not 0 <= record.at_us < _END_OF_TIME_US for record in records):
        raise BadDatagram("a record with a time out of range")
    decoded = list(events(records))
    if len(decoded) != 1:
        raise BadDatagram(f"{len(decoded)} events in place of one")
    event = decoded[0]
    assert isinstance(event, Event)
    return records[0].event, event


def _shorten_texts(record: CaptureRecord) -> CaptureRecord:
    client_id, text = record.client_id or "", record.text or ""
    is_short = len(client_id) <= TEXT_SHOWN and client_id.isprintable()
    if is_short and not (record.problems or record.notes or text):
        return record
    return msgspec.structs.replace(
        record,
        client_id=None if record.client_id is None else printable(client_id),
        problems=_first_sentences(record.problems),
        notes=_first_sentences(record.notes),
        text=None if record.text is None else printable(text, _SENTENCE),
    )


def _first_sentences(sentences: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(printable(sentence, _SENTENCE) for sentence in sentences[:_SENTENCES])


def _cut(record: CaptureRecord, length: int) -> CaptureRecord:
    if record.frame is None or len(record.frame) <= length:
        return record
    return msgspec.structs.replace(record, frame=record.frame[:length])
