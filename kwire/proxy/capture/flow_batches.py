"""Usual flows as encoded records, many in one call of the C extension.

Usual: nothing may have to be masked, no filter or rule did anything, no problem. All other events
are left to `event_records` and `RecordEncoder`, whose bytes these are.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import msgspec

from kwire.capture import REQUEST, RESPONSE, CaptureRecord, RecordEncoder
from kwire.capture.encoding import EncodedRecords, OpenRecord, behind_frame
from kwire.capture.file import BLOCK_SIZE, Encoded
from kwire.proxy.capture.records import event_records
from kwire.proxy.capture.redaction import PLAIN_APIS, is_plain
from kwire.proxy.flows.flow import FLOW_WEIGHT, Event, Flow, Outcome

LONG = 64 * 1024
"""Bytes of a frame from which on it is not copied into the records of a batch."""


class Stamped(NamedTuple):
    """An event with what the data path knew of it. lost: how many before it found no room."""

    event: Event
    lost: int
    at: float


class FlowBatch(NamedTuple):
    """The records of some flows. flows: how many; weight: the sum of theirs."""

    records: tuple[Encoded, ...]
    flows: int
    weight: int

    @property
    def has_long(self) -> bool:
        """True if a record has a long frame."""
        return any(isinstance(record, OpenRecord) for record in self.records)


class FlowBatchEncoder:
    """Encodes the flows of a recording.

    capture: its id. show_secrets: nothing is masked. frame_limit: bytes of a frame that are
    written, else all. Raises ImportError where the extension was not built.
    """

    def __init__(
        self, capture: str, *, show_secrets: bool = False, frame_limit: int | None = None
    ) -> None:
        from kwire.capture.native import FlowEncoder

        prefixes = _Prefixes(capture)
        limits = -1 if frame_limit is None else frame_limit, LONG, BLOCK_SIZE, FLOW_WEIGHT
        endings = tuple((outcome, _rest(outcome.name)) for outcome in Outcome)
        decide = _always if show_secrets else is_plain
        plain_keys = bytes(sorted(PLAIN_APIS))
        rest = _rest(None)
        self._encoder = FlowEncoder(Flow, prefixes.of, decide, plain_keys, endings, rest, limits)

    def encode(
        self, queue: deque[Flow | Stamped], number: int
    ) -> tuple[FlowBatch, Flow | Stamped | None]:
        """Take usual flows from a queue: about a block of records, or up to a long one.

        Returns the event behind them, too; None if that is usual, or there is none. number: of the
        first flow.
        """
        data, count, alone, flows, weight, event = self._encoder.encode(queue, number)
        records: tuple[Encoded, ...] = (EncodedRecords(data, count),) if count else ()
        for record in alone or ():
            records += (OpenRecord(*record) if isinstance(record, tuple) else record,)
        return FlowBatch(records, flows, weight), event


class _Prefixes:
    """The beginnings of records: request and response."""

    def __init__(self, capture: str) -> None:
        self._capture = capture
        self._encoder = RecordEncoder()

    def of(self, flow: Flow) -> tuple[bytes, bytes]:
        request = next(event_records(flow, 0, self._capture, show_secrets=True))
        response = msgspec.structs.replace(request, kind=RESPONSE)
        return self._encoder.prefix(request), self._encoder.prefix(response)


def _rest(ending: str | None) -> bytes:
    """Return the bytes between frame and CRC of a record that has nothing else there."""
    record = CaptureRecord(
        capture="",
        connection=0,
        client="",
        upstream="",
        kind=REQUEST,
        event=0,
        at_us=0,
        monotonic_ns=0,
        ending=ending,
    )
    return behind_frame(record)


def _always(flow: Flow) -> bool:
    return True
