"""Error codes of CreateTopics (KIP-4; Java: ReplicationControlManager.createTopics).

The order in which Kafka looks: the request's names, the name, existing topics, configurations,
assignments, the replication factor, the number of partitions.
"""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.topics.creating import TopicBuilder, new_topic, refused
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, documentation, guide, kafka, kip, schema
from kwire.error_codes import ErrorCode

SECTION = CheckSection("topics/create", "Topics that cannot be created")

_NAMES = kafka("Topic.validate")
_ORDER = kafka("ReplicationControlManager.createTopics")
_CODES = guide("Error Codes")
_ABSENT = 2_000_000_000


def _node(server: Server) -> int:
    """Return the id of a broker; some id if a controller does not tell one."""
    return next(iter(server.target.nodes), 1)


def _named(**fields: Any) -> TopicBuilder:
    """Return a function that makes a topic whose name no other has."""
    return lambda server: new_topic(server.name(), **fields)


SECTION[1] = refused(
    "A topic without a name gets",
    _NAMES,
    lambda server: new_topic(""),
    ErrorCode.INVALID_TOPIC_EXCEPTION,
)
SECTION[2] = refused(
    "The name `.` gets", _NAMES, lambda server: new_topic("."), ErrorCode.INVALID_TOPIC_EXCEPTION
)
SECTION[3] = refused(
    "The name `..` gets", _NAMES, lambda server: new_topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION
)
SECTION[4] = refused(
    "A name of 250 characters gets",
    documentation("Adding and removing topics"),
    lambda server: new_topic(server.name().ljust(250, "x")),
    ErrorCode.INVALID_TOPIC_EXCEPTION,
)
SECTION[5] = refused(
    "A name of 249 characters is accepted.",
    documentation("Adding and removing topics"),
    lambda server: new_topic(server.name().ljust(249, "x")),
    ErrorCode.NONE,
    validate_only=True,
)
SECTION[6] = refused(
    "A name with a space gets",
    _NAMES,
    lambda server: new_topic(f"{server.name()} bad name"),
    ErrorCode.INVALID_TOPIC_EXCEPTION,
)
SECTION[7] = refused(
    "A name with a letter outside ASCII gets",
    _NAMES,
    lambda server: new_topic(f"{server.name()}-\u00e9"),
    ErrorCode.INVALID_TOPIC_EXCEPTION,
)
SECTION[8] = refused(
    "Zero partitions get", _CODES, _named(partitions=0), ErrorCode.INVALID_PARTITIONS
)
SECTION[9] = refused(
    "A negative number of partitions other than -1 gets",
    _CODES,
    _named(partitions=-2),
    ErrorCode.INVALID_PARTITIONS,
)
SECTION[10] = refused(
    "A replication factor of zero gets",
    _CODES,
    _named(replicas=0),
    ErrorCode.INVALID_REPLICATION_FACTOR,
)
SECTION[11] = refused(
    "A replication factor of -2 gets",
    _CODES,
    _named(replicas=-2),
    ErrorCode.INVALID_REPLICATION_FACTOR,
)
SECTION[12] = refused(
    "More replicas than there are brokers get",
    _CODES,
    _named(replicas=1000),
    ErrorCode.INVALID_REPLICATION_FACTOR,
)
SECTION[13] = refused(
    "With replicas assigned, a number of partitions gets",
    schema("CreateTopicsRequest", "NumPartitions"),
    lambda server: new_topic(server.name(), replicas=-1, assignments={0: (_node(server),)}),
    ErrorCode.INVALID_REQUEST,
)
SECTION[14] = refused(
    "With replicas assigned, a replication factor gets",
    schema("CreateTopicsRequest", "ReplicationFactor"),
    lambda server: new_topic(server.name(), partitions=-1, assignments={0: (_node(server),)}),
    ErrorCode.INVALID_REQUEST,
)
SECTION[15] = refused(
    "Replicas on a broker that does not exist get",
    _CODES,
    _named(partitions=-1, replicas=-1, assignments={0: (_ABSENT,)}),
    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
)
SECTION[16] = refused(
    "A partition without replicas gets",
    _CODES,
    _named(partitions=-1, replicas=-1, assignments={0: ()}),
    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
)
SECTION[17] = refused(
    "A broker twice in one partition gets",
    _CODES,
    lambda server: new_topic(
        server.name(), partitions=-1, replicas=-1, assignments={0: (_node(server),) * 2}
    ),
    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    role=ServerRole.BROKER,  # a controller does not tell what brokers there are
)
SECTION[18] = refused(
    "Assigned partitions that do not count from 0 get",
    _ORDER,
    lambda server: new_topic(
        server.name(), partitions=-1, replicas=-1, assignments={1: (_node(server),)}
    ),
    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    role=ServerRole.BROKER,
)
SECTION[19] = refused(
    "A configuration that topics do not have gets",
    _CODES,
    _named(configs={"no.such.config": "1"}),
    ErrorCode.INVALID_CONFIG,
)
SECTION[20] = refused(
    "A value that is not of its configuration's type gets",
    _CODES,
    _named(configs={"retention.ms": "soon"}),
    ErrorCode.INVALID_CONFIG,
)
SECTION[21] = refused(
    "A configuration without a value gets",
    kafka("ReplicationControlManager.computeConfigChanges"),
    _named(configs={"retention.ms": None}),
    ErrorCode.INVALID_CONFIG,
    ErrorCode.INVALID_REQUEST,
)
SECTION[22] = refused(
    "A bad name is reported before a bad replication factor and zero partitions.",
    _ORDER,
    lambda server: new_topic("kwire-conform-bad name", partitions=0, replicas=0),
    ErrorCode.INVALID_TOPIC_EXCEPTION,
    differs=(ErrorCode.INVALID_PARTITIONS, ErrorCode.INVALID_REPLICATION_FACTOR),
)
SECTION[23] = refused(
    "An unknown configuration is reported before a bad replication factor.",
    _ORDER,
    _named(replicas=0, configs={"no.such.config": "1"}),
    ErrorCode.INVALID_CONFIG,
    differs=(ErrorCode.INVALID_REPLICATION_FACTOR,),
)
SECTION[24] = refused(
    "A bad replication factor is reported before zero partitions.",
    _ORDER,
    _named(partitions=0, replicas=0),
    ErrorCode.INVALID_REPLICATION_FACTOR,
    differs=(ErrorCode.INVALID_PARTITIONS,),
)
SECTION[25] = refused(
    "A topic that is only validated gets the errors of its creation.",
    kip(108, "Public Interfaces"),
    _named(partitions=0),
    ErrorCode.INVALID_PARTITIONS,
    validate_only=True,
)
