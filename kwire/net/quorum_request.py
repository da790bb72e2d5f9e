"""The request for the metadata quorum (KIP-595): it has one topic with one partition."""

from __future__ import annotations

from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def quorum_request() -> DescribeQuorumRequest:
    """Return the request for the one partition that a metadata quorum has."""
    partition = PartitionData(partition_index=METADATA_PARTITION)
    topic = TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return DescribeQuorumRequest(topics=[topic])
