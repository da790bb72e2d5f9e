"""The tables `frames` and `messages`: every frame, and the content of those that decode."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire import message
from kwire.capture import REQUEST, RESPONSE
from kwire.messages.index import APIS
from kwire.pipeline.columns import struct_of
from kwire.pipeline.frame import DECODED
from kwire.pipeline.tables.shape import shaped
from kwire.pipeline.typed import TYPED_APIS, snake


def frames(decoded: DataFrame) -> DataFrame:
    """Return a row for every row of DECODED, without the bodies."""
    return shaped(decoded, "frames")


def messages(decoded: DataFrame) -> DataFrame:
    """Return a row for every frame that decodes, its content typed or as a variant."""
    rows = decoded.where(f.col("status") == DECODED)
    # APIs of the quorum are structs of all versions at once, others variants (docs/decisions/0022).
    typed = f.col("api_key").isin(*TYPED_APIS)
    columns = {
        snake(f"{APIS[key]}{side}"): _parsed(key, side)
        for key in TYPED_APIS
        for side in ("Request", "Response")
    }
    columns["body"] = f.when(~typed, f.try_parse_json("body"))
    return shaped(rows.withColumns(columns), "messages")


def _parsed(key: int, side: str) -> Column:
    kind = REQUEST if side == "Request" else RESPONSE
    is_this_message = (f.col("api_key") == key) & (f.col("kind") == kind)
    return f.when(is_this_message, f.from_json("body", struct_of(message(f"{APIS[key]}{side}"))))
