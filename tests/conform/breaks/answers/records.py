"""Breaks of `answers/records`."""

from breaking import Break, changes, sets
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a02_list_offsets import ListOffsetsRequest
from kwire.messages.a21_delete_records import DeleteRecordsRequest
from kwire.messages.a23_offset_for_leader_epoch import OffsetForLeaderEpochRequest

BREAKS: dict[int, Break] = {
    1: changes(ProduceRequest, sets("responses[0].partition_responses[1].log_start_offset", 7)),
    2: changes(FetchRequest, sets("responses[0].partitions[1].last_stable_offset", 0), only_for=5),
    3: changes(FetchRequest, sets("session_id", 0), only_for=9),
    4: changes(ListOffsetsRequest, sets("topics[0].partitions[1].timestamp", 1), only_for=4),
    5: changes(DeleteRecordsRequest, sets("topics[0].partitions[0].low_watermark", 0), only_for=1),
    6: changes(OffsetForLeaderEpochRequest, sets("topics[0].partitions[1].end_offset", 0)),
    7: changes(FetchRequest, sets("node_endpoints[*].port", 1)),
}
