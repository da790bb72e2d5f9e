"""The rules of replication and placement as the handlers use them."""

from __future__ import annotations

from collections.abc import Sequence

from kwire.controller.errors import ApiError
from kwire.controller.handlers.result import ControllerContext
from kwire.controller.replicas.replica_placer import UsableBroker, place
from kwire.controller.replicas.replication_control import Replication
from kwire.error_codes import ErrorCode
from kwire.image.partition import PartitionRegistration


def replication(context: ControllerContext) -> Replication:
    """The rules over the image of a request."""
    config = context.config
    return Replication(image=context.image, static=config.static.get, node_id=config.node_id)


def placed(
    partitions: int, replication_factor: int, context: ControllerContext
) -> list[tuple[int, ...]]:
    """The replicas of so many new partitions; INVALID_REPLICATION_FACTOR."""
    brokers = context.image.cluster.brokers
    usable = (
        UsableBroker(id=id, rack=brokers[id].rack, fenced=fenced)
        for id, fenced in context.heartbeats.usable()
        if brokers[id].has_uncordoned_directories
    )
    return place(partitions, replication_factor, usable, context.random)


def new_partition(
    replicas: tuple[int, ...], context: ControllerContext
) -> PartitionRegistration | None:
    """A partition that begins: every active replica is in the ISR, the first of them leads.

    None when no replica is active (KIP-841).
    """
    isr = tuple(one for one in replicas if context.image.cluster.is_active(one))
    if not isr:
        return None
    rules = replication(context)
    directories = tuple(rules.default_directory(replica) for replica in replicas)
    return PartitionRegistration(replicas=replicas, directories=directories, isr=isr, leader=isr[0])


def check_assignment(
    replicas: Sequence[int], replication_factor: int | None, context: ControllerContext
) -> None:
    """A manual assignment; INVALID_REPLICA_ASSIGNMENT.

    1. It is empty. 2. A broker is not registered. 3. A broker occurs twice. 4. It has another
    number of replicas than those before.
    """
    if not replicas:
        raise _invalid("An assignment has no replicas.")
    for broker in sorted(replicas):
        if broker not in context.image.cluster.brokers:
            raise _invalid(f"An assignment has broker {broker}, which is not registered.")
        if replicas.count(broker) > 1:
            raise _invalid(f"An assignment has broker {broker} more than once.")
    if replication_factor is not None and len(replicas) != replication_factor:
        raise _invalid(
            f"An assignment has {len(replicas)} replicas, others have {replication_factor}."
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
