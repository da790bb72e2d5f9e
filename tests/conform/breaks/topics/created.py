"""Breaks of `topics/created`."""

from breaking import Break, SeenRequest, changes, gives_error, repairs, sets
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a19_create_topics import CreatableTopicResult, CreateTopicsRequest


def _first(request: SeenRequest) -> bool:
    return request.number == 1


def _second(request: SeenRequest) -> bool:
    return request.number == 2


BREAKS: dict[int, Break] = {
    1: gives_error(CreateTopicsRequest, 0, only_for=_second),
    2: gives_error(CreateTopicsRequest, 0, only_for=_second),
    3: gives_error(CreateTopicsRequest, 0, only_for=_second),
    4: changes(CreateTopicsRequest, sets("topics[*].error_code", 0), only_for=_first),
    5: changes(CreateTopicsRequest, sets("topics[*].error_code", 0)),
    6: changes(CreateTopicsRequest, sets("topics[*].error_code", 37), only_for=_first),
    7: repairs(CreateTopicsRequest, sets("validate_only", False)),
    8: changes(CreateTopicsRequest, sets("topics", [CreatableTopicResult(error_code=42)])),
    12: changes(CreateTopicsRequest, sets("topics", lambda topics: topics[1:])),
    13: changes(MetadataRequest, sets("topics[*].partitions[*].replica_nodes", (9,))),
}
