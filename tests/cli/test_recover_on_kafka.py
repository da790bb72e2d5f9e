"""`kwire storage recover` on controllers of real Kafka, with a broker and its data behind them."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from kwire.batches import Record, build_batch
from kwire.batches.control_records import quorum_record
from kwire.batches.metadata_records import VersionedRecord
from kwire.image import MetadataImage
from kwire.logdir.log import MetadataLog
from kwire.logdir.names import METADATA_FOLDER
from kwire.logdir.quorum_state import QuorumState, write_quorum_state
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.quorum_state_data import QuorumStateData
from kwire.messages.records.no_op import NoOpRecord
from kwire.observer.stored_metadata import read_metadata_folder
from kwire.quorum_recovery.survivor import read_survivor
from kwire.testing.local_kafka.node import KafkaVoter, KnownQuorum
from kwire.testing.local_kafka.running import RunningNode
from real_kafka import Cluster, Layout
from real_kafka.metadata_quorum import current_voters
from tests.support.cli.command import Command
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.tcp_relay import Relay

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
ALL_LINES = 1_000_000
RECORDS = [f"order {number}".encode() for number in range(100)]
ERROR = re.compile(r"^.*\b(?:ERROR|FATAL)\b.*$", re.MULTILINE)
OF_EVERY_START = re.compile(
    r"Unexpected error handling request RequestHeader\(apiKey=(?:CONTROLLER_REGISTRATION|DESCRIBE_)"
    r"|RegistrationResponseHandler: channel manager timed out|Exceptionally slow controller event"
)
"""Errors that Kafka also logs when controllers are killed and started again without a recovery: one
registers, or is asked, before a leader has read its log (3.9.1, 4.3.1); the machine is busy."""


by_version = pytest.mark.parametrize(
    "version",
    [
        "4.3.1",
        pytest.param("3.9.1", marks=pytest.mark.releases),
        pytest.param("4.4.0", marks=pytest.mark.releases),
    ],
)


@by_version
def test_one_of_three_controllers_is_enough_to_serve_again(
    own_cluster: OwnCluster, kwire: Command, version: str
) -> None:
    layout = Layout(
        controllers=(3000, 3001, 3002), brokers=(1,), version=version, properties=AUTHORIZER
    )
    with own_cluster(layout) as cluster:
        _fill(cluster, kwire)
        survivor, data = cluster.nodes[3000], _data(cluster.nodes[3000])
        running = kwire("storage", "recover", str(data))
        assert (running.code, running.error) == (1, f"a node runs in {data}: stop it first")

        for node in cluster.nodes.values():
            node.kill()
        with MetadataLog.open(data / METADATA_FOLDER) as log:
            log.truncate_to(log.end_offset - 2)  # the broker has more than is left
        before = read_metadata_folder(data).image
        ends = _log_sizes(survivor, cluster.nodes[1])
        for lost in (3001, 3002):
            shutil.rmtree(_data(cluster.nodes[lost]))
        new_epoch = _plan(cluster, kwire, data)
        recover = ("storage", "recover", str(data), "--apply", "--cluster-id", cluster.cluster_id)
        applied = kwire(*recover, "--json")
        assert applied.code == 0, applied.err
        assert list(applied.json["backups"]) == [str(data)]
        assert kwire(*recover, "--json").json["alreadyDone"]

        survivor.start()
        survivor.wait_until_served()
        assert set(current_voters(cluster)) == {3000}
        cluster.nodes[1].start()
        cluster.nodes[1].wait_until_it_lists(1)
        _check_served(cluster, kwire, before)
        assert new_epoch < _epoch(cluster, kwire)
        _check_no_errors(ends)


@by_version
def test_an_older_copy_of_a_lost_disk_votes_again(
    own_cluster: OwnCluster, kwire: Command, version: str, tmp_path: Path
) -> None:
    layout = Layout(
        controllers=(3000, 3001, 3002), brokers=(1,), version=version, properties=AUTHORIZER
    )
    with own_cluster(layout) as cluster:
        nodes = cluster.nodes
        nodes[3001].kill()
        copy = shutil.copytree(_data(nodes[3001]), tmp_path / "copy")
        _fill(cluster, kwire)  # none of it is in the copy
        for node in nodes.values():
            node.kill()
        data = _data(nodes[3000])
        before = read_metadata_folder(data).image
        for lost in (3001, 3002):
            shutil.rmtree(_data(nodes[lost]))
        survivors = (str(data), "--survivor", f"3001={copy}")
        apply = ("--apply", "--cluster-id", cluster.cluster_id, "--json")
        run = kwire("storage", "recover", *survivors, *apply)
        assert run.code == 0, run.err
        assert "1 of 3 voters is here" in run.json["losses"][0]
        shutil.move(copy, _data(nodes[3001]))
        for node_id in (3000, 3001):
            nodes[node_id].start()
        for node_id in (3000, 3001):
            nodes[node_id].wait_until_served()
        nodes[1].start()
        nodes[1].wait_until_it_lists(1)
        assert set(current_voters(cluster)) == {3000, 3001}
        _check_served(cluster, kwire, before)


@by_version
def test_three_controllers_at_new_addresses_find_each_other_again(
    own_cluster: OwnCluster, kwire: Command, version: str
) -> None:
    """One log lags, one has a tail of its own, and that of the last leader ends torn."""
    layout = Layout(
        controllers=(3000, 3001, 3002), brokers=(1,), version=version, properties=AUTHORIZER
    )
    cluster = own_cluster(layout)
    with ExitStack() as relays:
        for node in cluster.controllers.values():
            relay = relays.enter_context(Relay(node.controller_address))
            node.advertise(relay.address)
        cluster.start()
        _fill(cluster, kwire)
        for node in cluster.nodes.values():
            node.kill()
    _let_logs_end_together(cluster)
    before = read_metadata_folder(_data(cluster.nodes[3000])).image
    _let_logs_differ(cluster)
    _move(cluster)
    nodes = cluster.controllers
    directories = [str(_data(node)) for node in nodes.values()]
    addresses = {node_id: str(node.controller_address) for node_id, node in nodes.items()}
    endpoints = [f"--endpoint={node_id}={address}" for node_id, address in addresses.items()]
    apply = ("--apply", "--cluster-id", cluster.cluster_id)
    run = kwire("storage", "recover", *directories, *endpoints, *apply, "--json")
    assert run.code == 0, run.err
    found = {item["controllerId"]: item for item in run.json["survivors"]}
    assert {node_id: item["comparison"] for node_id, item in found.items()} == {
        3000: "chosen",
        3001: "diverged",
        3002: "behind",
    }
    assert (found[3000]["tornBytes"], found[3001]["ownRecords"]) == (5, 3)
    started = _log_sizes(*cluster.nodes.values())
    for node in nodes.values():
        node.start()
    for node in nodes.values():
        node.wait_until_served()
    cluster.nodes[1].start()
    cluster.nodes[1].wait_until_it_lists(1)
    assert set(current_voters(cluster)) == {3000, 3001, 3002}
    _check_served(cluster, kwire, before)
    _check_no_errors(started)


def _let_logs_end_together(cluster: Cluster) -> None:
    """Cut off what a majority has before the last: one may have died without it."""
    folders = [_data(node) for node in cluster.controllers.values()]
    common = min(read_survivor(folder).end.offset for folder in folders)
    for folder in folders:
        with MetadataLog.open(folder / METADATA_FOLDER) as log:
            log.truncate_to(common)


def _let_logs_differ(cluster: Cluster) -> None:
    """Leave 3002 behind; 3001 with a tail of its own; 3000 with a later epoch, torn at its end."""
    logs = {id_: _data(node) / METADATA_FOLDER for id_, node in cluster.controllers.items()}
    found = {id_: read_survivor(folder.parent) for id_, folder in logs.items()}
    epoch = max(survivor.last_known_epoch for survivor in found.values())
    last = VersionedRecord(record=NoOpRecord(), version=0).encode()
    no_op = Record(value=last, timestamp=0)
    change = quorum_record(LeaderChangeMessage(leader_id=3000), timestamp=0)
    for node_id, records, of_epoch, is_control in (
        (3001, [no_op] * 3, found[3001].end.epoch, False),
        (3000, [change], epoch + 1, True),
    ):
        with MetadataLog.open(logs[node_id]) as log:
            end = log.end_offset
            log.append(
                build_batch(
                    records,
                    base_offset=end,
                    partition_leader_epoch=of_epoch,
                    is_control=is_control,
                )
            )
    data = QuorumStateData(leader_id=-1, leader_epoch=epoch + 1, voted_id=-1)
    write_quorum_state(logs[3000], QuorumState(data=data, version=1))
    with MetadataLog.open(logs[3002]) as log:
        log.truncate_to(log.end_offset - 2)
    with max(logs[3000].glob("*.log")).open("ab") as file:
        file.write(b"\0torn")


def _move(cluster: Cluster) -> None:
    """Let the controllers be where they listen, and no longer where the relays were."""
    voters = tuple(
        KafkaVoter(node_id=node_id, directory_id=node.directory_id, address=node.controller_address)
        for node_id, node in cluster.controllers.items()
    )
    for node in cluster.nodes.values():
        if "controller" in node.roles:
            node.advertise(node.controller_address)
        node.join(KnownQuorum(cluster_id=cluster.cluster_id, voters=voters))


def _fill(cluster: Cluster, kwire: Command) -> None:
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    for arguments in (
        ("topics", "create", "orders", "--partitions", "3", "--config", "retention.ms=600000"),
        (
            "acls",
            "add",
            "--allow-principal",
            "User:alice",
            "--consumer",
            "--topic",
            "orders",
            "--group",
            "g",
        ),
        ("quotas", "set", "--user", "alice", "producer_byte_rate=12345"),
        ("scram", "set", "alice", "--iterations", "4096", "--password-file", "-"),
    ):
        run = kwire(*arguments, *at, stdin=b"secret-of-alice\n")
        assert run.code == 0, (arguments, run.err)
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, acks="all")
    for record in RECORDS:
        producer.send("orders", record)
    producer.flush()
    producer.close()
    # After the block of producer ids, which would be handed out again if it were lost.
    for user in ("bob", "carol"):
        last = kwire("quotas", "set", "--user", user, "producer_byte_rate=54321", *at)
        assert last.code == 0, last.err


def _data(node: RunningNode) -> Path:
    return Path(node.folder, "data")


def _log_sizes(*nodes: RunningNode) -> dict[RunningNode, int]:
    """Return how many characters each node has logged."""
    return {node: len(node.log(ALL_LINES)) for node in nodes}


def _check_no_errors(started: dict[RunningNode, int]) -> None:
    for node, length in started.items():
        lines = ERROR.findall(node.log(ALL_LINES)[length:])
        assert not [line for line in lines if not OF_EVERY_START.search(line)]


def _plan(cluster: Cluster, kwire: Command, data: Path) -> int:
    """Check the plan of one of three, which writes nothing; return the new epoch."""
    files = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    broker = str(_data(cluster.nodes[1]))
    run = kwire("storage", "recover", str(data), "--broker", broker, "--json")
    assert run.code == 0, run.err
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == files
    document = run.json
    assert (document["clusterId"], document["lostIds"]) == (cluster.cluster_id, [3001, 3002])
    (found,) = document["survivors"]
    assert found["voterIds"] == [3000, 3001, 3002]
    assert document["epoch"] == 129_000
    assert re.search(r"broker 1 has \d+ records? from offset \d+ on that", str(document["losses"]))
    return int(document["epoch"])


def _check_served(cluster: Cluster, kwire: Command, before: MetadataImage) -> None:
    """Compare what the log has with what it had; read the records; write another one."""
    folder = _data(cluster.nodes[3000]) / METADATA_FOLDER
    after = read_metadata_folder(folder).image
    for part in ("acls", "configs", "scram", "client_quotas"):
        assert getattr(after, part) == getattr(before, part)
    topics = [image.topics.topic("orders") for image in (before, after)]
    assert all(topics)
    assert len({topic.id for topic in topics if topic}) == 1

    from kafka import KafkaConsumer, KafkaProducer

    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, acks="all")
    producer.send("orders", b"one more").get(30)
    producer.close()
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=cluster.bootstrap_servers,
        auto_offset_reset="earliest",
        consumer_timeout_ms=10_000,
    )
    found = []
    for message in consumer:
        found.append(message.value)
        if len(found) > len(RECORDS):
            break
    consumer.close()
    assert sorted(found) == sorted([*RECORDS, b"one more"])
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    assert kwire("topics", "create", "invoices", *at).code == 0


def _epoch(cluster: Cluster, kwire: Command) -> int:
    at = ("--bootstrap-controller", str(cluster.nodes[3000].controller_address))
    run = kwire("quorum", "status", "--json", *at)
    return int(json.loads(run.out)["leaderEpoch"])
