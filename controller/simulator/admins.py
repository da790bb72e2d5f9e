"""Admins who create, change and delete what the brokers serve."""

from __future__ import annotations

from controller.handlers.elect_leaders import PREFERRED, UNCLEAN
from controller.simulator.brokers import Brokers
from controller.simulator.cluster import Cluster
from controller.simulator.violation import Violation
from kwire.apis.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.apis.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.apis.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.apis.a43_elect_leaders import ElectLeadersRequest
from kwire.apis.a64_unregister_broker import UnregisterBrokerRequest
from kwire.declaration import Response
from kwire.image import MetadataImage
from kwire.image.topics import TopicImage

MOST_TOPICS = 6
"""Every batch is checked against every partition."""


class Admins:
    """Their requests take the way of the brokers' requests.

    AcknowledgedTopic: a topic of which an admin was told is there until somebody deletes it.
    """

    def __init__(self, cluster: Cluster, brokers: Brokers) -> None:
        self._cluster, self._random, self._brokers = cluster, cluster.random, brokers
        self._created = 0
        self._deleted: set[str] = set()

    def act(self) -> None:
        """One request of any kind."""
        topics = sorted(self._image.topics.by_id.values(), key=lambda topic: topic.name)
        if len(topics) < MOST_TOPICS and self._random.random() < 0.5:
            self._create()
        elif topics and self._random.random() < 0.5:
            self._change(self._random.choice(topics))
        else:
            self._elect_or_unregister()

    @property
    def _image(self) -> MetadataImage:
        return self._cluster.eligibility.image

    def _create(self) -> None:
        self._created += 1
        name = f"t{self._created}"
        unclean = CreatableTopicConfig(name="unclean.leader.election.enable", value="true")
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            configs=[unclean] if self._random.random() < 0.3 else [],
        )
        if self._random.random() < 0.5:
            topic.num_partitions = self._random.randint(1, 3)
            topic.replication_factor = self._random.randint(1, len(self._brokers.members))
        else:
            topic.assignments = self._assignments()

        def created(response: Response) -> None:
            assert isinstance(response, CreateTopicsResponse)
            lost = name not in self._image.topics.ids and name not in self._deleted
            if not response.topics[0].error_code and lost:
                raise Violation("AcknowledgedTopic", f"{name} was created, and is gone")

        self._brokers.send(CreateTopicsRequest(topics=[topic]), 7, created)

    def _assignments(self) -> list[CreatableReplicaAssignment]:
        ids = [broker.id for broker in self._brokers.members]
        count = self._random.randint(1, len(ids))
        return [
            CreatableReplicaAssignment(
                partition_index=number, broker_ids=tuple(self._random.sample(ids, count))
            )
            for number in range(2)
        ]

    def _change(self, topic: TopicImage) -> None:
        if self._random.random() < 0.3:
            self._deleted.add(topic.name)
            state = DeleteTopicState(name=None, topic_id=topic.id)
            self._brokers.send(DeleteTopicsRequest(topics=[state]), 6)
        elif len(topic.partitions) < 4:
            grown = CreatePartitionsTopic(
                name=topic.name, count=len(topic.partitions) + 1, assignments=None
            )
            self._brokers.send(CreatePartitionsRequest(topics=[grown]), 3)

    def _elect_or_unregister(self) -> None:
        if self._random.random() < 0.8:
            type = self._random.choice((PREFERRED, UNCLEAN))
            self._brokers.send(ElectLeadersRequest(election_type=type, topic_partitions=None), 2)
        else:
            broker = self._random.choice(self._brokers.members)
            self._brokers.send(UnregisterBrokerRequest(broker_id=broker.id), 0)
