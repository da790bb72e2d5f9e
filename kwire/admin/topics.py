"""Topics: CreateTopics, DeleteTopics, CreatePartitions (KIP-4, KIP-195), and their descriptions.

Kafka 3.7 and later describe partitions with their eligible leader replicas (KIP-966), in pages;
older brokers answer Metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast
from uuid import UUID

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.observed_topics import describe_observed, list_observed
from kwire.admin.operation import KeyedChanges, Operation, OperationCall, RequestPart
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_descriptions import (
    PartitionDescription,
    TopicDescription,
    TopicKey,
    TopicListing,
)
from kwire.admin.wire_values import known
from kwire.codec.declaration import Request
from kwire.errors import KwireError, UnsupportedVersion
from kwire.messages import a03_metadata as metadata
from kwire.messages import a19_create_topics as creation
from kwire.messages import a20_delete_topics as deletion
from kwire.messages import a37_create_partitions as growth
from kwire.messages import a75_describe_topic_partitions as pages
from kwire.text.ids import ZERO_UUID

_BY_BROKER_DEFAULT = -1
_DELETED_BY_ID_SINCE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """A topic to create.

    partitions, replication_factor: None for the broker's default (KIP-464). assignments: the
    replicas of each partition in order, in place of both.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignments: Sequence[Sequence[int]] = ()
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedTopic:
    """A topic that was created, or would be.

    topic_id: None before Kafka 2.8 and if it was only validated. partitions, replication_factor:
    None where the node does not tell.
    """

    topic_id: UUID | None
    partitions: int | None
    replication_factor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicGrowth:
    """The number of partitions that a topic is to have, and the replicas of the new ones."""

    partitions: int
    assignments: Sequence[Sequence[int]] = ()


async def create_topics(
    driver: Driver,
    topics: Iterable[NewTopic],
    *,
    validate_only: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, CreatedTopic]:
    """Create topics; return the outcome of each name.

    validate_only: True to have the controller check them and create none.

    Refused: TOPIC_ALREADY_EXISTS (36), INVALID_TOPIC_EXCEPTION (17), INVALID_PARTITIONS (37),
    INVALID_REPLICATION_FACTOR (38), INVALID_REPLICA_ASSIGNMENT (39), INVALID_CONFIG (40),
    POLICY_VIOLATION (44). A topic whose answer was lost is OutcomeUnknown: another request
    would be refused if the first was carried out.
    """
    by_name = {topic.name: topic for topic in topics}
    arguments = KeyedChanges(by_key=by_name, validate_only=validate_only)
    return await driver.run(CREATE_TOPICS, by_name, arguments, timeout=timeout)


async def delete_topics(
    driver: Driver, topics: Iterable[TopicKey], *, timeout: float | None = None
) -> Outcomes[TopicKey, None]:
    """Delete topics by name, or by id (Kafka 2.8); return the outcome of each.

    Refused: UNKNOWN_TOPIC_OR_PARTITION (3), UNKNOWN_TOPIC_ID (100), TOPIC_DELETION_DISABLED
    (73), TOPIC_AUTHORIZATION_FAILED (29).
    """
    return await driver.run(DELETE_TOPICS, topics, None, timeout=timeout)


async def list_topics(driver: Driver, *, timeout: float | None = None) -> list[TopicListing]:
    """Return every topic that the user may describe, by name.

    With controllers as bootstrap the answer is read from the metadata log.
    """
    return await driver.ask(LIST_TOPICS, None, None, timeout=timeout)


async def describe_topics(
    driver: Driver, topics: Iterable[TopicKey] | None = None, *, timeout: float | None = None
) -> Outcomes[TopicKey, TopicDescription]:
    """Describe topics by name or id, by default every topic that the user may describe.

    With controllers as bootstrap the answer is read from the metadata log.

    Refused: UNKNOWN_TOPIC_OR_PARTITION (3), UNKNOWN_TOPIC_ID (100), INVALID_TOPIC_EXCEPTION
    (17), TOPIC_AUTHORIZATION_FAILED (29).
    """
    deadline = driver.deadline(timeout)
    if topics is None:
        listed = await list_topics(driver, timeout=deadline.remaining)
        topics = [topic.name for topic in listed]
    return await driver.run(DESCRIBE_TOPICS, topics, PagesOfTopics(), timeout=deadline.remaining)


async def create_partitions(
    driver: Driver,
    topics: Mapping[str, TopicGrowth],
    *,
    validate_only: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, None]:
    """Give topics more partitions; return the outcome of each name.

    Refused: UNKNOWN_TOPIC_OR_PARTITION (3), INVALID_PARTITIONS (37), also if it has as many
    already; INVALID_REPLICA_ASSIGNMENT (39), REASSIGNMENT_IN_PROGRESS (60). A topic whose
    answer was lost is OutcomeUnknown: describe it to see.
    """
    arguments = KeyedChanges(by_key=topics, validate_only=validate_only)
    return await driver.run(CREATE_PARTITIONS, topics, arguments, timeout=timeout)


TopicChanges = KeyedChanges[str, NewTopic]
GrowthChanges = KeyedChanges[str, TopicGrowth]

# --- create_topics --------------------------------------------------------------------------------


def _creation(call: OperationCall[str, TopicChanges]) -> creation.CreateTopicsRequest:
    return creation.CreateTopicsRequest(
        topics=[_creatable(call.arguments.by_key[name]) for name in call.keys],
        timeout_ms=call.timeout_ms,
        validate_only=call.arguments.validate_only,
    )


def _creatable(topic: NewTopic) -> creation.CreatableTopic:
    # With an assignment both numbers must be -1, as without a wish of the caller (KIP-464).
    counted = not topic.assignments
    partitions = topic.partitions if counted else None
    replication_factor = topic.replication_factor if counted else None
    return creation.CreatableTopic(
        name=topic.name,
        num_partitions=_BY_BROKER_DEFAULT if partitions is None else partitions,
        replication_factor=_BY_BROKER_DEFAULT if replication_factor is None else replication_factor,
        assignments=[
            creation.CreatableReplicaAssignment(partition_index=index, broker_ids=tuple(replicas))
            for index, replicas in enumerate(topic.assignments)
        ],
        configs=[
            creation.CreatableTopicConfig(name=name, value=value)
            for name, value in topic.configs.items()
        ],
    )


def _created(
    response: creation.CreateTopicsResponse, call: OperationCall[str, TopicChanges]
) -> Iterator[tuple[str, CreatedTopic | KwireError]]:
    for topic in response.topics:
        yield (
            topic.name,
            refusal(topic.error_code, topic.error_message)
            or CreatedTopic(
                topic_id=_known_id(topic.topic_id),
                partitions=known(topic.num_partitions),
                replication_factor=known(topic.replication_factor),
            ),
        )


CREATE_TOPICS = Operation(row=registry.CREATE_TOPICS, build=_creation, parse=_created)


# --- delete_topics --------------------------------------------------------------------------------


def _deletion(call: OperationCall[TopicKey, None]) -> deletion.DeleteTopicsRequest:
    names = tuple(key for key in call.keys if isinstance(key, str))
    if call.offers(deletion.DeleteTopicsRequest, _DELETED_BY_ID_SINCE):
        states = [
            deletion.DeleteTopicState(name=key)
            if isinstance(key, str)
            else deletion.DeleteTopicState(topic_id=key)
            for key in call.keys
        ]
        return deletion.DeleteTopicsRequest(topics=states, timeout_ms=call.timeout_ms)
    if len(names) < len(call.keys):
        raise UnsupportedVersion("the node deletes topics by name only: it is older than Kafka 2.8")
    return deletion.DeleteTopicsRequest(topic_names=names, timeout_ms=call.timeout_ms)


def _deleted(
    response: deletion.DeleteTopicsResponse, call: OperationCall[TopicKey, None]
) -> Iterator[tuple[TopicKey, KwireError | None]]:
    asked = frozenset(call.keys)
    for topic in response.responses:
        # The answer has name and id of a topic that was found, whichever was asked for.
        error = refusal(topic.error_code, topic.error_message)
        if topic.topic_id in asked:
            yield topic.topic_id, error
        elif topic.name is not None:
            yield topic.name, error


DELETE_TOPICS: Operation[TopicKey, None, None] = Operation(
    row=registry.DELETE_TOPICS, build=_deletion, parse=_deleted
)


# --- list_topics ----------------------------------------------------------------------------------


def _listed(
    response: metadata.MetadataResponse, call: OperationCall[None, None]
) -> Iterator[tuple[None, list[TopicListing]]]:
    raise_for_code(response.error_code)
    topics = (
        TopicListing(
            name=topic.name or "",
            topic_id=_known_id(topic.topic_id),
            is_internal=topic.is_internal,
        )
        for topic in response.topics
    )
    yield None, sorted(topics, key=lambda topic: topic.name)


LIST_TOPICS: Operation[None, None, list[TopicListing]] = Operation(
    row=registry.LIST_TOPICS,
    build=lambda call: metadata.MetadataRequest(topics=None, allow_auto_topic_creation=False),
    parse=_listed,
    observe=lambda image, keys, arguments: [(None, list_observed(image))],
)


# --- describe_topics ------------------------------------------------------------------------------


class PagesOfTopics:
    """The partitions of topics that have arrived, while there are pages to come."""

    def __init__(self) -> None:
        self._partitions: dict[str, dict[int, PartitionDescription]] = {}

    def add(self, topic: pages.DescribeTopicPartitionsResponseTopic) -> None:
        """Keep the partitions of one page; a page that is asked again replaces them."""
        partitions = self._partitions.setdefault(topic.name or "", {})
        for partition in topic.partitions:
            partitions[partition.partition_index] = replace(
                _partition(partition),
                elr=partition.eligible_leader_replicas,
                last_known_elr=partition.last_known_elr,
            )

    def take(self, name: str) -> tuple[PartitionDescription, ...]:
        """Return the partitions of a topic in order, and forget them."""
        partitions = self._partitions.pop(name, {})
        return tuple(partitions[index] for index in sorted(partitions))


def _partition(
    partition: pages.DescribeTopicPartitionsResponsePartition | metadata.MetadataResponsePartition,
) -> PartitionDescription:
    return PartitionDescription(
        partition=partition.partition_index,
        leader_id=known(partition.leader_id),
        leader_epoch=known(partition.leader_epoch),
        replicas=partition.replica_nodes,
        isr=partition.isr_nodes,
        offline=partition.offline_replicas,
    )


DescribeCall = OperationCall[TopicKey, PagesOfTopics]


def _description(call: DescribeCall) -> Iterator[RequestPart[TopicKey]]:
    names = tuple(sorted(key for key in call.keys if isinstance(key, str)))
    ids = tuple(key for key in call.keys if isinstance(key, UUID))
    if names and call.offers(pages.DescribeTopicPartitionsRequest):
        topics = [pages.TopicRequest(name=name) for name in names]
        yield names, pages.DescribeTopicPartitionsRequest(topics=topics)
    elif names:
        yield names, _metadata_of([metadata.MetadataRequestTopic(name=name) for name in names])
    if ids:
        by_id = [metadata.MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in ids]
        yield ids, _metadata_of(by_id)


def _metadata_of(topics: list[metadata.MetadataRequestTopic]) -> metadata.MetadataRequest:
    return metadata.MetadataRequest(topics=topics, allow_auto_topic_creation=False)


def _described(
    response: pages.DescribeTopicPartitionsResponse | metadata.MetadataResponse, call: DescribeCall
) -> Iterator[tuple[TopicKey, TopicDescription | KwireError]]:
    if isinstance(response, metadata.MetadataResponse):
        asked = frozenset(call.keys)
        for topic in response.topics:
            key = topic.topic_id if topic.topic_id in asked else topic.name or ""
            yield key, refusal(topic.error_code) or _of_metadata(topic)
        return
    unfinished = response.next_cursor.topic_name if response.next_cursor else None
    for page in response.topics:
        name = page.name or ""
        if error := refusal(page.error_code):
            yield name, error
            continue
        call.arguments.add(page)
        if name != unfinished:
            yield (
                name,
                TopicDescription(
                    name=name,
                    topic_id=_known_id(page.topic_id),
                    is_internal=page.is_internal,
                    partitions=call.arguments.take(name),
                ),
            )


def _of_metadata(topic: metadata.MetadataResponseTopic) -> TopicDescription:
    partitions = sorted(topic.partitions, key=lambda partition: partition.partition_index)
    return TopicDescription(
        name=topic.name or "",
        topic_id=_known_id(topic.topic_id),
        is_internal=topic.is_internal,
        partitions=tuple(map(_partition, partitions)),
    )


def _next_page(
    response: pages.DescribeTopicPartitionsResponse | metadata.MetadataResponse, call: DescribeCall
) -> Request | None:
    if isinstance(response, metadata.MetadataResponse) or response.next_cursor is None:
        return None
    cursor = response.next_cursor
    # Topics come in the order of their names; those before the cursor are complete.
    rest = [name for name in cast("tuple[str, ...]", call.keys) if name >= cursor.topic_name]
    if not rest:
        return None  # a request for no topic is one for all
    return pages.DescribeTopicPartitionsRequest(
        topics=[pages.TopicRequest(name=name) for name in rest], cursor=cursor
    )


DESCRIBE_TOPICS: Operation[TopicKey, PagesOfTopics, TopicDescription] = Operation(
    row=registry.DESCRIBE_TOPICS,
    build=_description,
    parse=_described,
    follow=_next_page,
    observe=lambda image, keys, arguments: describe_observed(image, keys).items(),
)


# --- create_partitions ----------------------------------------------------------------------------


def _growth(call: OperationCall[str, GrowthChanges]) -> growth.CreatePartitionsRequest:
    topics = [(name, call.arguments.by_key[name]) for name in call.keys]
    return growth.CreatePartitionsRequest(
        topics=[
            growth.CreatePartitionsTopic(
                name=name,
                count=topic.partitions,
                assignments=[
                    growth.CreatePartitionsAssignment(broker_ids=tuple(replicas))
                    for replicas in topic.assignments
                ]
                or None,
            )
            for name, topic in topics
        ],
        timeout_ms=call.timeout_ms,
        validate_only=call.arguments.validate_only,
    )


CREATE_PARTITIONS: Operation[str, GrowthChanges, None] = Operation(
    row=registry.CREATE_PARTITIONS,
    build=_growth,
    parse=lambda response, call: (
        (topic.name, refusal(topic.error_code, topic.error_message)) for topic in response.results
    ),
)


def _known_id(topic_id: UUID) -> UUID | None:
    return None if topic_id == ZERO_UUID else topic_id
