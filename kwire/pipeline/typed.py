"""The messages and records that have a struct column of their own: those of the quorum's KIPs."""

from __future__ import annotations

import re

import pyarrow as pa

from kwire import message
from kwire.batches.control_records import ControlRecordType
from kwire.messages.index import APIS, METADATA_RECORDS
from kwire.messages.registry import api_key
from kwire.pipeline.columns import column, struct_of

TYPED_APIS = tuple(
    map(
        api_key,
        (
            "Fetch",
            "Vote",
            "BeginQuorumEpoch",
            "EndQuorumEpoch",
            "DescribeQuorum",
            "AlterPartition",
            "UpdateFeatures",
            "FetchSnapshot",
            "BrokerRegistration",
            "BrokerHeartbeat",
            "UnregisterBroker",
            "AllocateProducerIds",
            "ControllerRegistration",
            "AssignReplicasToDirs",
            "AddRaftVoter",
            "RemoveRaftVoter",
            "UpdateRaftVoter",
        ),
    )
)
"""Fetch, and what KIP-595, 584, 630, 631, 841, 853, 858, 866, 919 and 996 added or changed."""

CONTROL_RECORDS: dict[int, str] = {
    ControlRecordType.LEADER_CHANGE: "LeaderChangeMessage",
    ControlRecordType.SNAPSHOT_HEADER: "SnapshotHeaderRecord",
    ControlRecordType.SNAPSHOT_FOOTER: "SnapshotFooterRecord",
    ControlRecordType.KRAFT_VERSION: "KRaftVersionRecord",
    ControlRecordType.KRAFT_VOTERS: "VotersRecord",
}
"""Names by the type in a control record's key (KIP-595, KIP-630, KIP-853)."""


def snake(name: str) -> str:
    """Return `begin_quorum_epoch_request` for `BeginQuorumEpochRequest`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def column_name(message_name: str) -> str:
    """Return the name of a message's column; of a record without the word `Record`."""
    return snake(message_name.removesuffix("Record").removesuffix("Message"))


def message_columns() -> list[pa.Field]:
    """Return a struct column for the request and one for the response of each typed API."""
    names = [f"{APIS[key]}{side}" for key in TYPED_APIS for side in ("Request", "Response")]
    return [_column(name, snake(name)) for name in names]


def record_columns() -> list[pa.Field]:
    """Return a struct column for each record of the metadata log, then for each control record.

    A record without fields has none: its type says all.
    """
    names = [*METADATA_RECORDS.values(), *CONTROL_RECORDS.values()]
    return [_column(name, column_name(name)) for name in names if message(name).fields]


def _column(name: str, as_: str) -> pa.Field:
    return column(as_, struct_of(message(name)), f"where it is {_article(name)} {name}")


def _article(name: str) -> str:
    return "an" if name[0] in "AEIOU" else "a"
