"""kwire itself logs in at a real node: to serve, to replay and to record."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

import kwire.net.connection
import kwire.net.sasl
from kwire.capture import REQUEST, CaptureRecord
from kwire.capture.message import MessageDecoder
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.connection import Connection
from kwire.net.frames import encode_request
from kwire.net.sasl import Login
from kwire.net.security import read_security
from kwire.proxy.capture.record_topic import TopicAddress, TopicProducer, librdkafka
from tests.support.cli.command import Command
from tests.support.cli.proxy_process import end_with_ctrl_c, proxy
from tests.support.cli.service_process import listener, running, service, write
from tests.support.eventually import eventually_blocking
from tests.support.proxy.secure_cluster import (
    PASSWORD,
    PATIENCE,
    PLAIN_PASSWORD,
    USER,
    Client,
    SecureCluster,
)
from tests.support.real_kafka.own_names import OwnNames

SHA_512 = "SCRAM-SHA-512"


@pytest.fixture
def properties(secure: SecureCluster, tmp_path: Path) -> Path:
    """The client.properties with which USER logs in without TLS."""
    return secure.client_properties(tmp_path / "client.properties", SHA_512, USER, PASSWORD)


@pytest.fixture
def tls_properties(secure: SecureCluster, tmp_path: Path) -> Path:
    """The client.properties with which USER logs in over TLS."""
    path = tmp_path / "client-tls.properties"
    return secure.client_properties(path, SHA_512, USER, PASSWORD, tls=True)


async def test_a_session_is_renewed_on_the_connection(
    secure: SecureCluster, properties: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka refuses to renew one that is not a second old."""
    logins: list[Login] = []

    class Counted(Login):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            logins.append(self)

    monkeypatch.setattr(kwire.net.sasl, "Login", Counted)
    monkeypatch.setattr(kwire.net.connection, "SESSION_SHARE", 1.2 / 60)
    sasl = read_security(properties).sasl
    port = secure.behind["CONTROLLER_SASL"]
    async with (
        asyncio.timeout(PATIENCE),
        await Connection.open("127.0.0.1", port, sasl=sasl, connect_timeout=PATIENCE) as connection,
    ):
        while len(logins) < 3:
            requests = [DescribeClusterRequest(endpoint_type=2)] * 5
            await asyncio.gather(*map(connection.send, requests))
            await asyncio.sleep(0.05)
        assert [login.lifetime for login in logins] == [60.0] * 3


def test_the_metadata_of_controllers_that_want_sasl_is_exported_and_compared(
    secure: SecureCluster, properties: Path, kwire: Command, tmp_path: Path
) -> None:
    controller = secure.node("CONTROLLER_SASL")
    options = ("--bootstrap-controller", controller, "--command-config", str(properties))
    exported = kwire("export", *options)
    assert (exported.code, exported.err) == (0, "")
    assert f"id: {secure.cluster.cluster_id}" in exported.out
    assert f"user: {USER}" in exported.out
    nightly = tmp_path / "nightly.yaml"
    nightly.write_text(exported.out)
    same = kwire("diff", str(nightly), f"controllers:{controller}", *options[2:])
    assert (same.code, same.err) == (0, "")
    refused = kwire("export", "--bootstrap-controller", controller, "--timeout", "2")
    assert refused.code == 1
    assert controller in refused.error


def test_any_client_bootstraps_at_controllers_that_want_sasl(
    secure: SecureCluster, properties: Path
) -> None:
    """Behind the proxy it authenticates at its node, and is answered by nobody before."""
    from kafka.admin import KafkaAdminClient, NewTopic

    arguments = ["--serve=metadata", f"--serve-config={properties}", "-v", "--json"]
    arguments += [f"--listen=1@127.0.0.1:0={secure.node('CONTROLLER_SASL')}"]
    with proxy(*arguments) as (run, address):
        topic = f"served-{uuid4()}"
        admin = KafkaAdminClient(
            bootstrap_servers=f"{address[0]}:{address[1]}",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN",
            sasl_plain_username="alice",
            sasl_plain_password=PLAIN_PASSWORD,
        )
        with closing(admin):
            admin.create_topics([NewTopic(topic, 1, 1)])
            assert topic in admin.list_topics()
            admin.delete_topics([topic])
        for request in (MetadataRequest(topics=[]), CreateTopicsRequest(topics=[])):
            with socket.create_connection(address, timeout=PATIENCE) as stranger:
                stranger.sendall(encode_request(request, 5, correlation_id=1))
                assert stranger.recv(1) == b""
        lines, err = end_with_ctrl_c(run)
    flows = [flow for line in lines if (flow := json.loads(line))["type"] == "flow"]
    handled = {flow["api"]: flow["handling"] for flow in flows if flow["ending"] == "answered"}
    assert (handled["Metadata"], handled["CreateTopics"]) == ("answered", "routed")
    assert PASSWORD not in "\n".join([*lines, err])


def test_a_proxy_that_is_not_let_in_says_so(
    secure: SecureCluster, properties: Path, kwire: Command
) -> None:
    arguments = ["--serve=metadata", f"--serve-config={properties}"]
    arguments += [f"--listen=1@127.0.0.1:0={secure.node('CONTROLLER_SASL')}"]
    secure.client_properties(properties, SHA_512, USER, "another")
    run = kwire("proxy", *arguments)
    assert run.code == 1
    assert run.error.startswith(
        f"SASL_AUTHENTICATION_FAILED: {secure.node('CONTROLLER_SASL')} refuses {USER} by {SHA_512}:"
    )
    assert "another" not in run.err


def test_one_file_is_for_kafkas_tools_and_for_a_replay(
    secure: SecureCluster, tls_properties: Path, kwire: Command, tmp_path: Path
) -> None:
    at = secure.node("SASL_TLS")
    command = ("--bootstrap-server", at, "--command-config", str(tls_properties), "--list")
    assert secure.cluster.tool("org.apache.kafka.tools.TopicCommand", *command).returncode == 0
    capture = tmp_path / "recorded.avro"
    with (
        proxy(f"--listen=127.0.0.1:0={secure.node('PLAINTEXT')}", "-w", str(capture)) as (
            run,
            here,
        ),
        closing(Client(here)) as client,
    ):
        client.ask(DescribeClusterRequest(), 2)
        end_with_ctrl_c(run)
    arguments = ["--client", str(capture), "--target", at, "--ignore=brokers.port", "--json"]
    replayed = kwire("replay", *arguments, "--command-config", str(tls_properties))
    assert replayed.code == 0, replayed.out + replayed.err
    assert '"same": 1' in replayed.out


def create_topic(secure: SecureCluster, name: str) -> None:
    with closing(Client(("127.0.0.1", secure.behind["PLAINTEXT"]))) as client:
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        answer = client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7)
    assert isinstance(answer, CreateTopicsResponse)
    assert [one.error_code for one in answer.topics] == [0]


def delete_topic(secure: SecureCluster, name: str) -> None:
    with closing(Client(("127.0.0.1", secure.behind["PLAINTEXT"]))) as client:
        answer = client.ask(DeleteTopicsRequest(topic_names=(name,), timeout_ms=60_000), 5)
    assert isinstance(answer, DeleteTopicsResponse)
    assert [one.error_code for one in answer.responses] == [0]


def test_a_service_records_into_a_topic_of_a_cluster_that_wants_sasl_and_tls(
    secure: SecureCluster, tls_properties: Path, tmp_path: Path, own_name: OwnNames
) -> None:
    name = own_name("captured")
    create_topic(secure, name)
    into = {"topic": f"{name}@{secure.node('SASL_TLS')}", "client_config": tls_properties.name}
    config = service(listener(secure.node("PLAINTEXT")), record=into)
    with running(write(tmp_path / "kwire-proxy.yaml", config)) as run:
        with closing(Client(run.listening())) as client:
            client.ask(DescribeClusterRequest(), 2)
        run.reload(config)
        run.next_event("the configuration was loaded again")
        request = recorded_request(secure, tls_properties, name)
        assert run.end() == 0
    delete_topic(secure, name)
    assert request.api_key == DescribeClusterRequest.key


def test_a_recorder_that_is_not_let_in_says_so(secure: SecureCluster, tls_properties: Path) -> None:
    secure.client_properties(tls_properties, SHA_512, USER, "another", tls=True)
    said: list[str] = []
    address = TopicAddress.parse(f"captures@{secure.node('SASL_TLS')}")
    topic = TopicProducer(address, read_security(tls_properties), report=said.append)

    def ticked() -> list[str]:
        topic.tick(0.0, 0.0)
        return said

    eventually_blocking(ticked, timeout=PATIENCE, pause=0.05)
    topic.close()
    (sentence,) = said
    assert "SASL authentication error" in sentence
    assert "another" not in sentence


def recorded_request(secure: SecureCluster, properties: Path, topic: str) -> CaptureRecord:
    """Return the first request that a consumer with the same properties finds."""
    bootstrap = {"bootstrap.servers": secure.node("SASL_TLS"), "group.id": "test"}
    consumer = Consumer(bootstrap | librdkafka(read_security(properties)))
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])

    def polled() -> CaptureRecord | None:
        message = consumer.poll(1.0)
        if message is None or message.error():
            return None
        record = MessageDecoder().decode(message.value() or b"")
        return record if record.kind == REQUEST else None

    found = eventually_blocking(polled, timeout=PATIENCE, pause=0)
    assert found
    consumer.close()
    return found


def test_the_shell_logs_in_at_a_controller(
    secure: SecureCluster, properties: Path, kwire: Command
) -> None:
    controller = ("--bootstrap-controller", secure.node("CONTROLLER_SASL"))
    users = ("ls", "/image/scram/SCRAM-SHA-512")
    run = kwire("shell", *controller, "--config", str(properties), *users)
    assert (run.code, run.out, run.err) == (0, f"{USER}\n", "")
    wrong = secure.client_properties(properties, SHA_512, USER, "wrong")
    run = kwire("shell", *controller, "--config", str(wrong), *users)
    assert (run.code, run.out) == (1, "")
    assert "SASL_AUTHENTICATION_FAILED" in run.error
    assert "wrong" not in run.err
