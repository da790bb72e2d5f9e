"""Breaks of `producers/sequences`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a02_list_offsets import ListOffsetsRequest

_ACCEPTED = gives_error(ProduceRequest, 0)
_OFFSET = "responses[0].partition_responses[0].base_offset"
_END = "topics[0].partitions[0].offset"


def _second(request: SeenRequest) -> bool:
    return request.number == 2


_SECOND_REFUSED = gives_error(ProduceRequest, 45, only_for=_second)

BREAKS: dict[int, Break] = {
    1: changes(ProduceRequest, sets(_OFFSET, 0)),
    **dict.fromkeys((2, 3, 7, 11, 12, 16, 17), _ACCEPTED),
    4: changes(ListOffsetsRequest, sets(_END, 2)),
    5: changes(ProduceRequest, sets(_OFFSET, 2), only_for=_second),
    6: changes(ProduceRequest, sets(_OFFSET, 5), only_for=lambda request: request.number == 6),
    8: gives_error(ProduceRequest, 47),
    **dict.fromkeys((9, 10, 14), _SECOND_REFUSED),
    13: gives_error(ProduceRequest, 45, only_for=lambda request: request.number == 3),
    15: gives_error(ProduceRequest, 59, only_for=_second),
    20: changes(ListOffsetsRequest, sets(_END, 1)),
}
