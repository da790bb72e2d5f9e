"""Breaks of `records/epochs`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a21_delete_records import DeleteRecordsRequest
from kwire.messages.a23_offset_for_leader_epoch import OffsetForLeaderEpochRequest

_OTHER_END = changes(OffsetForLeaderEpochRequest, sets("topics[0].partitions[0].end_offset", 42))
_NO_EPOCH_ERROR = gives_error(OffsetForLeaderEpochRequest, 0)
_OTHER_START = changes(DeleteRecordsRequest, sets("topics[0].partitions[0].low_watermark", 42))
_NO_DELETE_ERROR = gives_error(DeleteRecordsRequest, 0)

BREAKS: dict[int, Break] = {
    2: _OTHER_END,
    3: _NO_EPOCH_ERROR,
    4: _NO_EPOCH_ERROR,
    5: gives_error(OffsetForLeaderEpochRequest, 3),
    6: _OTHER_START,
    7: _OTHER_START,
    8: _NO_DELETE_ERROR,
    9: _NO_DELETE_ERROR,
    10: _NO_DELETE_ERROR,
    11: _NO_DELETE_ERROR,
    12: changes(FetchRequest, sets("responses[0].partitions[*].log_start_offset", 0)),
}
