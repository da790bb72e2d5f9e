"""Breaks of `quorum/kip-853/fetch`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest

_PARTITION = "responses[0].partitions[0]"
_ANSWERED = gives_error(FetchRequest, 0)


def _give_nothing(response: FetchResponse) -> None:
    for topic in response.responses:
        for partition in topic.partitions:
            partition.records = partition.snapshot_id = None


BREAKS: dict[int, Break] = {
    1: changes(FetchRequest, _give_nothing),
    **dict.fromkeys(
        (
            2,
            3,
        ),
        _ANSWERED,
    ),
    **dict.fromkeys(range(8, 13), _ANSWERED),
    13: gives_error(FetchRequest, 3),
    14: _ANSWERED,
    15: repairs(FetchRequest, sets("max_wait_ms", 0)),
    16: changes(FetchRequest, sets(f"{_PARTITION}.high_watermark", -1)),
    17: changes(FetchRequest, sets(f"{_PARTITION}.snapshot_id.end_offset", 1 << 50)),
    18: changes(
        DescribeQuorumRequest,
        sets("topics[0].partitions[0].observers", []),
        only_for=lambda request: request.number > 2,
    ),
}
