"""Breaks of `metadata/metadata`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic

_TOPIC = MetadataResponseTopic(name="another", error_code=0)


def _doubles(response: MetadataResponse) -> None:
    response.topics = response.topics * 2


BREAKS: dict[int, Break] = {
    1: changes(MetadataRequest, sets("topics", []), only_for=lambda r: r.body.topics is None),
    2: changes(MetadataRequest, sets("topics", [_TOPIC])),
    3: changes(MetadataRequest, sets("topics", []), only_for=0),
    5: gives_error(MetadataRequest, 0, only_for=lambda request: request.number == 2),
    6: gives_error(MetadataRequest, 0),
    7: gives_error(MetadataRequest, 3),
    8: changes(MetadataRequest, sets("topics[*].name", "another"), only_for=lambda r: r.number > 2),
    9: changes(MetadataRequest, sets("topics[*].error_code", 3), only_for=lambda r: r.number > 1),
    10: changes(MetadataRequest, _doubles),
    11: changes(MetadataRequest, sets("cluster_authorized_operations", 0), only_for=8),
    12: changes(MetadataRequest, sets("cluster_authorized_operations", -(2**31)), only_for=8),
    13: changes(MetadataRequest, sets("controller_id", 4242)),
    15: changes(MetadataRequest, sets("topics[*].partitions[*].leader_epoch", 7)),
    17: changes(MetadataRequest, sets("topics[*].is_internal", True)),
}
