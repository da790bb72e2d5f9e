"""Breaks of `topics/grow`."""

from breaking import Break, changes, repairs, sets
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponsePartition
from kwire.messages.a37_create_partitions import CreatePartitionsRequest

_NO_ERRORS = changes(CreatePartitionsRequest, sets("results[*].error_code", 0))
_ONE_MORE = MetadataResponsePartition(partition_index=5)

BREAKS: dict[int, Break] = {
    **dict.fromkeys((*range(2, 11), 14), _NO_ERRORS),
    11: repairs(CreatePartitionsRequest, sets("validate_only", False)),
    12: changes(CreatePartitionsRequest, sets("results[*].error_code", 3)),
    13: changes(MetadataRequest, sets("topics[*].partitions", lambda parts: [*parts, _ONE_MORE])),
}
