"""CreateTopics (KIP-4, KIP-464, KIP-525)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kwire.configs.topic_configs import EffectiveConfigs
from kwire.configs.topic_validation import PUBLIC_KEYS
from kwire.controller.authorization.access import permits_on_cluster, permitted_topics
from kwire.controller.handlers.config_changes import check_change, cleared_elrs
from kwire.controller.handlers.config_resources import ConfigChecker
from kwire.controller.handlers.limits import check_partitions, check_records
from kwire.controller.handlers.placement import check_assignment, new_partition, place_partitions
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    VersionedRecords,
    versioned,
)
from kwire.controller.handlers.topic_names import collision, name_problem
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.partition import PartitionRegistration
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.topic import TopicRecord

DESCRIBE_CONFIGS = AclOperation.DESCRIBE_CONFIGS
DEFAULT = -1
"""The number of partitions or replicas that the controller's configuration has."""
STRICT_SINCE = 6
"""The version whose clients know THROTTLING_QUOTA_EXCEEDED (KIP-599)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Created:
    records: VersionedRecords
    result: CreatableTopicResult


def handle(request: CreateTopicsRequest, context: ControllerContext) -> ControllerResult:
    """Create topics, in one batch (Java: ReplicationControlManager.createTopics).

    For each name in the request:

    1. It occurs twice: INVALID_REQUEST, once.
    2. It is __cluster_metadata: INVALID_REQUEST.
    3. CREATE is allowed neither on the cluster nor on the topic: TOPIC_AUTHORIZATION_FAILED.

    For the other topics together:

    4. More partitions, or more records, than one request may bring: POLICY_VIOLATION for all.

    For each of them by itself, first its name:

    5. It exists: TOPIC_ALREADY_EXISTS.
    6. It is not a name: INVALID_TOPIC_EXCEPTION.
    7. Metrics could not tell it from an existing topic's: INVALID_TOPIC_EXCEPTION.
    8. A configuration value is null, a key unknown or a value invalid: INVALID_CONFIG.

    then, with assignments:

    9. A number of partitions or replicas besides: INVALID_REQUEST.
    10. A partition twice, a gap in their numbers, a bad replica list (`check_assignment`), or no
        active replica: INVALID_REPLICA_ASSIGNMENT.

    or without:

    11. 0 or below -1 replicas: INVALID_REPLICATION_FACTOR; partitions: INVALID_PARTITIONS.
    12. No brokers, or only brokers that are not active: INVALID_REPLICATION_FACTOR.

    13. Only active replicas are in the ISR, the first of them leads (KIP-841: `new_partition`).
    14. Its partitions count for the sender's quota, even if the request only validates. Since
        version 6, a topic that comes when that is used up: THROTTLING_QUOTA_EXCEEDED (KIP-599).
    15. The records are TopicRecord, ConfigRecords, PartitionRecords; none if the request only
        validates.
    16. Without DESCRIBE_CONFIGS on the topic the answer has neither its configuration nor its
        numbers of partitions and replicas, but TOPIC_AUTHORIZATION_FAILED for them (KIP-525).
    """
    refused = _refused(request, context)
    # 4.
    topics = [topic for topic in request.topics if topic.name not in refused]
    check_partitions(sum(_size(topic, context) for topic in topics))
    checker = ConfigChecker(context)
    config = context.config
    effective = EffectiveConfigs(context.image, config.static.get, config.node_id)
    created: list[_Created] = []
    records: VersionedRecords = []
    for topic in topics:
        created.append(_created_or_refused(topic, checker, effective, context))
        records += created[-1].records
        check_records(records)
    results = [topic.result for topic in created]
    results += [_result(name, error) for name, error in refused.items()]
    return ControllerResult(
        # 15.
        records=() if request.validate_only else tuple(records),
        response=CreateTopicsResponse(topics=results),
    )


def event(request: CreateTopicsRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE if no topic gets beyond step 3 of `handle`."""
    names = {topic.name for topic in request.topics}
    return (
        ControllerEvent.WRITE if names - _refused(request, context).keys() else ControllerEvent.NONE
    )


def _refused(request: CreateTopicsRequest, context: ControllerContext) -> dict[str, ApiError]:
    """Return the errors of the names that are refused before anything else is looked at."""
    counts = Counter(topic.name for topic in request.topics)
    names = {name for name, count in counts.items() if count == 1} - {METADATA_TOPIC}
    access = context.access
    permitted = names
    if not permits_on_cluster(access, AclOperation.CREATE):
        permitted = permitted_topics(access, AclOperation.CREATE, names)
    refused = {}
    for name, count in counts.items():
        # 1.
        if count > 1:
            text = "The topic occurs more than once in the request."
            refused[name] = ApiError(ErrorCode.INVALID_REQUEST, text)
        # 2.
        elif name == METADATA_TOPIC:
            text = f"{METADATA_TOPIC} is not a topic that can be created."
            refused[name] = ApiError(ErrorCode.INVALID_REQUEST, text)
        # 3.
        elif name not in permitted:
            text = "CREATE is not allowed."
            refused[name] = ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, text)
    return refused


def _created_or_refused(
    topic: CreatableTopic,
    checker: ConfigChecker,
    effective: EffectiveConfigs,
    context: ControllerContext,
) -> _Created:
    """Create a topic; the result has the error if it cannot be created."""
    try:
        return _create(topic, checker, effective, context)
    except ApiError as error:
        return _Created(records=[], result=_result(topic.name, error))


def _size(topic: CreatableTopic, context: ControllerContext) -> int:
    if topic.assignments:
        return len(topic.assignments)
    is_default = topic.num_partitions == DEFAULT
    return context.config.num_partitions if is_default else max(topic.num_partitions, 0)


def _create(
    topic: CreatableTopic,
    checker: ConfigChecker,
    effective: EffectiveConfigs,
    context: ControllerContext,
) -> _Created:
    _check_name(topic.name, context)
    configs = _configs(topic, checker, context)
    partitions = _assigned(topic, context) if topic.assignments else _placed(topic, context)
    # 14.
    context.record_mutations(len(partitions), strict_since=STRICT_SINCE)
    # 15.
    id = context.new_uuid()
    records = [versioned(TopicRecord(name=topic.name, topic_id=id))]
    records += [versioned(record) for record in configs]
    records += cleared_elrs(configs, context.image.features)
    version, elr = context.metadata_version, context.image.features.elr_enabled
    for number, partition in enumerate(partitions):
        records.append(partition.record(id, number, version, elr=elr))
    result = CreatableTopicResult(
        name=topic.name,
        topic_id=id,
        error_message=None,
        configs=[],
    )
    # 16.
    if context.access.permits(DESCRIBE_CONFIGS, AclResourceType.TOPIC, topic.name):
        result.num_partitions = len(partitions)
        result.replication_factor = len(partitions[0].replicas)
        result.configs = _described(configs, effective)
    else:
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return _Created(records=records, result=result)


def _check_name(name: str, context: ControllerContext) -> None:
    # 5.
    names = context.image.topics.ids
    if name in names:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic {name} exists already.")
    # 6.
    problem = name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    # 7.
    other = collision(name, names)
    if other is not None:
        text = f"Topic {name} collides with topic {other}: metrics write '.' as '_'."
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)


def _configs(
    topic: CreatableTopic, checker: ConfigChecker, context: ControllerContext
) -> list[ConfigRecord]:
    # 8.
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        text = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise ApiError(ErrorCode.INVALID_CONFIG, text)
    values = {config.name: config.value or "" for config in topic.configs}
    resource = ConfigResource(ResourceType.TOPIC, topic.name)
    for name, value in values.items():
        check_change(
            resource, name, value, None, context.metadata_version, forwarded=context.forwarded
        )
    if values:
        checker.check(resource, values, {})
    return [
        ConfigRecord(
            resource_type=ResourceType.TOPIC, resource_name=topic.name, name=name, value=value
        )
        for name, value in values.items()
    ]


def _assigned(topic: CreatableTopic, context: ControllerContext) -> list[PartitionRegistration]:
    # 9.
    if topic.replication_factor != DEFAULT or topic.num_partitions != DEFAULT:
        text = "With assignments, the numbers of partitions and replicas must be -1."
        raise ApiError(ErrorCode.INVALID_REQUEST, text)
    # 10.
    partitions: dict[int, PartitionRegistration] = {}
    replicas: int | None = None
    for assignment in topic.assignments:
        number = assignment.partition_index
        if number in partitions:
            raise _bad_assignment(f"Partition {number} is assigned more than once.")
        check_assignment(assignment.broker_ids, replicas, context)
        replicas = len(assignment.broker_ids)
        partition = new_partition(tuple(assignment.broker_ids), context)
        if partition is None:
            raise _bad_assignment(f"No broker of partition {number} is active.")
        partitions[number] = partition
    if set(partitions) != set(range(len(partitions))):
        raise _bad_assignment("Partitions are numbered from 0 without gaps.")
    return [partitions[number] for number in range(len(partitions))]


def _placed(topic: CreatableTopic, context: ControllerContext) -> list[PartitionRegistration]:
    # 11.
    if topic.replication_factor < DEFAULT or topic.replication_factor == 0:
        text = "The number of replicas must be above 0, or -1 for the default."
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
    if topic.num_partitions < DEFAULT or topic.num_partitions == 0:
        text = "The number of partitions must be above 0, or -1 for the default."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, text)
    config = context.config
    factor, count = topic.replication_factor, topic.num_partitions
    factor = config.default_replication_factor if factor == DEFAULT else factor
    count = config.num_partitions if count == DEFAULT else count
    # 12., 13.
    placed = place_partitions(count, factor, context)
    # Partitions with the same replicas begin alike: thousands of them have few brokers.
    partitions = {}
    for replicas in set(placed):
        partition = new_partition(replicas, context)
        if partition is None:
            text = "No broker for a partition is active."
            raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
        partitions[replicas] = partition
    return [partitions[replicas] for replicas in placed]


def _described(
    configs: list[ConfigRecord], effective: EffectiveConfigs
) -> list[CreatableTopicConfigs]:
    own = {config.name: config.value for config in configs if config.value is not None}
    settings = ((key, effective.with_own(own, key)) for key in PUBLIC_KEYS)
    return [
        CreatableTopicConfigs(
            name=key,
            value=value.value,
            read_only=False,
            config_source=value.source,
            is_sensitive=False,
        )
        for key, value in settings
    ]


def _bad_assignment(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def _result(name: str, error: ApiError) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name, error_code=error.code, error_message=error.message, configs=[]
    )
