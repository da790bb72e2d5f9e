"""ControlledShutdown, API key 7."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, int64, since, string


class ControlledShutdownRequest(
    Request, key=7, versions="0-3", flexible="3+", listeners="zkBroker controller"
):
    """A ZooKeeper-era broker has its leaderships moved away before it stops."""

    broker_id: int = int32
    broker_epoch: int = since(2, int64, default=-1, ignorable=True)


class RemainingPartition(Group):
    topic_name: str = string
    partition_index: int = int32


class ControlledShutdownResponse(Response, key=7, versions="0-3", flexible="3+"):
    """The controller names the partitions that a stopping ZooKeeper-era broker still leads."""

    error_code: int = int16
    remaining_partitions: list[RemainingPartition] = array(RemainingPartition)
