"""Breaks of `records/fetch`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.messages.a01_fetch import FetchRequest

_API = FetchRequest
_NO_ERROR = gives_error(_API, 0)
_RECORDS = "responses[*].partitions[*].records"


def _in_haste(request: FetchRequest) -> None:
    request.max_wait_ms = 0


def _in_no_haste(request: FetchRequest) -> None:
    request.min_bytes = 1
    request.max_wait_ms = 5200


def _without_limits(request: FetchRequest) -> None:
    request.max_bytes = 1 << 20
    for topic in request.topics:
        for partition in topic.partitions:
            partition.partition_max_bytes = 1 << 20


BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 2, 3, 4, 5), _NO_ERROR),
    6: gives_error(_API, 1),
    7: gives_error(_API, 3),
    9: changes(_API, sets("responses[0].partitions[0].high_watermark", 7)),
    10: changes(_API, sets(_RECORDS, b"")),
    11: changes(_API, sets(_RECORDS, b"")),
    12: repairs(_API, _without_limits),
    13: repairs(_API, _without_limits),
    14: repairs(_API, _in_haste),
    15: repairs(_API, _in_no_haste),
    16: gives_error(_API, 0),
    17: changes(_API, sets("responses[0].partitions[0].diverging_epoch", None)),
    19: gives_error(_API, 3),
    18: changes(_API, sets("responses[0].partitions[*].error_code", 3)),
}
