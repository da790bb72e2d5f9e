"""Brokers that move partitions and keep configuration, as far as a reassignment asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from kwire.admin.topic_partition import TopicPartition
from kwire.codec.declaration import Response
from kwire.messages import a03_metadata as metadata
from kwire.messages import a32_describe_configs as described
from kwire.messages import a44_incremental_alter_configs as changed
from kwire.messages import a45_alter_partition_reassignments as altered
from kwire.messages import a46_list_partition_reassignments as listed
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

SET, DELETE, APPEND, SUBTRACT = range(4)


class ScriptedMoves:
    """Partitions by replicas, configuration by resource, and the moves under way.

    listings: how often a move is listed before it ends; -1 for ever. late: how often brokers tell
    the replicas of before after a move ended. refused: the error code of every move, 0 to begin it.
    events: what was done, in order, as words.
    """

    def __init__(self, brokers: ScriptedBrokers) -> None:
        self.brokers = brokers
        self.replicas: dict[TopicPartition, tuple[int, ...]] = {}
        self.moving: dict[TopicPartition, tuple[int, ...]] = {}
        self.configs: defaultdict[ConfigResource, dict[str, str]] = defaultdict(dict)
        self.listings = 1
        self.late = 0
        self.refused = 0
        self._before: dict[TopicPartition, tuple[int, ...]] = {}
        self.events: list[str] = []
        for node in brokers.nodes:
            node.scripts |= {
                metadata.MetadataRequest: self._metadata,
                described.DescribeConfigsRequest: self._describe,
                changed.IncrementalAlterConfigsRequest: self._change,
                altered.AlterPartitionReassignmentsRequest: self._alter,
                listed.ListPartitionReassignmentsRequest: self._list,
            }

    def config(self, type: ResourceType, name: str) -> dict[str, str]:
        """Return the keys that are set for one resource."""
        return self.configs[ConfigResource(type, name)]

    @property
    def throttled(self) -> bool:
        """True if any key is set anywhere."""
        return any(self.configs.values())

    def _metadata(self, request: RequestFrame) -> Response:
        topics = cast(metadata.MetadataRequest, request.body).topics
        if self._before:
            self.late -= 1
            if self.late < 0:
                self._before = {}
        known = sorted({key.topic for key in self.replicas})
        names = known if topics is None else [topic.name or "" for topic in topics]
        return metadata.MetadataResponse(
            brokers=[
                metadata.MetadataResponseBroker(node_id=index, host="127.0.0.1", port=node.port)
                for index, node in enumerate(self.brokers.nodes)
            ],
            topics=[
                metadata.MetadataResponseTopic(
                    name=name, error_code=0 if name in known else 3, partitions=self._of(name)
                )
                for name in names
            ],
        )

    def _of(self, topic: str) -> list[metadata.MetadataResponsePartition]:
        return [
            metadata.MetadataResponsePartition(
                partition_index=key.partition,
                leader_id=replicas[0],
                replica_nodes=replicas,
                isr_nodes=replicas,
            )
            for key, replicas in {**self.replicas, **self._before}.items()
            if key.topic == topic
        ]

    def _describe(self, request: RequestFrame) -> Response:
        resources = cast(described.DescribeConfigsRequest, request.body).resources
        sources = {
            ResourceType.TOPIC: ConfigSource.TOPIC,
            ResourceType.BROKER: ConfigSource.DYNAMIC_BROKER,
        }
        return described.DescribeConfigsResponse(
            results=[
                described.DescribeConfigsResult(
                    resource_type=it.resource_type,
                    resource_name=it.resource_name,
                    configs=[
                        described.DescribeConfigsResourceResult(
                            name=name,
                            value=value,
                            config_source=sources[ResourceType(it.resource_type)],
                        )
                        for name, value in self.configs[
                            ConfigResource(it.resource_type, it.resource_name)
                        ].items()
                    ],
                )
                for it in resources
            ]
        )

    def _change(self, request: RequestFrame) -> Response:
        resources = cast(changed.IncrementalAlterConfigsRequest, request.body).resources
        for it in resources:
            keys = self.configs[ConfigResource(it.resource_type, it.resource_name)]
            for config in it.configs:
                self._apply(keys, config)
        self.events.append("throttle" if self.throttled else "no throttle")
        return changed.IncrementalAlterConfigsResponse(
            responses=[
                changed.AlterConfigsResourceResponse(
                    resource_type=it.resource_type, resource_name=it.resource_name
                )
                for it in resources
            ]
        )

    def _apply(self, keys: dict[str, str], config: changed.AlterableConfig) -> None:
        old = [entry for entry in keys.get(config.name, "").split(",") if entry]
        entries = (config.value or "").split(",")
        match config.config_operation:
            case 0:
                keys[config.name] = config.value or ""
            case 1:
                keys.pop(config.name, None)
            case 2:
                keys[config.name] = ",".join([*old, *entries])
            case _:
                keys[config.name] = ",".join(entry for entry in old if entry not in entries)

    def _alter(self, request: RequestFrame) -> Response:
        topics = cast(altered.AlterPartitionReassignmentsRequest, request.body).topics
        self.events.append("move")
        for topic in topics:
            for part in topic.partitions:
                key = TopicPartition(topic.name, part.partition_index)
                if part.replicas is None:
                    self.moving.pop(key, None)
                elif not self.refused:
                    self.moving[key] = part.replicas
        return altered.AlterPartitionReassignmentsResponse(
            error_message=None,
            responses=[
                altered.ReassignableTopicResponse(
                    name=topic.name,
                    partitions=[
                        altered.ReassignablePartitionResponse(
                            partition_index=part.partition_index,
                            error_code=self.refused,
                            error_message=None,
                        )
                        for part in topic.partitions
                    ],
                )
                for topic in topics
            ],
        )

    def _list(self, request: RequestFrame) -> Response:
        ongoing = dict(self.moving)
        if self.moving and self.listings == 0:
            self.events.append("moved")
            self._before = {key: self._ongoing(key, it).replicas for key, it in ongoing.items()}
            self.replicas |= self.moving
            self.moving, ongoing = {}, {}
        elif self.moving:
            self.listings -= 1
        return listed.ListPartitionReassignmentsResponse(
            error_message=None,
            topics=[
                listed.OngoingTopicReassignment(
                    name=key.topic, partitions=[self._ongoing(key, target)]
                )
                for key, target in ongoing.items()
            ],
        )

    def _ongoing(
        self, key: TopicPartition, target: tuple[int, ...]
    ) -> listed.OngoingPartitionReassignment:
        old = self.replicas[key]
        removing = tuple(b for b in old if b not in target)
        return listed.OngoingPartitionReassignment(
            partition_index=key.partition,
            replicas=(*target, *removing),
            adding_replicas=tuple(b for b in target if b not in old),
            removing_replicas=removing,
        )


@asynccontextmanager
async def scripted_moves(count: int) -> AsyncIterator[ScriptedMoves]:
    """Run so many brokers."""
    async with scripted_brokers(count) as brokers:
        yield ScriptedMoves(brokers)
