"""The Avro schema of a capture, its version, and the header of a file.

A version changes when a field does; a reader takes its own version and all before it. The crc is
the last field in every version: CRC-32C, big-endian, of the record's bytes before it.
"""

from __future__ import annotations

from typing import Any

VERSION = 2
"""Of the schema below; a file names its own in its header."""

VERSION_KEY = "kwire.capture.version"

SECRETS_KEY, SECRETS_SHOWN = "kwire.capture.secrets", b"shown"
"""Metadata of a file whose secrets are not masked; all others leave it out."""

MAGIC = b"Obj\x01"
SYNC_SIZE = 16
CRC_SIZE = 4

_NUMBER = ["null", "int"]
_TEXT = ["null", "string"]


def _field(name: str, kind: Any, doc: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "doc": doc}


_KIND = {"type": "enum", "name": "Kind", "symbols": ["REQUEST", "RESPONSE", "NOTICE"]}
_MICROS = {"type": "long", "logicalType": "timestamp-micros"}
_CRC = {"type": "fixed", "name": "Crc", "size": CRC_SIZE}

CONNECTION_FIELDS = [
    _field("capture", "string", "id of the recording"),
    _field("connection", "long", "counts from 1 in one recording"),
    _field("node_id", _NUMBER, "the node behind the proxy"),
    _field("peer_id", _NUMBER, "the client, where it is a node itself"),
    _field("client", "string", "host:port"),
    _field("upstream", "string", "host:port"),
    _field("kind", _KIND, "direction of the frame, or no frame at all"),
    _field("api_key", _NUMBER, "of the request, in its response too"),
    _field("api_version", _NUMBER, "of the request, in its response too"),
    _field("client_id", _TEXT, "of the request, in its response too"),
]
"""The fields that many records share, so that they are encoded once for all of them."""

EVENT_FIELDS = [
    _field("event", "long", "counts from 0 in one recording; a response has its request's"),
    _field("at", _MICROS, "Unix time at the head of the frame"),
    _field("monotonic_ns", "long", "the same moment on a clock that never steps"),
    _field("correlation_id", _NUMBER, "as on the wire"),
    _field("size", _NUMBER, "bytes on the wire, without the four of the size"),
    _field("frame", ["null", "bytes"], "without its size; shorter than size where it was cut"),
    _field("redaction", _TEXT, "null: as it passed; fields, frame, names: what was taken out"),
    _field("ending", _TEXT, "of a request: ANSWERED, NO_RESPONSE, LOST, PENDING"),
    _field("problems", {"type": "array", "items": "string"}, "sentences about a request"),
    _field("notes", {"type": "array", "items": "string"}, "what filters did to a request"),
    _field("deeds", {"type": "array", "items": "string"}, "the same by kind: CHANGED, DROPPED, …"),
    _field("notice", _TEXT, "of a notice: OPENED, CLOSED, REFUSED, UNREADABLE, TIMED_OUT, …"),
    _field("text", _TEXT, "the sentence of a notice"),
    _field("crc", _CRC, "CRC-32C of the bytes of this record before it, big-endian"),
]

SINCE = {"deeds": 2}
"""The version that a field came with, where it was not the first."""


def schema(version: int) -> dict[str, Any]:
    """Return the schema of a version."""
    fields = [*CONNECTION_FIELDS, *EVENT_FIELDS]
    return {
        "type": "record",
        "name": "Record",
        "namespace": "kwire.capture",
        "doc": "One Kafka frame, or a notice about a connection.",
        "fields": [field for field in fields if SINCE.get(field["name"], 1) <= version],
    }


SCHEMA = schema(VERSION)
"""The Avro schema of the current version."""

HEADER = {
    "type": "record",
    "name": "Header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "Magic", "size": len(MAGIC)}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "Sync", "size": SYNC_SIZE}},
    ],
}
"""Of every Avro object container file (Avro specification, "Object Container Files")."""
