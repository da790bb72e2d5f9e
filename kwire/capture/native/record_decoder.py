"""The native decoder of captured records, described by their Avro schema."""

from __future__ import annotations

from typing import Any

from kwire.capture.native._capture import Decoder
from kwire.capture.record import CaptureRecord
from kwire.capture.schema import schema

_KINDS = {
    "long": "long",
    "string": "text",
    "['null', 'int']": "optional long",
    "['null', 'string']": "optional text",
    "['null', 'bytes']": "optional bytes",
    "timestamp-micros": "long",
    "enum": "choice",
    "array": "texts",
}
"""Kinds of fields by what tells their Avro types apart."""

_ATTRIBUTES = {"at": "at_us"}


def decoder_of(version: int) -> Decoder:
    """Return the decoder of a version of the schema. Its records end with a CRC, left unread."""
    *fields, _crc = schema(version)["fields"]
    parts = [_part(field["name"], field["type"]) for field in fields]
    there = {name for name, _, _ in parts}
    # The only field that an older version lacks is an array.
    parts += [(name, "absent", ()) for name in CaptureRecord.__struct_fields__ if name not in there]
    return Decoder(CaptureRecord, tuple(parts))


def _part(name: str, kind: Any) -> tuple[str, str, Any]:
    values: tuple[str, ...] = ()
    if isinstance(kind, dict):
        values = tuple(kind.get("symbols", ()))
        kind = kind.get("logicalType", kind["type"])
    return _ATTRIBUTES.get(name, name), _KINDS[str(kind)], values
