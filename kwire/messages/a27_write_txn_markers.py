"""WriteTxnMarkers, API key 27."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, int8, int16, int32, int64, since, string


class WritableTxnMarkerTopic(Group):
    name: str = string
    partition_indexes: tuple[int, ...] = array(int32)


class WritableTxnMarker(Group):
    producer_id: int = int64
    producer_epoch: int = int16
    transaction_result: bool = boolean
    topics: list[WritableTxnMarkerTopic] = array(WritableTxnMarkerTopic)
    coordinator_epoch: int = int32
    transaction_version: int = since(2, int8, ignorable=True)


class WriteTxnMarkersRequest(Request, key=27, versions="0-2", flexible="1+", listeners="broker"):
    """A transaction coordinator has leaders log the outcome of transactions (KIP-98)."""

    markers: list[WritableTxnMarker] = array(WritableTxnMarker)


class WritableTxnMarkerPartitionResult(Group):
    partition_index: int = int32
    error_code: int = int16


class WritableTxnMarkerTopicResult(Group):
    name: str = string
    partitions: list[WritableTxnMarkerPartitionResult] = array(WritableTxnMarkerPartitionResult)


class WritableTxnMarkerResult(Group):
    producer_id: int = int64
    topics: list[WritableTxnMarkerTopicResult] = array(WritableTxnMarkerTopicResult)


class WriteTxnMarkersResponse(Response, key=27, versions="0-2", flexible="1+"):
    """A broker says in which partitions it has logged the outcome (KIP-98)."""

    markers: list[WritableTxnMarkerResult] = array(WritableTxnMarkerResult)
