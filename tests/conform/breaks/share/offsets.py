"""Breaks of `share/offsets`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a90_describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from kwire.messages.a91_alter_share_group_offsets import AlterShareGroupOffsetsRequest
from kwire.messages.a92_delete_share_group_offsets import DeleteShareGroupOffsetsRequest

_ALTERED = gives_error(AlterShareGroupOffsetsRequest, 0)
_DELETED = gives_error(DeleteShareGroupOffsetsRequest, 0)


def _starts_at(offset: int) -> Break:
    return changes(
        DescribeShareGroupOffsetsRequest,
        sets("groups[0].topics[0].partitions[0].start_offset", offset),
    )


BREAKS: dict[int, Break] = {
    1: _starts_at(-1),
    2: _starts_at(0),
    3: _starts_at(0),
    4: _ALTERED,
    5: _ALTERED,
    6: _starts_at(1),
    7: _DELETED,
    8: _DELETED,
}
