"""Errors in the answers of ZooKeeper-era brokers, as words for the log."""

import pytest

from kwire.codec.declaration import Response
from kwire.messages.a04_leader_and_isr import LeaderAndIsrPartitionError, LeaderAndIsrResponse
from kwire.messages.a05_stop_replica import StopReplicaPartitionError, StopReplicaResponse
from kwire.messages.a06_update_metadata import UpdateMetadataResponse
from kwire.migration.node.control_responses import error_text


def stopped(number: int, code: int) -> StopReplicaPartitionError:
    return StopReplicaPartitionError(topic_name="t", partition_index=number, error_code=code)


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (UpdateMetadataResponse(), None),
        (UpdateMetadataResponse(error_code=77), "STALE_BROKER_EPOCH"),
        (StopReplicaResponse(partition_errors=[stopped(0, 0)]), None),
        (
            StopReplicaResponse(partition_errors=[stopped(0, 0), stopped(1, 74)]),
            "FENCED_LEADER_EPOCH for t-1",
        ),
        (
            StopReplicaResponse(error_code=41, partition_errors=[stopped(n, 56) for n in range(8)]),
            "NOT_CONTROLLER, "
            + ", ".join(f"KAFKA_STORAGE_ERROR for t-{n}" for n in range(5))
            + ", 3 more",
        ),
        (
            LeaderAndIsrResponse(
                partition_errors=[
                    LeaderAndIsrPartitionError(topic_name="t", partition_index=2, error_code=9999)
                ]
            ),
            "ERROR 9999 for t-2",
        ),
    ],
    ids=["none", "of all", "none of a partition", "one", "many", "unknown"],
)
def test_errors_are_named_and_many_are_counted(response: Response, text: str | None) -> None:
    assert error_text(response) == text
