"""Log directories of real Kafka, held against kafka-log-dirs at the same time."""

import json

from kwire.admin import AdminClient
from kwire.admin.topic_partition import TopicPartition, TopicPartitionReplica
from real_kafka import Cluster
from tests.support.real_kafka.topics import create, delete

TOPIC = "logdirs-on-kafka"


async def test_directories_and_replicas_are_those_of_kafkas_tool(kafka440: Cluster) -> None:
    create(kafka440.bootstrap_servers, TOPIC)
    done = kafka440.tool(
        "org.apache.kafka.tools.LogDirsCommand",
        *("--bootstrap-server", kafka440.bootstrap_servers, "--describe", "--topic-list", TOPIC),
    )
    [broker] = json.loads(done.stdout.splitlines()[-1])["brokers"]
    [told] = broker["logDirs"]
    path, broker_id = told["logDir"], broker["broker"]
    replicas = [TopicPartitionReplica(TOPIC, index, broker_id) for index in range(3)]
    async with AdminClient(kafka440.bootstrap_servers, timeout=60) as admin:
        found = (await admin.describe_log_dirs()).all()[broker_id]
        assert {
            str(key): held for key, held in found[path].replicas.items() if key.topic == TOPIC
        }.keys() == {partition["partition"] for partition in told["partitions"]}
        for partition in told["partitions"]:
            held = found[path].replicas[TopicPartition.parse(partition["partition"])]
            assert (held.size, held.offset_lag, held.is_future) == (
                partition["size"],
                partition["offsetLag"],
                partition["isFuture"],
            )
        assert found[path].total_bytes
        assert found[path].is_cordoned is False
        located = (await admin.describe_replica_log_dirs(replicas)).all()
        assert {directories.current for directories in located.values()} == {path}
        # A move to where it is changes nothing; there is no other directory.
        moved = await admin.alter_replica_log_dirs({replicas[0]: path, replicas[1]: "/nowhere"})
        assert [*moved] == [replicas[0]]
        assert str(moved.failed[replicas[1]]).startswith("LOG_DIR_NOT_FOUND: ")
    delete(kafka440.bootstrap_servers, TOPIC)
