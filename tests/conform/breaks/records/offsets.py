"""Breaks of `records/list-offsets`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a02_list_offsets import ListOffsetsRequest

_API = ListOffsetsRequest
_NO_ERROR = gives_error(_API, 0)
_OTHER_OFFSET = changes(_API, sets("topics[0].partitions[0].offset", 42))

BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 2, 13), _NO_ERROR),
    **dict.fromkeys((3, 4, 5, 6, 7, 8, 9), _OTHER_OFFSET),
    **dict.fromkeys((10, 11, 12, 15, 16), gives_error(_API, 3)),
}
