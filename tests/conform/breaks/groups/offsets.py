"""Breaks of `groups/offsets`."""

from breaking import Break, changes, gives_error, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a09_offset_fetch import OffsetFetchRequest
from kwire.messages.a47_offset_delete import OffsetDeleteRequest

_COMMITTED = gives_error(OffsetCommitRequest, 0)
_DELETED = gives_error(OffsetDeleteRequest, 0)
_PARTITION = "groups[0].topics[0].partitions[0]"
_NO_TOPICS = changes(OffsetFetchRequest, sets("groups[0].topics", []))


def _answers_with(field: str, value: object) -> Break:
    return changes(OffsetFetchRequest, sets(f"{_PARTITION}.{field}", value))


BREAKS: dict[int, Break] = {
    1: _answers_with("committed_offset", -1),
    2: _answers_with("committed_offset", 5),
    4: _answers_with("metadata", "other"),
    5: gives_error(OffsetCommitRequest, 0, verdict=ConformanceVerdict.DIFFERS),
    6: _answers_with("committed_leader_epoch", -1),
    **dict.fromkeys((8, 9, 10, 11, 13, 14, 15, 20), _COMMITTED),
    12: gives_error(OffsetCommitRequest, 25),
    16: _answers_with("committed_offset", 0),
    17: _NO_TOPICS,
    18: _NO_TOPICS,
    21: gives_error(OffsetFetchRequest, 0),
    22: _answers_with("committed_offset", 5),
    23: _DELETED,
    24: _DELETED,
}
