"""Whole answers about replicas, log directories, quotas, credentials and features."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import batch, new_log
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.own_broker import OwnBroker
from kwire.conform.quorum import features_of
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, schema
from kwire.conform.whole_answer import (
    BOTH,
    FILLED,
    POSITIVE,
    both,
    expect_in_each_version,
    expect_whole,
    filled,
    including,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AlterClientQuotasRequest,
    AlterPartitionReassignmentsRequest,
    AlterReplicaLogDirsRequest,
    AlterUserScramCredentialsRequest,
    DescribeClientQuotasRequest,
    DescribeLogDirsRequest,
    DescribeUserScramCredentialsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
    UpdateFeaturesRequest,
)

SECTION = CheckSection("answers/admin", "Replicas, log directories, quotas, credentials, features")

_MISSING = 7
"""A partition that topics of this module do not have."""
_REFUSED = {"partition_index": _MISSING, "error_code": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
_VALIDATES = 1
"""The first version of UpdateFeatures that can only be tried."""
_SAFE_DOWNGRADE = 2
_DOWNGRADED = ("transaction.version", "group.version")
_QUOTAS = {"producer_byte_rate": 1_048_576.0, "consumer_byte_rate": 2_097_152.0}
_MECHANISMS, _ITERATIONS = (1, 2), 5000
"""SHA-256 and SHA-512, and how often each is applied."""


@SECTION.broker_check(1, schema("DescribeLogDirsResponse"))
async def _(server: Server) -> None:
    """DescribeLogDirs tells of each partition its size, in every version."""
    log = await new_log(server, 2)
    data = batch()
    await log.append(data)
    sizes = enumerate((len(data), 0))
    partitions = [{"partition_index": index, "partition_size": size} for index, size in sizes]
    directory = {
        "log_dir": FILLED,
        # Before 3.7 others come along, without partitions.
        "topics": including({"name": log.topic, "partitions": partitions}),
        "total_bytes": POSITIVE,
        "usable_bytes": POSITIVE,
    }
    asked = {"topic": log.topic, "partitions": BOTH}
    request = filled(DescribeLogDirsRequest, topics=[asked])
    await expect_in_each_version(log.leader, request, {"results": including(directory)})


@SECTION.broker_check(2, schema("AlterReplicaLogDirsResponse"))
async def _(server: Server) -> None:
    """AlterReplicaLogDirs answers each partition once, under its topic, in every version."""
    log = await new_log(server, 2)
    described = await log.leader.ask(DescribeLogDirsRequest(topics=None))
    path = next(
        result.log_dir
        for result in described.results
        if log.topic in [topic.name for topic in result.topics]
    )
    topic = {"name": log.topic, "partitions": (*BOTH, _MISSING)}
    expected = {"results": [{"topic_name": log.topic, "partitions": [*both(), _REFUSED]}]}
    request = filled(AlterReplicaLogDirsRequest, dirs=[{"path": path, "topics": [topic]}])
    await expect_in_each_version(log.leader, request, expected)


async def _topic(server: Server) -> str:
    """Create a topic with two partitions; a controller knows it then, and brokers soon."""
    topic = new_topic(server.name(), partitions=len(BOTH))
    expect_error(await create(server, topic), ErrorCode.NONE)
    return topic.name


@SECTION.check(3, schema("ElectLeadersResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """ElectLeaders answers each partition once, under its topic, in every version."""
    topic = await _topic(server)
    codes = dict.fromkeys(BOTH, ErrorCode.ELECTION_NOT_NEEDED)
    codes[_MISSING] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    results = [{"partition_id": index, "error_code": code} for index, code in codes.items()]
    expected = {"replica_election_results": [{"topic": topic, "partition_result": results}]}
    asked = {"topic": topic, "partitions": tuple(codes)}
    request = filled(ElectLeadersRequest, topic_partitions=[asked])
    connection = await server.connection()
    await expect_in_each_version(connection, request, expected, server.ask_controller)


@SECTION.check(4, schema("AlterPartitionReassignmentsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """AlterPartitionReassignments answers each partition once, in every version."""
    topic = await _topic(server)
    own = {"allow_replication_factor_change": False}
    parts = [*both(error_code=ErrorCode.NO_REASSIGNMENT_IN_PROGRESS), _REFUSED]
    expected = {"responses": [{"name": topic, "partitions": parts}], **own}
    asked = [*both(), {"partition_index": _MISSING}]
    topics = [{"name": topic, "partitions": asked}]
    request = filled(AlterPartitionReassignmentsRequest, topics=topics, **own)
    connection = await server.connection()
    await expect_in_each_version(connection, request, expected, server.ask_controller)


@SECTION.check(5, schema("DescribeClientQuotasResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Quotas of a user's client are set, and described as they were set, in every version."""
    names = {"user": server.name(), "client-id": server.name()}
    entity = [{"entity_type": kind, "entity_name": name} for kind, name in names.items()]
    quotas = [{"key": key, "value": value} for key, value in _QUOTAS.items()]

    async def remove() -> None:
        gone = {"entity": entity, "ops": [{**quota, "remove": True} for quota in quotas]}
        await server.ask_controller(filled(AlterClientQuotasRequest, entries=[gone]))

    server.remove_afterwards(f"quotas of {names['user']}", remove)
    connection = await server.connection()
    request = filled(AlterClientQuotasRequest, entries=[{"entity": entity, "ops": quotas}])
    answered = {"entries": [{"entity": entity}]}
    await expect_in_each_version(connection, request, answered, server.ask_controller)
    if server.target.role is ServerRole.CONTROLLER:
        return  # only brokers describe them
    parts = [{"entity_type": kind, "match": name} for kind, name in names.items()]
    wanted = filled(DescribeClientQuotasRequest, components=parts, strict=True)

    async def described() -> bool:
        return bool((await connection.ask(wanted)).entries)

    await server.wait_for("the quotas", described)
    entry = {"entity": entity, "values": quotas}
    await expect_in_each_version(connection, wanted, {"entries": [entry]})
    # Strict: an entity with further parts is another one.
    wanted.components = wanted.components[:1]
    await expect_in_each_version(connection, wanted, {"entries": []})


async def _set_credentials(server: Server, user: str, missing: str) -> None:
    """Set a user's credentials of both mechanisms, and try to delete those of another."""

    async def remove() -> None:
        for mechanism in _MECHANISMS:
            gone = {"name": user, "mechanism": mechanism}
            await server.ask_controller(filled(AlterUserScramCredentialsRequest, deletions=[gone]))

    server.remove_afterwards(f"SCRAM credentials of {user}", remove)
    results = [{"user": user}, {"user": missing, "error_code": ErrorCode.RESOURCE_NOT_FOUND}]
    for mechanism, size in zip(_MECHANISMS, (32, 64), strict=True):
        own = {"mechanism": mechanism}
        upsertion = {
            **own,
            "name": user,
            "iterations": _ITERATIONS,
            "salt": b"kwire-conform",
            "salted_password": bytes(size),
        }
        request = filled(
            AlterUserScramCredentialsRequest,
            deletions=[{**own, "name": missing}],
            upsertions=[upsertion],
        )
        expect_whole(await server.ask_controller(request), {"results": results}, 0)


@SECTION.check(6, schema("DescribeUserScramCredentialsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """SCRAM credentials of two mechanisms are set, and described as they were set."""
    user, missing = server.name(), server.name()
    connection = await server.connection()
    await _set_credentials(server, user, missing)
    if server.target.role is ServerRole.CONTROLLER:
        return  # only brokers describe them
    own = [{"mechanism": mechanism, "iterations": _ITERATIONS} for mechanism in _MECHANISMS]
    results = [
        {"user": user, "credential_infos": own},
        {"user": missing, "error_code": ErrorCode.RESOURCE_NOT_FOUND},
    ]
    wanted = filled(DescribeUserScramCredentialsRequest, users=[{"name": user}, {"name": missing}])

    async def described() -> bool:
        answer = await connection.ask(wanted)
        return any(len(result.credential_infos) > 1 for result in answer.results)

    await server.wait_for("both credentials", described)
    await expect_in_each_version(connection, wanted, {"results": results})


@SECTION.check(7, schema("UpdateFeaturesResponse"))
async def _(server: Server) -> None:
    """UpdateFeatures answers each feature by its name in v1, and none from v2 on."""
    connection = await server.connection()
    levels = (await features_of(connection)).finalized_features
    updates = [
        {"feature": name, "max_version_level": level.max_version} for name, level in levels.items()
    ]
    results = [{"feature": name} for name in levels]
    request = filled(UpdateFeaturesRequest, feature_updates=updates, validate_only=True)
    await expect_in_each_version(
        connection, request, {"results": results}, server.ask_controller, since=_VALIDATES
    )


@SECTION.check(8, schema("UpdateFeaturesRequest", "ValidateOnly"), needs=Need.THROW_AWAY)
async def _(server: Server) -> None:
    """A downgrade that is only tried is accepted, and not made."""
    connection = await server.connection()
    connection.demand_since(UpdateFeaturesRequest, _VALIDATES)
    before = (await features_of(connection)).finalized_features
    name = next((name for name in _DOWNGRADED if name in before), None)
    if name is None:
        raise Skipped("it has none of the features that can be taken back at once")
    level = before[name].max_version - 1
    update = {"feature": name, "max_version_level": level, "upgrade_type": _SAFE_DOWNGRADE}
    request = filled(UpdateFeaturesRequest, feature_updates=[update], validate_only=True)
    expect_error(await server.ask_controller(request), ErrorCode.NONE)
    after = (await features_of(connection)).finalized_features
    expect_equal(f"level of {name}", after[name].max_version, level + 1)


@SECTION.check(
    9,
    schema("ListPartitionReassignmentsResponse"),
    role=ServerRole.CONTROLLER,
    needs=Need.THROW_AWAY,
    alone=True,
)
async def _(server: Server) -> None:
    """A partition that moves is listed with the replicas that come and go, and no other is."""
    old, new = await OwnBroker.register(server), await OwnBroker.register(server)
    topic = new_topic(
        server.name(), partitions=-1, replicas=-1, assignments={0: (old.id,), 1: (old.id,)}
    )
    expect_error(await create(server, topic), ErrorCode.NONE)
    index = {"partition_index": 1}
    topics = [{"name": topic.name, "partitions": [{**index, "replicas": (new.id,)}]}]
    move = filled(AlterPartitionReassignmentsRequest, topics=topics)
    begun = {"responses": [{"name": topic.name, "partitions": [index]}]}
    connection = await server.connection()
    await expect_in_each_version(connection, move, begun, server.ask_controller)
    moving = {
        **index,
        "replicas": (new.id, old.id),
        "adding_replicas": (new.id,),
        "removing_replicas": (old.id,),
    }
    listed = {"topics": [{"name": topic.name, "partitions": [moving]}]}
    asked = {"name": topic.name, "partition_indexes": BOTH}
    request = filled(ListPartitionReassignmentsRequest, topics=[asked])
    await expect_in_each_version(connection, request, listed, server.ask_controller)
