"""Error codes of CreateTopics (KIP-4; Java: ReplicationControlManager.createTopics).

The order in which Kafka looks: the request's names, the name, existing topics, configurations,
assignments, the replication factor, the number of partitions.
"""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.topics.creating import new_topic, refused
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip, schema

_NAMES = kafka("Topic.validate")
_ORDER = kafka("ReplicationControlManager.createTopics")
_CODES = guide("Error Codes")
_ABSENT = 2_000_000_000


def _node(server: Server) -> int:
    """Return the id of a broker; some id if a controller does not tell one."""
    return next(iter(server.target.nodes), 1)


SECTION = CheckSection(
    "topics/create",
    "Topics that cannot be created",
    {
        1: refused(
            "A topic without a name gets INVALID_TOPIC_EXCEPTION.",
            _NAMES,
            lambda server: new_topic(""),
            17,
        ),
        2: refused(
            "The name `.` gets INVALID_TOPIC_EXCEPTION.",
            _NAMES,
            lambda server: new_topic("."),
            17,
        ),
        3: refused(
            "The name `..` gets INVALID_TOPIC_EXCEPTION.",
            _NAMES,
            lambda server: new_topic(".."),
            17,
        ),
        4: refused(
            "A name of 250 characters gets INVALID_TOPIC_EXCEPTION.",
            _NAMES,
            lambda server: new_topic(server.name().ljust(250, "x")),
            17,
        ),
        5: refused(
            "A name of 249 characters is accepted.",
            _NAMES,
            lambda server: new_topic(server.name().ljust(249, "x")),
            0,
            validate_only=True,
        ),
        6: refused(
            "A name with a space gets INVALID_TOPIC_EXCEPTION.",
            _NAMES,
            lambda server: new_topic(f"{server.name()} bad name"),
            17,
        ),
        7: refused(
            "A name with a letter outside ASCII gets INVALID_TOPIC_EXCEPTION.",
            _NAMES,
            lambda server: new_topic(f"{server.name()}-\u00e9"),
            17,
        ),
        8: refused(
            "Zero partitions get INVALID_PARTITIONS.",
            _CODES,
            lambda server: new_topic(server.name(), partitions=0),
            37,
        ),
        9: refused(
            "A negative number of partitions other than -1 gets INVALID_PARTITIONS.",
            _CODES,
            lambda server: new_topic(server.name(), partitions=-2),
            37,
        ),
        10: refused(
            "A replication factor of zero gets INVALID_REPLICATION_FACTOR.",
            _CODES,
            lambda server: new_topic(server.name(), replicas=0),
            38,
        ),
        11: refused(
            "A replication factor of -2 gets INVALID_REPLICATION_FACTOR.",
            _CODES,
            lambda server: new_topic(server.name(), replicas=-2),
            38,
        ),
        12: refused(
            "More replicas than there are brokers get INVALID_REPLICATION_FACTOR.",
            _CODES,
            lambda server: new_topic(server.name(), replicas=1000),
            38,
        ),
        13: refused(
            "With replicas assigned, a number of partitions gets INVALID_REQUEST.",
            schema("CreateTopicsRequest", "NumPartitions"),
            lambda server: new_topic(server.name(), replicas=-1, assignments={0: (_node(server),)}),
            42,
        ),
        14: refused(
            "With replicas assigned, a replication factor gets INVALID_REQUEST.",
            schema("CreateTopicsRequest", "ReplicationFactor"),
            lambda server: new_topic(
                server.name(), partitions=-1, assignments={0: (_node(server),)}
            ),
            42,
        ),
        15: refused(
            "Replicas on a broker that does not exist get INVALID_REPLICA_ASSIGNMENT.",
            _CODES,
            lambda server: new_topic(
                server.name(), partitions=-1, replicas=-1, assignments={0: (_ABSENT,)}
            ),
            39,
        ),
        16: refused(
            "A partition without replicas gets INVALID_REPLICA_ASSIGNMENT.",
            _CODES,
            lambda server: new_topic(
                server.name(), partitions=-1, replicas=-1, assignments={0: ()}
            ),
            39,
        ),
        17: refused(
            "A broker twice in one partition gets INVALID_REPLICA_ASSIGNMENT.",
            _CODES,
            lambda server: new_topic(
                server.name(), partitions=-1, replicas=-1, assignments={0: (_node(server),) * 2}
            ),
            39,
        ),
        18: refused(
            "Assigned partitions that do not count from 0 get INVALID_REPLICA_ASSIGNMENT.",
            _ORDER,
            lambda server: new_topic(
                server.name(), partitions=-1, replicas=-1, assignments={1: (_node(server),)}
            ),
            39,
        ),
        19: refused(
            "A configuration that topics do not have gets INVALID_CONFIG.",
            _CODES,
            lambda server: new_topic(server.name(), configs={"no.such.config": "1"}),
            40,
        ),
        20: refused(
            "A value that is not of its configuration's type gets INVALID_CONFIG.",
            _CODES,
            lambda server: new_topic(server.name(), configs={"retention.ms": "soon"}),
            40,
        ),
        21: refused(
            "A configuration without a value gets INVALID_CONFIG.",
            kafka("ReplicationControlManager.computeConfigChanges"),
            lambda server: new_topic(server.name(), configs={"retention.ms": None}),
            40,
            42,
        ),
        22: refused(
            "A bad name is reported before a bad replication factor and zero partitions.",
            _ORDER,
            lambda server: new_topic("kwire-conform-bad name", partitions=0, replicas=0),
            17,
            differs=(37, 38),
        ),
        23: refused(
            "An unknown configuration is reported before a bad replication factor.",
            _ORDER,
            lambda server: new_topic(server.name(), replicas=0, configs={"no.such.config": "1"}),
            40,
            differs=(38,),
        ),
        24: refused(
            "A bad replication factor is reported before zero partitions.",
            _ORDER,
            lambda server: new_topic(server.name(), partitions=0, replicas=0),
            38,
            differs=(37,),
        ),
        25: refused(
            "A topic that is only validated gets the errors of its creation.",
            kip(4, "CreateTopics"),
            lambda server: new_topic(server.name(), partitions=0),
            37,
            validate_only=True,
        ),
    },
)
