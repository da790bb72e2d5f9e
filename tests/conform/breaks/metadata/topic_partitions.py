"""Breaks of `metadata/topic-partitions`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.messages.a75_describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest

_API = DescribeTopicPartitionsRequest

BREAKS: dict[int, Break] = {
    1: gives_error(_API, 0),
    2: repairs(_API, sets("response_partition_limit", 2000)),
    3: repairs(_API, sets("cursor", None)),
    4: changes(_API, sets("next_cursor", Cursor(topic_name="x", partition_index=0))),
    5: changes(_API, sets("topics", lambda topics: topics[::-1])),
    6: repairs(_API, sets("cursor", None)),
    7: gives_error(_API, 0),
    8: changes(_API, sets("topics", lambda topics: topics * 2)),
}
