"""Breaks of `share/sessions`."""

from uuid import uuid4

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a78_share_fetch import (
    AcquiredRecords,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
)
from kwire.messages.a79_share_acknowledge import ShareAcknowledgeRequest
from tests.support.conform.other_member import other_member

_ACQUIRED = "responses[*].partitions[*].acquired_records[*]"
_FETCHED = gives_error(ShareFetchRequest, 0)
_ACKNOWLEDGED = gives_error(ShareAcknowledgeRequest, 0)
_FIRST_DELIVERY = changes(ShareFetchRequest, sets(f"{_ACQUIRED}.delivery_count", 1))
_HANDED_OVER = ShareFetchableTopicResponse(
    topic_id=uuid4(),
    partitions=[PartitionData(acquired_records=[AcquiredRecords(last_offset=1)])],
)


def _later(request: SeenRequest) -> bool:
    return request.number > 1


_FROM_THE_START = changes(ShareFetchRequest, sets(f"{_ACQUIRED}.first_offset", 0), only_for=_later)

BREAKS: dict[int, Break] = {
    1: changes(ShareFetchRequest, sets(f"{_ACQUIRED}.delivery_count", 2)),
    2: changes(ShareFetchRequest, sets("responses", [_HANDED_OVER]), only_for=other_member),
    3: _FIRST_DELIVERY,
    4: _FROM_THE_START,
    5: _FROM_THE_START,
    6: _FIRST_DELIVERY,
    7: _FROM_THE_START,
    **dict.fromkeys((8, 9, 10, 11, 15, 16), _ACKNOWLEDGED),
    **dict.fromkeys((12, 13, 14, 18, 19), _FETCHED),
    17: _FIRST_DELIVERY,
    20: changes(
        ShareFetchRequest,
        sets("responses", [_HANDED_OVER]),
        only_for=lambda request: not request.body.topics,
    ),
}
