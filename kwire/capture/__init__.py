"""Captured traffic: what passed over the wire, in Avro container files that Spark reads as well.

    for record in read_capture(path):
        ...

One record is one frame, or a notice about a connection; docs/reference/capture-format.md has the
schema.
"""

from kwire.capture.encoding import RecordEncoder
from kwire.capture.file import CannotRecord, CaptureFile, CaptureFiles
from kwire.capture.leftover import leftovers, recover, set_aside
from kwire.capture.reading import (
    CaptureInfo,
    Damage,
    any_shows_secrets,
    capture_info,
    captures_at,
    read_capture,
)
from kwire.capture.record import NOTICE, REQUEST, RESPONSE, CaptureRecord
from kwire.capture.repair import Repair, repair_capture
from kwire.capture.schema import SCHEMA, VERSION
from kwire.capture.window import Window

__all__ = [
    "NOTICE",
    "REQUEST",
    "RESPONSE",
    "SCHEMA",
    "VERSION",
    "CannotRecord",
    "CaptureFile",
    "CaptureFiles",
    "CaptureInfo",
    "CaptureRecord",
    "Damage",
    "RecordEncoder",
    "Repair",
    "Window",
    "any_shows_secrets",
    "capture_info",
    "captures_at",
    "leftovers",
    "read_capture",
    "recover",
    "repair_capture",
    "set_aside",
]
