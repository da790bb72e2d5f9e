"""What batches of all formats begin with, and how a fixed layout becomes quick to read."""

from __future__ import annotations

from struct import Struct as Packed

import construct
from construct import Int8sb, Int32sb, Int64sb

START = construct.Struct("base_offset" / Int64sb, "length" / Int32sb)
"""`length` counts what comes behind it. The next four bytes differ by format."""

PREFIX: int = START.sizeof()
MAGIC: int = PREFIX + Int32sb.sizeof()
"""Where every format says which it is."""
HEAD: int = MAGIC + Int8sb.sizeof()
"""Bytes that tell how long a batch is and which format it has."""


def packed(header: construct.Struct) -> Packed:
    """The same fixed-size layout for the standard library's struct, which is 20 times as fast."""
    return Packed(">" + "".join(field.subcon.fmtstr[1:] for field in header.subcons))


START_LAYOUT = packed(START)
