"""Breaks of `answers/metadata`."""

from breaking import Break, changes, sets
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a75_describe_topic_partitions import DescribeTopicPartitionsRequest

BREAKS: dict[int, Break] = {
    1: changes(MetadataRequest, sets("topics[0].partitions[1].leader_epoch", 7), only_for=7),
    2: changes(
        DescribeTopicPartitionsRequest, sets("topics[0].partitions[0].offline_replicas", (1,))
    ),
    3: changes(DescribeClusterRequest, sets("brokers[0].port", 1), only_for=0),
    4: changes(FindCoordinatorRequest, sets("host", "elsewhere"), only_for=2),
    5: changes(DescribeClusterRequest, sets("brokers[0].host", "elsewhere")),
}
