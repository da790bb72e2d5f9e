"""AlterPartition (KIP-497, KIP-704, KIP-841, KIP-903)."""

from __future__ import annotations

from uuid import UUID

from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
)
from kwire.controller.replicas.replication_control import partition_change
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.partition import (
    NO_LEADER_CHANGE,
    RECOVERED,
    RECOVERING,
    PartitionRegistration,
)
from kwire.image.topics import TopicImage
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    PartitionData,
    ResponsePartitionData,
    ResponseTopicData,
)

ANY_EPOCH = -1
"""A broker epoch that is not checked: that of ISRs before version 3."""


def handle(request: AlterPartitionRequest, context: ControllerContext) -> ControllerResult:
    """Change the ISR of partitions, as their leader asks (Java:
    ReplicationControlManager.alterPartition).

    1. No topics: nothing to change, and nothing is checked.
    2. Not the broker's latest epoch: STALE_BROKER_EPOCH for all.
    3. The topic is not known: UNKNOWN_TOPIC_ID.
    4. For each partition the errors of `check`.
    5. A change that completes a reassignment may take the leadership from the sender: it is made,
       and answered NEW_LEADER_ELECTED.
    6. Else the answer has the partition as it is then, with its new partition epoch.

    A partition that is named twice is, the second time, as the first left it.
    """
    # 1.
    if event(request, context) is ControllerEvent.NONE:
        return ControllerResult(response=AlterPartitionResponse())
    # 2.
    context.broker(request.broker_id, request.broker_epoch)
    records: VersionedRecords = []
    topics = []
    changed: dict[UUID, TopicImage] = {}
    for requested in request.topics:
        topic = context.image.topics.by_id.get(requested.topic_id)
        if topic is not None:
            changed.setdefault(topic.id, topic)
        partitions = [
            _alter(partition, requested.topic_id, request.broker_id, context, records, changed)
            for partition in requested.partitions
        ]
        topics.append(ResponseTopicData(topic_id=requested.topic_id, partitions=partitions))
    response = AlterPartitionResponse(topics=topics)
    return ControllerResult(records=tuple(records), response=response)


def event(request: AlterPartitionRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE for step 1 of `handle`."""
    is_empty = not request.topics
    return ControllerEvent.NONE if is_empty else ControllerEvent.WRITE


def _alter(
    requested: PartitionData,
    topic_id: UUID,
    broker_id: int,
    context: ControllerContext,
    records: VersionedRecords,
    topics: dict[UUID, TopicImage],
) -> ResponsePartitionData:
    number, topic = requested.partition_index, topics.get(topic_id)
    try:
        # 3.
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        # 4.
        partition = check(requested, topic, broker_id, context)
        # The topic as it was before the request: min.insync.replicas counts its replicas then.
        record = replication_control(context).change(
            (context.image.topics.by_id[topic_id], number, partition),
            isr=tuple(state.broker_id for state in _new_isr(requested, context.version)),
            leader_recovery_state=requested.leader_recovery_state,
        )
        if record is not None:
            records.append(record)
            partition = partition.merge(partition_change(record))
            topics[topic_id] = topic.with_partitions({number: partition})
            # 5.
            if partition_change(record).leader not in (broker_id, NO_LEADER_CHANGE):
                raise ApiError(ErrorCode.NEW_LEADER_ELECTED)
    except ApiError as error:
        return ResponsePartitionData(partition_index=number, error_code=error.code)
    # 6.
    return ResponsePartitionData(
        partition_index=number,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def check(
    requested: PartitionData, topic: TopicImage, broker_id: int, context: ControllerContext
) -> PartitionRegistration:
    """Return the partition if its ISR may be changed so (validateAlterPartitionData).

    Raises ApiError, in this order:

    1. No such partition: UNKNOWN_TOPIC_OR_PARTITION.
    2. A leader epoch above ours: NOT_CONTROLLER, another node must have elected that leader.
    3. A partition epoch above ours: NOT_CONTROLLER.
    4. A leader epoch below ours: FENCED_LEADER_EPOCH.
    5. The sender does not lead: INVALID_REQUEST.
    6. A partition epoch below ours: INVALID_UPDATE_VERSION.
    7. A state that cannot be (`_check_state`): INVALID_REQUEST.
    8. A replica of the new ISR is not registered, fenced, in controlled shutdown, or of another
       broker epoch: INELIGIBLE_REPLICA (KIP-841, KIP-903).
    """
    # 1.
    partition = topic.partitions.get(requested.partition_index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    # 2. Only another controller can have elected such a leader: this one is not active any more.
    if requested.leader_epoch > partition.leader_epoch:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    # 3.
    if requested.partition_epoch > partition.partition_epoch:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    # 4.
    if requested.leader_epoch < partition.leader_epoch:
        raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
    # 5.
    if broker_id != partition.leader:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    # 6.
    if requested.partition_epoch < partition.partition_epoch:
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION)
    # 7.
    new_isr = _new_isr(requested, context.version)
    _check_state(requested, [state.broker_id for state in new_isr], partition)
    # 8.
    if not all(_is_eligible(state, context) for state in new_isr):
        raise ApiError(ErrorCode.INELIGIBLE_REPLICA)
    return partition


def _check_state(
    requested: PartitionData, isr: list[int], partition: PartitionRegistration
) -> None:
    """Check an ISR and a recovery state by themselves. Raises ApiError with INVALID_REQUEST for:

    1. an empty ISR, one with a broker twice, or with one that is no replica;
    2. an ISR without the leader;
    3. a leader that recovers from an unclean election with others in its ISR (KIP-704);
    4. a leader that recovers again, having recovered, or a state that does not exist.
    """
    # 1., 2.
    is_malformed = (
        not isr
        or len(set(isr)) != len(isr)
        or not set(isr) <= set(partition.replicas)
        or partition.leader not in isr
    )
    # 3., 4.
    recovering = requested.leader_recovery_state == RECOVERING
    again = recovering and partition.leader_recovery_state == RECOVERED
    known = requested.leader_recovery_state in (RECOVERED, RECOVERING)
    if is_malformed or not known or (recovering and len(isr) > 1) or again:
        raise ApiError(ErrorCode.INVALID_REQUEST)


def _new_isr(requested: PartitionData, version: int) -> list[BrokerState]:
    if version >= 3:
        return requested.new_isr_with_epochs
    return [BrokerState(broker_id=id, broker_epoch=ANY_EPOCH) for id in requested.new_isr]


def _is_eligible(replica: BrokerState, context: ControllerContext) -> bool:
    broker = context.image.cluster.brokers.get(replica.broker_id)
    if broker is None or not broker.is_active:
        return False
    return replica.broker_epoch in (ANY_EPOCH, broker.epoch)
