"""Reading the metadata log, and its snapshots, in one line."""

from typing import Any

import pytest

from kwire.codec.declaration import Request, Response
from kwire.messages import a01_fetch as fetch
from kwire.messages import a59_fetch_snapshot as snapshot
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.proxy import summarize
from tests.support.proxy.flows.dialogue_flows import rpc


def metadata_fetch(**answer: Any) -> tuple[fetch.FetchRequest, fetch.FetchResponse, int]:
    asked = fetch.FetchPartition(fetch_offset=812, last_fetched_epoch=5)
    request = fetch.FetchRequest(
        replica_state=fetch.ReplicaState(replica_id=1),
        topics=[fetch.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[asked])],
    )
    partition = fetch.PartitionData(**answer)
    topic = fetch.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return request, fetch.FetchResponse(responses=[topic]), 17


SNAPSHOT = snapshot.FetchSnapshotRequest(
    replica_id=3002,
    topics=[
        snapshot.TopicSnapshot(
            partitions=[
                snapshot.PartitionSnapshot(
                    snapshot_id=snapshot.SnapshotId(end_offset=500, epoch=3), position=4096
                )
            ]
        )
    ],
)


PIECE = snapshot.FetchSnapshotResponse(
    topics=[
        snapshot.ResponseTopicSnapshot(
            partitions=[
                snapshot.ResponsePartitionSnapshot(size=9000, unaligned_records=bytes(1000))
            ]
        )
    ]
)


LINES: list[tuple[Request, Response, int, str]] = [
    (
        *metadata_fetch(high_watermark=900, records=bytes(412)),
        "1 reads metadata from 812 epoch 5: HW 900, 412 B of records",
    ),
    (
        *metadata_fetch(high_watermark=812),
        "1 reads metadata from 812 epoch 5: HW 812, nothing new",
    ),
    (
        *metadata_fetch(
            error_code=6, current_leader=fetch.LeaderIdAndEpoch(leader_id=3001, leader_epoch=6)
        ),
        "1 reads metadata from 812 epoch 5: NOT_LEADER_OR_FOLLOWER, leader 3001 epoch 6",
    ),
    (
        *metadata_fetch(snapshot_id=fetch.SnapshotId(end_offset=900, epoch=6)),
        "1 reads metadata from 812 epoch 5: first snapshot 900 epoch 6",
    ),
    (
        *metadata_fetch(diverging_epoch=fetch.EpochEndOffset(epoch=4, end_offset=700)),
        "1 reads metadata from 812 epoch 5: log diverges, epoch 4 ends at 700",
    ),
    (SNAPSHOT, PIECE, 1, "3002 reads snapshot 500 epoch 3 from byte 4096: 1000 B of 9000 B"),
]


@pytest.mark.parametrize(("request_", "response", "version", "line"), LINES)
def test_a_flow_is_told_in_one_line(
    request_: Request, response: Response, version: int, line: str
) -> None:
    assert summarize(rpc(request_, response, version)) == line
