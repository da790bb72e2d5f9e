"""The requests that caused the changes of a real quorum, recorded by the proxy."""

import asyncio
import re
from pathlib import Path

from kwire.capture import read_capture
from kwire.metadata_history.history import LoggedChange
from kwire.metadata_history.reading import live_history, stored_history
from kwire.metadata_history.requests import Match, RecordedRequests
from kwire.proxy import Proxy
from kwire.proxy.capture.recorder import Recorder, files_at
from real_kafka import Cluster, Layout, free_port
from tests.support.proxy.kafka_behind_proxy import in_front_of_controllers
from tests.support.proxy.secure_cluster import PLAIN_PASSWORD
from tests.support.real_kafka.own_cluster import OwnCluster

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
PATH = "/configs/TOPIC:orders/retention.ms"


def with_logins(cluster: Cluster, clients: int) -> None:
    """Give the broker a listener for clients with SASL."""
    users = " ".join(f'user_{name}="{PLAIN_PASSWORD}"' for name in ("alice", "bob"))
    broker = cluster.nodes[1]
    listeners = f"PLAINTEXT://{broker.broker_address},CLIENTS://127.0.0.1:{clients}"
    broker.configure(
        {
            "listeners": listeners,
            "advertised.listeners": listeners,
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_PLAINTEXT"
            ),
            "listener.name.clients.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.clients.plain.sasl.jaas.config": f"{MODULE} {users};",
        }
    )


def login_file(folder: Path, name: str, client_id: str) -> Path:
    lines = [
        f"client.id={client_id}",
        "security.protocol=SASL_PLAINTEXT",
        "sasl.mechanism=PLAIN",
        f'sasl.jaas.config={MODULE} username="{name}" password="{PLAIN_PASSWORD}";',
    ]
    path = folder / f"{name}.properties"
    path.write_text("\n".join(lines))
    return path


def alter(cluster: Cluster, *arguments: str) -> None:
    run = cluster.tool("kafka.admin.ConfigCommand", "--alter", *arguments)
    assert run.returncode == 0, run.stderr


def change_all(cluster: Cluster, clients: int, controllers: str, folder: Path) -> None:
    """Create a topic and change it, as alice, as bob, and directly at the controller."""
    alice = login_file(folder, "alice", "nightly-job")
    bob = login_file(folder, "bob", "bobs-laptop")
    server = ("--bootstrap-server", f"127.0.0.1:{clients}")
    create = ("--create", "--topic", "orders", "--partitions", "1")
    tool = "org.apache.kafka.tools.TopicCommand"
    run = cluster.tool(tool, *server, *create, "--command-config", str(alice))
    assert run.returncode == 0, run.stderr
    topic = ("--entity-type", "topics", "--entity-name", "orders", "--add-config")
    alter(cluster, *server, "--command-config", str(alice), *topic, "retention.ms=60000")
    alter(cluster, *server, "--command-config", str(bob), *topic, "retention.ms=120000")
    direct = folder / "direct.properties"
    direct.write_text("client.id=at-the-controller")
    every = ("--entity-type", "brokers", "--entity-default")
    threads = ("--add-config", "log.cleaner.threads=2")
    at = ("--bootstrap-controller", controllers, "--command-config", str(direct))
    alter(cluster, *at, *every, *threads)


def dumped(cluster: Cluster, folder: Path) -> list[tuple[int, str]]:
    """Return offset and value of each retention in the log, by Kafka's own tool."""
    segment = folder / "00000000000000000000.log"
    run = cluster.tool(
        "org.apache.kafka.tools.DumpLogSegments",
        "--cluster-metadata-decoder",
        "--files",
        str(segment),
    )
    assert run.returncode == 0, run.stderr
    found = re.findall(
        r"\| offset: (\d+) .*\"name\":\"retention.ms\",\"value\":\"(\d+)\"", run.stdout
    )
    return [(int(offset), value) for offset, value in found]


def without_formatting(changes: list[LoggedChange]) -> list[LoggedChange]:
    written = ("/raft/kraftVersion", "/voters")
    return [change for change in changes if not change.entry.path.startswith(written)]


async def test_each_change_has_its_principal_and_client(
    own_cluster: OwnCluster, tmp_path: Path
) -> None:
    clients = free_port()
    cluster = own_cluster(Layout(controllers=(3000,), brokers=(1,)))
    with_logins(cluster, clients)
    capture = tmp_path / "night.avro"
    with Recorder(files_at(capture)) as recorder:
        async with Proxy(sinks=[recorder]) as proxy:
            controllers = await in_front_of_controllers(proxy, cluster)
            await asyncio.to_thread(cluster.start)
            await asyncio.to_thread(change_all, cluster, clients, controllers, tmp_path)
            live = list((await live_history(cluster.bootstrap_controllers)).changes())
            folder = Path(cluster.nodes[3000].folder, "data", "__cluster_metadata-0")
            judged = await asyncio.to_thread(dumped, cluster, folder)
            stored = list(stored_history(folder).changes())
            await asyncio.to_thread(cluster.close)

    retention = [change for change in stored if change.entry.path == PATH]
    assert [(change.place.offset, change.entry.after) for change in retention] == judged
    assert [value for _, value in judged] == ["60000", "120000"]
    assert retention[1].entry.before == "60000"
    # A running quorum does not give what formatting wrote; the first leader writes it again.
    stored_too, live = without_formatting(stored), without_formatting(live)
    assert stored_too[: len(live)] == live

    requests = RecordedRequests.of(read_capture(capture))
    assert not requests.damages

    def asked(path: str, changes: list[LoggedChange] = stored) -> list[tuple[str | None, ...]]:
        causes: list[tuple[str | None, ...]] = []
        for change in changes:
            requests.note_topic(change)
            if change.entry.path == path and (found := requests.cause(change)):
                assert found.match is Match.CONTENT
                causes.append((found.request.split()[0], found.principal, found.client_id))
        return causes

    assert asked(PATH) == [
        ("IncrementalAlterConfigs", "User:alice", "nightly-job"),
        ("IncrementalAlterConfigs", "User:bob", "bobs-laptop"),
    ]
    assert asked("/topics/orders") == [("CreateTopics", "User:alice", "nightly-job")]
    assert asked("/configs/BROKER/log.cleaner.threads") == [
        ("IncrementalAlterConfigs", None, "at-the-controller")
    ]
    assert asked("/brokers/1", stored)[0][0] == "BrokerRegistration"
    # What a leader does by itself nobody asked for.
    assert asked("/raft/leader") == []
