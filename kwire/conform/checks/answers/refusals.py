"""Whole answers to what is refused: the same error, in its place, in every version of an API."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Request
from kwire.conform.check import CheckSection, scenario
from kwire.conform.expectation import first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, schema
from kwire.conform.whole_answer import ANYTHING, expect_whole, filled, of_version, one_of
from kwire.error_codes import ErrorCode
from kwire.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    DescribeClientQuotasRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    MetadataRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
    UnregisterBrokerRequest,
    UpdateFeaturesRequest,
)
from kwire.messages.config_resource import ResourceType

SECTION = CheckSection("answers/refusals", "Errors, in every version")

_BROKER = ServerRole.BROKER
_NOBODY = "nobody"
_BY_ID = 10
"""The first version of OffsetCommit with topic ids."""
_MANY = 3
"""The first version of LeaveGroup for many members."""
_NOT_FOUND = 6
"""The first version of DescribeGroups that says that there is no such group."""
_ABSENT, _ABSENT_ID = 2_000_000_000, UUID(int=0x1234_5678_9ABC_4DEF_8123_4567_89AB_CDEF)
_UNKNOWN_MEMBER = {"error_code": ErrorCode.UNKNOWN_MEMBER_ID}
_NO_NODE = {"error_code": ErrorCode.INVALID_REQUEST, "node_id": -1, "host": "", "port": -1}

RefusedFields = Callable[[str, int], dict[str, Any]]
"""Returns the answer that is expected, by the name that the request has and its version."""


def refused(
    number: int,
    sentence: str,
    send: Callable[[str], Request],
    expected: RefusedFields,
    *,
    of_group: bool = False,
    role: ServerRole = _BROKER,
    since: int = 0,
) -> None:
    """Declare a check of a request with a name that nothing has, in every version from `since`.

    of_group: True if the name is a group's, and its coordinator is asked.
    """

    async def run(server: Server) -> None:
        name = server.name()
        connection = await (server.coordinator(name) if of_group else server.connection())
        request = send(name)
        for version in connection.offered(type(request), since=since):
            fitted = of_version(request, version)
            answer = await server.ask_controller(fitted, version, connection)
            if of_group and first_error(answer) == ErrorCode.UNSUPPORTED_VERSION:
                raise Skipped("the server has this API, but it is not enabled")
            expect_whole(answer, expected(name, version), version)

    needs = Need.RESOURCES if of_group else Need.NOTHING
    source = schema(type(send("")).__name__.replace("Request", "Response"))
    SECTION[number] = scenario(sentence, source, role=role, needs=needs)(run)


def _topics(name: str, **fields: Any) -> dict[str, Any]:
    """Return a partition of a topic that there is not. fields: of the partition."""
    parts = [{"partition_index": 1, **fields}]
    return {"topics": [{"name": name, "topic_id": _ABSENT_ID, "partitions": parts}]}


def _groups(name: str, code: int, **fields: Any) -> dict[str, Any]:
    return {"groups": [{"group_id": name, "error_code": code, **fields}]}


def _resource(name: str, **fields: Any) -> dict[str, Any]:
    return {"resource_type": ResourceType.TOPIC, "resource_name": name, **fields}


_group = partial(refused, of_group=True)

_group(
    1,
    "JoinGroup of a member that the group does not have gets UNKNOWN_MEMBER_ID in every version.",
    lambda name: filled(
        JoinGroupRequest,
        group_id=name,
        session_timeout_ms=30000,
        member_id=_NOBODY,
        protocol_type="kwire-conform",
        protocols=[{"name": "plain"}],
    ),
    lambda name, version: {
        **_UNKNOWN_MEMBER,
        "member_id": _NOBODY,
        "protocol_name": one_of(None, ""),
    },
)
_group(
    2,
    "Heartbeat of a member that the group does not have gets UNKNOWN_MEMBER_ID in every version.",
    lambda name: HeartbeatRequest(group_id=name, generation_id=1, member_id=_NOBODY),
    lambda name, version: _UNKNOWN_MEMBER,
)
_group(
    3,
    "SyncGroup of a member that the group does not have gets UNKNOWN_MEMBER_ID in every version.",
    lambda name: SyncGroupRequest(
        group_id=name,
        generation_id=1,
        member_id=_NOBODY,
        protocol_type="kwire-conform",
        protocol_name="plain",
    ),
    lambda name, version: _UNKNOWN_MEMBER,
)
_group(
    4,
    "LeaveGroup gives the error of a member for that member from v3 on, and for all before.",
    lambda name: filled(
        LeaveGroupRequest, group_id=name, member_id=_NOBODY, members=[{"member_id": _NOBODY}]
    ),
    lambda name, version: {
        "error_code": ErrorCode.NONE if version >= _MANY else ErrorCode.UNKNOWN_MEMBER_ID,
        "members": [{"member_id": _NOBODY, "group_instance_id": None, **_UNKNOWN_MEMBER}],
    },
)
_group(
    5,
    "OffsetCommit gives the error of a topic that does not exist for its partition.",
    lambda name: filled(OffsetCommitRequest, group_id=name, **_topics(name)),
    lambda name, version: _topics(
        name,
        error_code=ErrorCode.UNKNOWN_TOPIC_ID
        if version >= _BY_ID
        else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ),
)
_group(
    6,
    "DescribeGroups of a group that does not exist is Dead, from v6 on with an error.",
    lambda name: DescribeGroupsRequest(groups=(name,)),
    lambda name, version: _groups(
        name, ErrorCode.GROUP_ID_NOT_FOUND if version >= _NOT_FOUND else 0, group_state="Dead"
    ),
)
_group(
    7,
    "ConsumerGroupDescribe of a group that does not exist gets GROUP_ID_NOT_FOUND.",
    lambda name: ConsumerGroupDescribeRequest(group_ids=(name,)),
    lambda name, version: _groups(name, ErrorCode.GROUP_ID_NOT_FOUND),
)
_group(
    8,
    "ConsumerGroupHeartbeat of a group that does not exist gets GROUP_ID_NOT_FOUND.",
    lambda name: ConsumerGroupHeartbeatRequest(group_id=name, member_id=_NOBODY, member_epoch=1),
    lambda name, version: {"error_code": ErrorCode.GROUP_ID_NOT_FOUND},
)
refused(
    9,
    "FindCoordinator of a key type that does not exist gets INVALID_REQUEST and no node.",
    lambda name: FindCoordinatorRequest(key=name, key_type=99, coordinator_keys=(name,)),
    lambda name, version: {**_NO_NODE, "coordinators": [{**_NO_NODE, "key": name}]},
    since=1,
)
refused(
    10,
    "Metadata of a topic that does not exist has its name, the error and no partitions.",
    lambda name: filled(MetadataRequest, topics=[{"name": name}], allow_auto_topic_creation=False),
    lambda name, version: {
        "brokers": ANYTHING,
        "cluster_id": ANYTHING,
        "controller_id": ANYTHING,
        "topics": [{"error_code": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "name": name}],
    },
    since=4,
)
refused(
    11,
    "DescribeConfigs of a topic that does not exist has its name, the error and no configurations.",
    lambda name: filled(
        DescribeConfigsRequest, resources=[_resource(name, configuration_keys=None)]
    ),
    lambda name, version: {
        "results": [_resource(name, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    },
)
refused(
    12,
    "DescribeClientQuotas by a type that does not exist gets an error and no entries.",
    lambda name: filled(
        DescribeClientQuotasRequest,
        components=[{"entity_type": name, "match_type": 0, "match": name}],
    ),
    lambda name, version: {
        "error_code": ErrorCode.UNSUPPORTED_VERSION,
        "entries": one_of(None, []),
    },
)
refused(
    13,
    "UnregisterBroker of a broker that there is not gets BROKER_ID_NOT_REGISTERED.",
    lambda name: UnregisterBrokerRequest(broker_id=_ABSENT),
    lambda name, version: {"error_code": ErrorCode.BROKER_ID_NOT_REGISTERED},
    role=ServerRole.ANY,
)
refused(
    14,
    "UpdateFeatures of a feature that there is not gets INVALID_UPDATE_VERSION from v2 on.",
    lambda name: filled(
        UpdateFeaturesRequest, feature_updates=[{"feature": name, "max_version_level": 1}]
    ),
    lambda name, version: {"error_code": ErrorCode.INVALID_UPDATE_VERSION, "results": ANYTHING},
    role=ServerRole.ANY,
    since=2,
)
