"""Frames as a pcapng file: requests with their responses in TCP connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kwire.capture import REQUEST, RESPONSE, CaptureRecord
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.net.frames import request_header_version, response_header_version
from kwire.proxy.capture.pcap_export import write_pcapng

NODE = "127.0.0.1:9093"

FETCH_BY_NAME = 12
"""The last version in which Fetch names topics; later ones have ids (KIP-516)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request's and a response's body; None where it was not seen."""

    key: int
    version: int
    request: bytes | None
    response: bytes | None = None
    client_id: str | None = "kwire"

    def request_frame(self, correlation_id: int) -> bytes:
        """Return the request without its size."""
        header = RequestHeader(
            request_api_key=self.key,
            request_api_version=self.version,
            correlation_id=correlation_id,
            client_id=self.client_id,
        )
        version = request_header_version(self.key, self.version)
        if version == 0:
            header.client_id = None
        return header.encode(version) + (self.request or b"")

    def response_frame(self, correlation_id: int) -> bytes:
        """Return the response without its size."""
        header = ResponseHeader(correlation_id=correlation_id)
        version = response_header_version(self.key, self.version)
        return header.encode(version) + (self.response or b"")


def fetched(topic: str, records: bytes) -> Exchange:
    """Return a Fetch that is answered with these records of a topic."""
    partition = PartitionData(records=records)
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic=topic, partitions=[partition])]
    )
    request = FetchRequest().encode(FETCH_BY_NAME)
    return Exchange(
        key=1, version=FETCH_BY_NAME, request=request, response=response.encode(FETCH_BY_NAME)
    )


def write_exchanges(path: Path, exchanges: Iterable[Exchange]) -> None:
    """Write a file in which a connection has all exchanges, one after the other."""
    with path.open("wb") as file:
        write_pcapng(_records(exchanges), file)


def _records(exchanges: Iterable[Exchange]) -> Iterator[CaptureRecord]:
    for number, exchange in enumerate(exchanges):
        if exchange.request is not None:
            yield record(REQUEST, exchange.request_frame(number), number)
        if exchange.response is not None:
            yield record(RESPONSE, exchange.response_frame(number), number)


def record(kind: str, frame: bytes, number: int, connection: int = 1) -> CaptureRecord:
    """Return a record of a capture; a millisecond passes between exchanges."""
    at_us = 1_790_000_000_000_000 + 1000 * number + (500 if kind == RESPONSE else 0)
    return CaptureRecord(
        capture="c",
        connection=connection,
        client=f"127.0.0.1:{40000 + connection}",
        upstream=NODE,
        kind=kind,
        event=number,
        at_us=at_us,
        monotonic_ns=0,
        size=len(frame),
        frame=frame,
    )
