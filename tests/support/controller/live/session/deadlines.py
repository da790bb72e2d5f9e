"""Requests that have no time: Kafka looks at their elements, and then answers REQUEST_TIMED_OUT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Request
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.support.controller.live.admin_session import Step

PRESENT, ABSENT = "deadlines", "deadlines.absent"


def _topics(*names: str, **more: Any) -> CreateTopicsRequest:
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    return CreateTopicsRequest(topics=topics).replace(**more)


def _deletion(*topics: str | int) -> DeleteTopicsRequest:
    states = [
        DeleteTopicState(name=topic)
        if isinstance(topic, str)
        else DeleteTopicState(name=None, topic_id=UUID(int=topic))
        for topic in topics
    ]
    return DeleteTopicsRequest(topics=states)


def _growth(*names: str) -> CreatePartitionsRequest:
    topics = [CreatePartitionsTopic(name=name, count=3, assignments=None) for name in names]
    return CreatePartitionsRequest(topics=topics)


_PARTITION = ReassignablePartition(partition_index=0, replicas=(2,))

REQUESTS: Mapping[str, Request] = {
    "CreateTopics": _topics("late"),
    "CreateTopics to validate": _topics("late", validate_only=True),
    "CreateTopics of refused ones": _topics("twice", "twice", "__cluster_metadata"),
    "CreateTopics of a refused one and another": _topics("twice", "twice", "late"),
    "CreateTopics of none": _topics(),
    "DeleteTopics": _deletion(PRESENT),
    "DeleteTopics of an unknown name": _deletion(ABSENT),
    "DeleteTopics of an unknown id": _deletion(77),
    "DeleteTopics of one twice": _deletion(PRESENT, PRESENT),
    "DeleteTopics of one twice and another": _deletion(PRESENT, PRESENT, ABSENT),
    "DeleteTopics of neither": _deletion(0),
    "DeleteTopics of none": _deletion(),
    "CreatePartitions": _growth(PRESENT),
    "CreatePartitions of one twice": _growth(PRESENT, PRESENT),
    "CreatePartitions of none": _growth(),
    "ElectLeaders": ElectLeadersRequest(
        topic_partitions=[TopicPartitions(topic=PRESENT, partitions=(0,))]
    ),
    "ElectLeaders of all": ElectLeadersRequest(topic_partitions=None),
    "ElectLeaders of type 7": ElectLeadersRequest(election_type=7, topic_partitions=None),
    "ElectLeaders of none": ElectLeadersRequest(),
    "AlterPartitionReassignments": AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=PRESENT, partitions=[_PARTITION])]
    ),
    "AlterPartitionReassignments of none": AlterPartitionReassignmentsRequest(),
    "ListPartitionReassignments": ListPartitionReassignmentsRequest(),
    "UpdateFeatures": UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature="group.version", max_version_level=1)]
    ),
}
LAST = ("CreateTopics", "DeleteTopics", "CreatePartitions")
"""Those that change something at the leader when they have time."""


def script() -> Iterator[Step]:
    """Yield each request without time, and with time for it, for the leader and a follower."""
    here = CreatableReplicaAssignment(partition_index=0, broker_ids=(1,))
    topic = CreatableTopic(
        name=PRESENT, num_partitions=-1, replication_factor=-1, assignments=[here]
    )
    yield Step(name="create for deadlines", request=CreateTopicsRequest(topics=[topic]))
    for limit_ms in (0, -1, -(2**31), 9000):
        for name, request in REQUESTS.items():
            for follower in (False, True):
                if limit_ms > 0 and name in LAST and not follower:
                    continue
                where = " at a follower" if follower else ""
                timed = request.replace(timeout_ms=limit_ms)
                yield Step(name=f"{name} in {limit_ms} ms{where}", request=timed, follower=follower)
    yield Step(name="the end of deadlines", request=_deletion(PRESENT).replace(timeout_ms=9000))
