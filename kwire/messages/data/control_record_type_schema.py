"""ControlRecordTypeSchema."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import int16


class ControlRecordTypeSchema(Data, versions="0"):
    """The key of a control record tells which kind of record its value is (KIP-98)."""

    type: int = int16
