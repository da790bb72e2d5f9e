"""ElectLeaders, API key 43."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int8, int16, int32, nullable, since, string


class TopicPartitions(Group):
    topic: str = string
    partitions: tuple[int, ...] = array(int32)


class ElectLeadersRequest(
    Request, key=43, versions="0-2", flexible="2+", listeners="broker controller"
):
    """An admin starts preferred or unclean leader elections (KIP-183, KIP-460)."""

    election_type: int = since(1, int8)
    topic_partitions: list[TopicPartitions] | None = nullable(array(TopicPartitions))
    timeout_ms: int = field(int32, default=60000)


class PartitionResult(Group):
    partition_id: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)


class ReplicaElectionResult(Group):
    topic: str = string
    partition_result: list[PartitionResult] = array(PartitionResult)


class ElectLeadersResponse(Response, key=43, versions="0-2", flexible="2+"):
    """The controller says how the election of each partition ended (KIP-183, KIP-460)."""

    throttle_time_ms: int = int32
    error_code: int = since(1, int16)
    replica_election_results: list[ReplicaElectionResult] = array(ReplicaElectionResult)
