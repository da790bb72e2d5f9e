"""Records and captures for the tests, made by hand."""

from __future__ import annotations

from pathlib import Path

from kwire.capture import (
    NOTICE,
    REQUEST,
    RESPONSE,
    CaptureFile,
    CaptureRecord,
    Damage,
    RecordEncoder,
    read_capture,
)

CAPTURE = "AAAAAAAAQACAAAAAAAAwAA"


def record(event: int = 0, **changes: object) -> CaptureRecord:
    """A Vote request."""
    fields: dict[str, object] = {
        "capture": CAPTURE,
        "connection": 7,
        "node_id": 3000,
        "peer_id": 1,
        "client": "127.0.0.1:50000",
        "upstream": "127.0.0.1:9093",
        "kind": REQUEST,
        "api_key": 52,
        "api_version": 2,
        "client_id": "raft-client-1",
        "event": event,
        "at_us": 1_795_246_073_056_000 + event,
        "monotonic_ns": 123_456_789_012 + event,
        "correlation_id": event,
        "size": 40,
        "frame": bytes(range(40)),
        "ending": "ANSWERED",
    }
    return CaptureRecord(**(fields | changes))  # type: ignore[arg-type]


KINDS = (
    record(),
    record(1, kind=RESPONSE, ending=None, frame=b"", size=0),
    record(2, kind=NOTICE, frame=None, size=None, notice="OPENED", text="ä opened"),
    record(
        3,
        problems=("one", "two"),
        notes=("delayed",),
        deeds=("HELD", "DELAYED"),
        redaction="fields",
        node_id=None,
    ),
    record(2**40, correlation_id=-(2**31), client_id=None, api_key=None),
)
"""One of each kind."""


def old_clients() -> list[CaptureRecord]:
    """Calls of clients of several ages: answered, without an answer, an answer alone, a notice."""
    till = {"client_id": "till", "api_key": 1, "frame": None}
    return [
        record(0, **till, api_version=3, client="10.0.0.1:5000"),
        record(0, **till, api_version=3, client="10.0.0.1:5000", kind=RESPONSE, ending=None),
        record(1, **till, api_version=3, client="10.0.0.1:5001", ending="LOST"),
        record(2, **till, api_version=4, client="[fe80::1]:5000"),
        record(3, kind=NOTICE, frame=None, size=None, notice="OPENED", text="opened"),
        record(4, client_id=None, api_key=1, api_version=12, kind=RESPONSE, ending=None),
        record(5, client_id="till", api_key=9999, api_version=1, frame=None),
        record(6, client_id="till"),
        record(7, client_id="till", api_key=None, api_version=None, frame=None),
    ]


def write(path: Path, records: list[CaptureRecord], block: int = 10) -> None:
    """A capture with so many records a block."""
    file, encoder = CaptureFile(path), RecordEncoder()
    for number, one in enumerate(records, 1):
        file.write(encoder.encode(one))
        if number % block == 0:
            file.flush()
    file.close()


def read(path: Path) -> tuple[list[CaptureRecord], list[Damage]]:
    """Its records and its damage."""
    records, damages = [], []
    for entry in read_capture(path):
        if isinstance(entry, Damage):
            damages.append(entry)
        else:
            records.append(entry)
    return records, damages
