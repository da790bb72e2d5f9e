"""Breaks of `records/produce`."""

from breaking import Break, SeenRequest, answers_end, changes, gives_error, sets
from kwire.messages.a00_produce import ProduceRequest

_API = ProduceRequest
_ACCEPTED = gives_error(_API, 0)


def _first(request: SeenRequest) -> bool:
    return request.number == 1


def _later(request: SeenRequest) -> bool:
    return request.number > 1


BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 15), _ACCEPTED),
    5: changes(_API, sets("responses[0].partition_responses[0].base_offset", 0)),
    6: answers_end(),
    16: changes(_API, sets("responses[0].partition_responses[0].record_errors", [])),
    17: gives_error(_API, 19, only_for=_first),
    18: gives_error(_API, 19),
    19: changes(_API, sets("responses[0].partition_responses[0].base_offset", 0), only_for=_later),
    21: changes(_API, sets("responses[0].partition_responses[0].log_append_time_ms", 1 << 40)),
    22: changes(_API, sets("responses[*].partition_responses[*].error_code", 3)),
    23: changes(_API, sets("responses[0].partition_responses[0].base_offset", 1), only_for=_later),
}
