"""ElectLeaders (KIP-183, KIP-460)."""

from __future__ import annotations

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
)
from kwire.controller.replicas.partition_change_builder import Election
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.partition import NO_LEADER
from kwire.messages.a43_elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

PREFERRED = 0
UNCLEAN = 1


def handle(request: ElectLeadersRequest, context: ControllerContext) -> ControllerResult:
    """Elect the preferred replicas, or any replica rather than none (Java:
    ReplicationControlManager.electLeaders).

    1. No topics, which is not the same as null for all: nothing to elect, and nothing is checked.
    2. Another election type: INVALID_REQUEST for all.
    3. Topic or partition unknown: UNKNOWN_TOPIC_OR_PARTITION.
    4. The preferred replica leads already, or any replica if the election is unclean:
       ELECTION_NOT_NEEDED, which is left out if every partition was asked for.
    5. No replica can lead: PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_AVAILABLE.
    """
    # 1.
    if event(request, context) is ControllerEvent.NONE:
        return ControllerResult(response=ElectLeadersResponse())
    # 2.
    if request.election_type not in (PREFERRED, UNCLEAN):
        text = f"{request.election_type} is not a type of election."
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    all_partitions = request.topic_partitions is None
    topics = context.image.topics
    requested = [(topic.topic, topic.partitions) for topic in request.topic_partitions or []]
    if all_partitions:
        requested = [
            (name, tuple(topics.by_id[topics.ids[name]].numbers())) for name in sorted(topics.ids)
        ]
    records: VersionedRecords = []
    results = []
    for name, numbers in requested:
        partitions = [
            _elect(name, number, request.election_type, context, records) for number in numbers
        ]
        if all_partitions:
            # 4.
            needless = ErrorCode.ELECTION_NOT_NEEDED
            partitions = [result for result in partitions if result.error_code != needless]
        results.append(ReplicaElectionResult(topic=name, partition_result=partitions))
    response = ElectLeadersResponse(replica_election_results=results)
    check_records(records)
    return ControllerResult(records=tuple(records), response=response)


def event(request: ElectLeadersRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE for step 1 of `handle`."""
    is_empty = request.topic_partitions is not None and not request.topic_partitions
    return ControllerEvent.NONE if is_empty else ControllerEvent.WRITE


def _elect(
    name: str, number: int, type: int, context: ControllerContext, records: VersionedRecords
) -> PartitionResult:
    try:
        records.append(_record(name, number, type, context))
    except ApiError as error:
        code, message = error.code, error.message
        return PartitionResult(partition_id=number, error_code=code, error_message=message)
    return PartitionResult(partition_id=number, error_message=None)


def _record(name: str, number: int, type: int, context: ControllerContext) -> VersionedRecord:
    # 3.
    topic = context.image.topics.topic(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")
    partition = topic.partitions.get(number)
    if partition is None:
        text = f"Topic {name} has no partition {number}."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
    # 4.
    is_preferred = partition.leader == partition.preferred_leader
    if is_preferred if type == PREFERRED else partition.leader != NO_LEADER:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, "The partition has such a leader already.")
    # 5.
    election = Election.PREFERRED if type == PREFERRED else Election.UNCLEAN
    record = replication_control(context).change((topic, number, partition), election=election)
    if record is None:
        if type == PREFERRED:
            text = f"Replica {partition.preferred_leader} cannot lead: it is not alive or in sync."
            raise ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, text)
        text = "No replica can lead: none is alive."
        raise ApiError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)
    return record
