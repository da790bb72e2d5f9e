"""Breaks of `topics/delete`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest


def _first(request: SeenRequest) -> bool:
    return request.number == 1


def _second(request: SeenRequest) -> bool:
    return request.number == 2


_NO_ERRORS = changes(DeleteTopicsRequest, sets("responses[*].error_code", 0), only_for=_first)

BREAKS: dict[int, Break] = {
    2: _NO_ERRORS,
    3: _NO_ERRORS,
    4: _NO_ERRORS,
    5: _NO_ERRORS,
    6: _NO_ERRORS,
    7: changes(DeleteTopicsRequest, sets("responses[0].name", "another")),
    9: _NO_ERRORS,
    10: changes(DeleteTopicsRequest, sets("responses[*].error_code", 3)),
    11: gives_error(DeleteTopicsRequest, 0, only_for=_second),
    12: gives_error(MetadataRequest, 29),
    13: gives_error(DeleteTopicsRequest, 0, only_for=_second),
}
