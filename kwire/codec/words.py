"""The construct that each word of a declaration stands for, by the kind that its node names."""

from __future__ import annotations

from collections.abc import Mapping

from construct import Construct, Flag, Float64b

from kwire.codec.constructs import INTEGERS, Blob, Records, Sized, Text, compact, uuid, uvarint

FIXED: Mapping[str, Construct] = {
    **{kind: con for con, kind in INTEGERS.items()},
    "float64": Float64b,
    "boolean": Flag,
    "uuid": uuid,
    "uvarint": uvarint,
    "compact": compact,
}
"""Values of their own size; `uvarint` and `compact` are lengths and markers."""

LENGTHY: Mapping[str, type[Sized]] = {"string": Text, "bytes": Blob, "records": Records}
"""Values that a length precedes."""
