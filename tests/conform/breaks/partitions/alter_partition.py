"""Breaks of `partitions/kip-841/alter-partition`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a56_alter_partition import AlterPartitionRequest

_ALTERED = gives_error(AlterPartitionRequest, 0)

BREAKS: dict[int, Break] = {
    **dict.fromkeys(range(1, 16), _ALTERED),
    16: changes(
        AlterPartitionRequest,
        sets("topics[0].partitions[0].partition_epoch", lambda epoch: epoch - 1),
    ),
}
