"""The placement of replicas as the handlers of topics and partitions use it."""

from __future__ import annotations

from collections.abc import Sequence

from kwire.controller.handlers.result import ControllerContext
from kwire.controller.replicas.replica_placer import UsableBroker, place
from kwire.controller.replicas.replication_control import ReplicationControl
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.partition import PartitionRegistration


def replication_control(context: ControllerContext) -> ReplicationControl:
    """Return the rules of leadership and ISR over the image of a request."""
    config = context.config
    return ReplicationControl(
        image=context.image,
        static=config.static.get,
        node_id=config.node_id,
        bumps_leader_epochs=context.bumps_leader_epochs,
    )


def place_partitions(
    partitions: int, replication_factor: int, context: ControllerContext
) -> list[tuple[int, ...]]:
    """Choose the replicas of new partitions. Raises ApiError with INVALID_REPLICATION_FACTOR."""
    brokers = context.image.cluster.brokers
    usable = (
        UsableBroker(id=id, rack=brokers[id].rack, fenced=fenced)
        for id, fenced in context.heartbeat_manager.usable_brokers()
        if brokers[id].has_uncordoned_directories
    )
    return place(partitions, replication_factor, usable, context.random)


def new_partition(
    replicas: tuple[int, ...], context: ControllerContext
) -> PartitionRegistration | None:
    """Make a new partition: every active replica is in the ISR, the first of them leads.

    Return None if no replica is active (KIP-841).
    """
    isr = tuple(replica for replica in replicas if context.image.cluster.is_active(replica))
    if not isr:
        return None
    replication = replication_control(context)
    directories = tuple(replication.default_directory(replica) for replica in replicas)
    return PartitionRegistration(replicas=replicas, directories=directories, isr=isr, leader=isr[0])


def check_assignment(
    replicas: Sequence[int], replication_factor: int | None, context: ControllerContext
) -> None:
    """Check a manual assignment. Raises ApiError with INVALID_REPLICA_ASSIGNMENT if:

    1. it is empty;
    2. a broker is not registered;
    3. all directories of a broker are cordoned (KIP-1066; Kafka checks it since 4.4);
    4. a broker occurs twice;
    5. it has another number of replicas than those before.
    """
    # 1.
    if not replicas:
        raise _invalid("An assignment has no replicas.")
    # 2.–4. In the order of the ids, as Java's sorted list: the first error is the answer.
    for broker in sorted(replicas):
        registration = context.image.cluster.brokers.get(broker)
        if registration is None:
            raise _invalid(f"An assignment has broker {broker}, which is not registered.")
        if not registration.has_uncordoned_directories:
            raise _invalid(f"An assignment has broker {broker}, whose directories are cordoned.")
        if replicas.count(broker) > 1:
            raise _invalid(f"An assignment has broker {broker} more than once.")
    # 5.
    if replication_factor is not None and len(replicas) != replication_factor:
        raise _invalid(
            f"An assignment has {len(replicas)} replicas, others have {replication_factor}."
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
