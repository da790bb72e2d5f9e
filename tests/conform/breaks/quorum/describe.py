"""Breaks of `quorum/kip-853/describe`."""

from itertools import count

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ResponseTopicData,
)
from kwire.messages.metadata_topic import METADATA_TOPIC

_QUORUM = "topics[0].partitions[0]"


def _of_another(request: SeenRequest) -> bool:
    body = request.body
    return body is not None and any(
        topic.topic_name != METADATA_TOPIC or topic.partitions[0].partition_index
        for topic in body.topics
    )


def _of_nothing(request: SeenRequest) -> bool:
    return request.body is not None and not request.body.topics


def _without_voters(response: DescribeQuorumResponse) -> None:
    for topic in response.topics:
        topic.partitions[0].current_voters.clear()


def _null_messages(response: DescribeQuorumResponse) -> None:
    response.error_message = None
    for topic in response.topics:
        for partition in topic.partitions:
            partition.error_message = None


def _sets_voters(field: str, value: object) -> Break:
    return changes(DescribeQuorumRequest, sets(f"{_QUORUM}.current_voters[*].{field}", value))


_FALLING = count(1_000_000, -1)
"""High watermarks, each lower than the one before."""

_OTHERS = gives_error(DescribeQuorumRequest, 0, only_for=_of_another)

BREAKS: dict[int, Break] = {
    1: changes(DescribeQuorumRequest, _without_voters),
    2: _sets_voters("log_end_offset", 0),
    3: changes(
        DescribeQuorumRequest, sets(f"{_QUORUM}.high_watermark", lambda old: next(_FALLING))
    ),
    4: _sets_voters("last_fetch_timestamp", -1),
    5: _sets_voters("replica_directory_id", lambda old: type(old)(int=0)),
    6: changes(DescribeQuorumRequest, sets("nodes[*].listeners", [])),
    7: _OTHERS,
    8: _OTHERS,
    # Kafka writes empty texts: behind a relay that mends them the check passes.
    9: changes(DescribeQuorumRequest, _null_messages, verdict=ConformanceVerdict.PASS),
    10: gives_error(DescribeQuorumRequest, 3, only_for=lambda request: request.number == 1),
    11: changes(
        DescribeQuorumRequest,
        lambda response: response.replace(topics=[ResponseTopicData(topic_name="t")]),
        only_for=_of_nothing,
    ),
}
