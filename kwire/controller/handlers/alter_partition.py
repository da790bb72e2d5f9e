"""AlterPartition (KIP-497, KIP-704, KIP-841, KIP-903)."""

from __future__ import annotations

from kwire.controller.errors import ApiError
from kwire.controller.handlers.placement import replication
from kwire.controller.handlers.result import ControllerContext, ControllerResult, Records
from kwire.controller.replicas.replication_control import changed
from kwire.error_codes import ErrorCode
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
    """Leaders change the ISR of their partitions.

    1. No topics: nothing to change, and nothing is checked.
    2. Not the broker's latest epoch: STALE_BROKER_EPOCH for all.
    3. The topic is not known: UNKNOWN_TOPIC_ID.
    4. For each partition what `check` finds.
    5. A change that completes a reassignment may take the leadership from the sender: it is made,
       and answered NEW_LEADER_ELECTED.
    6. Else the answer has the partition as it is then, with its new partition epoch.
    """
    if not request.topics:
        return ControllerResult(response=AlterPartitionResponse())
    context.broker(request.broker_id, request.broker_epoch)
    records: Records = []
    topics = []
    for wanted in request.topics:
        topic = context.image.topics.by_id.get(wanted.topic_id)
        partitions = [
            _alter(one, topic, request.broker_id, context, records) for one in wanted.partitions
        ]
        topics.append(ResponseTopicData(topic_id=wanted.topic_id, partitions=partitions))
    response = AlterPartitionResponse(topics=topics)
    return ControllerResult(records=tuple(records), response=response)


def _alter(
    wanted: PartitionData,
    topic: TopicImage | None,
    broker_id: int,
    context: ControllerContext,
    records: Records,
) -> ResponsePartitionData:
    number = wanted.partition_index
    try:
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        partition = check(wanted, topic, broker_id, context)
        record = replication(context).change(
            (topic, number, partition),
            isr=tuple(one.broker_id for one in _new_isr(wanted, context.version)),
            leader_recovery_state=wanted.leader_recovery_state,
        )
        if record is not None:
            records.append(record)
            partition = partition.merge(changed(record))
            if changed(record).leader not in (broker_id, NO_LEADER_CHANGE):
                raise ApiError(ErrorCode.NEW_LEADER_ELECTED)
    except ApiError as error:
        return ResponsePartitionData(partition_index=number, error_code=error.code)
    return ResponsePartitionData(
        partition_index=number,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def check(
    wanted: PartitionData, topic: TopicImage, broker_id: int, context: ControllerContext
) -> PartitionRegistration:
    """The partition, if its ISR may be changed so. In this order:

    1. No such partition: UNKNOWN_TOPIC_OR_PARTITION.
    2. A leader epoch above ours: NOT_CONTROLLER, another node must have elected that leader.
    3. A partition epoch above ours: NOT_CONTROLLER.
    4. A leader epoch below ours: FENCED_LEADER_EPOCH.
    5. The sender does not lead: INVALID_REQUEST.
    6. A partition epoch below ours: INVALID_UPDATE_VERSION.
    7. What `_check_state` finds: INVALID_REQUEST.
    8. A replica of the new ISR is not registered, fenced, in controlled shutdown, or of another
       broker epoch: INELIGIBLE_REPLICA (KIP-841, KIP-903).
    """
    partition = topic.partitions.get(wanted.partition_index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if wanted.leader_epoch > partition.leader_epoch:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    if wanted.partition_epoch > partition.partition_epoch:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    if wanted.leader_epoch < partition.leader_epoch:
        raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
    if broker_id != partition.leader:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if wanted.partition_epoch < partition.partition_epoch:
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION)
    new_isr = _new_isr(wanted, context.version)
    _check_state(wanted, [one.broker_id for one in new_isr], partition)
    if not all(_is_eligible(one, context) for one in new_isr):
        raise ApiError(ErrorCode.INELIGIBLE_REPLICA)
    return partition


def _check_state(wanted: PartitionData, isr: list[int], partition: PartitionRegistration) -> None:
    """INVALID_REQUEST for:

    1. an empty ISR, one with a broker twice, or with one that is no replica;
    2. an ISR without the leader;
    3. a leader that recovers from an unclean election with others in its ISR (KIP-704);
    4. a leader that recovers again, having recovered.
    """
    bad = (
        not isr
        or len(set(isr)) != len(isr)
        or not set(isr) <= set(partition.replicas)
        or partition.leader not in isr
    )
    recovering = wanted.leader_recovery_state == RECOVERING
    again = recovering and partition.leader_recovery_state == RECOVERED
    known = wanted.leader_recovery_state in (RECOVERED, RECOVERING)
    if bad or not known or (recovering and len(isr) > 1) or again:
        raise ApiError(ErrorCode.INVALID_REQUEST)


def _new_isr(wanted: PartitionData, version: int) -> list[BrokerState]:
    if version >= 3:
        return wanted.new_isr_with_epochs
    return [BrokerState(broker_id=id, broker_epoch=ANY_EPOCH) for id in wanted.new_isr]


def _is_eligible(replica: BrokerState, context: ControllerContext) -> bool:
    broker = context.image.cluster.brokers.get(replica.broker_id)
    if broker is None or not broker.is_active:
        return False
    return replica.broker_epoch in (ANY_EPOCH, broker.epoch)
