"""SASL and TLS to real Kafka through the proxy: all of it works, none of its secrets is kept."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from kwire.capture import CaptureRecord, read_capture
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a38_create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest
from kwire.messages.a40_expire_delegation_token import ExpireDelegationTokenRequest
from kwire.messages.a41_describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.net.frames import decode_request, decode_response
from tests.support.cli.proxy_process import end_with_ctrl_c, proxy
from tests.support.eventually import eventually_blocking
from tests.support.proxy.secure_cluster import (
    PLAIN_PASSWORD,
    PLAIN_TOKEN,
    SALT,
    SALTED,
    SCRAM_PASSWORD,
    Client,
    SecureCluster,
    add_scram_user,
    remove_scram_user,
)


@pytest.fixture
def clients(secure: SecureCluster) -> Iterator[Any]:
    """Make clients of a listener, through the proxy."""
    made: list[Client] = []

    def make(name: str) -> Client:
        made.append(Client(("127.0.0.1", secure.ports[name])))
        return made[-1]

    yield make
    for client in made:
        client.close()


def delegation_token(client: Client) -> bytes:
    """The HMAC of a token that was made, and renewed and described as soon as it is known."""
    made = client.ask(CreateDelegationTokenRequest(max_lifetime_ms=-1), 3)
    assert isinstance(made, CreateDelegationTokenResponse)
    assert made.error_code == 0
    renewal = RenewDelegationTokenRequest(hmac=made.hmac, renew_period_ms=60_000)
    eventually_blocking(lambda: cast(Any, client.ask(renewal, 2)).error_code == 0)
    describe = DescribeDelegationTokenRequest(owners=None)
    eventually_blocking(lambda: made.hmac in [one.hmac for one in described(client, describe)])
    return made.hmac


def described(
    client: Client, describe: DescribeDelegationTokenRequest
) -> list[DescribedDelegationToken]:
    answer = client.ask(describe, 3)
    assert isinstance(answer, DescribeDelegationTokenResponse)
    return answer.tokens


def with_tokens_of_before_frames(client: Client) -> int:
    """Authenticate with SaslHandshake v0; returns how many brokers there are."""
    assert client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    assert client.token(PLAIN_TOKEN) == b""
    metadata = client.ask(MetadataRequest(topics=[]), 12)
    assert isinstance(metadata, MetadataResponse)
    return len(metadata.brokers)


def nodes_seen(**options: Any) -> int:
    """Return how many nodes kafka-python sees."""
    from kafka.admin import KafkaAdminClient

    with closing(KafkaAdminClient(**options)) as admin:
        return len(admin.describe_cluster()["brokers"])


def java_lists_topics(secure: SecureCluster, folder: Path) -> int:
    """Kafka's own tool over TLS, with a certificate of its own."""
    properties = folder / "client.properties"
    properties.write_text(
        "security.protocol=SSL\nssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
        f"ssl.truststore.location={secure.authority.path}\nssl.keystore.location={secure.keystore}\n"
    )
    command = ("--bootstrap-server", secure.at("TLS"), "--command-config", str(properties))
    done = secure.cluster.tool("org.apache.kafka.tools.TopicCommand", *command, "--list")
    return done.returncode


def test_everything_authenticates_through_the_proxy_and_no_secret_is_kept(
    secure: SecureCluster, clients: Any, tmp_path: Path
) -> None:
    from kafka import KafkaConsumer

    path = tmp_path / "secure.avro"
    arguments = [*secure.arguments, "-v", "--json", "-w", str(path)]
    with proxy(*arguments, listeners=3) as (run, _):
        add_scram_user(clients("PLAINTEXT"), "bob", 1, SCRAM_PASSWORD)
        sasl = {"bootstrap_servers": secure.at("SASL"), "security_protocol": "SASL_PLAINTEXT"}
        scram = {"sasl_mechanism": "SCRAM-SHA-256", "sasl_plain_username": "bob"}
        plain = {"sasl_mechanism": "PLAIN", "sasl_plain_username": "alice"}
        assert nodes_seen(**sasl, **scram, sasl_plain_password=SCRAM_PASSWORD) == 1
        assert nodes_seen(**sasl, **plain, sasl_plain_password=PLAIN_PASSWORD) == 1
        assert with_tokens_of_before_frames(clients("SASL")) == 1
        client = clients("SASL")
        client.authenticate()
        hmac = delegation_token(client)
        time.sleep(1.1)  # Kafka takes a second authentication on a connection after a second only
        client.authenticate()
        assert client.ask(MetadataRequest(topics=[]), 12)
        over_tls = {
            "security_protocol": "SSL",
            "ssl_cafile": str(secure.authority.path),
            "ssl_certfile": str(secure.pem.certificate),
            "ssl_keyfile": str(secure.pem.key),
        }
        consumer = KafkaConsumer(bootstrap_servers=secure.at("TLS"), **over_tls)
        assert consumer.topics() is not None
        consumer.close()
        assert java_lists_topics(secure, tmp_path) == 0
        lines, err = end_with_ctrl_c(run)
    with closing(Client(("127.0.0.1", secure.behind["SASL"]))) as direct:
        direct.authenticate()
        direct.ask(ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=-1), 2)
        remove_scram_user(direct, "bob", 1)

    values = [json.loads(line) for line in lines]
    notices = {value["type"]: value.get("text") for value in values if value["type"] != "flow"}
    assert set(notices) == {"opened", "closed", "sasl_tokens", "summary"}
    assert notices["sasl_tokens"] == "1 bare tokens passed unread after SaslHandshake v0"
    flows = [value for value in values if value["type"] == "flow"]
    assert [flow["problems"] for flow in flows if flow["problems"]] == []
    handshakes = [flow["apiVersion"] for flow in flows if flow["api"] == "SaslHandshake"]
    assert (handshakes.count(0), set(handshakes)) == (1, {0, 1})
    again = [flow["connection"] for flow in flows if flow["api"] == "SaslAuthenticate"]
    assert max(map(again.count, again)) >= 2
    assert {flow["api"] for flow in flows if flow["node"] == 2} >= {"ApiVersions", "Metadata"}

    kept = {"capture": path.read_bytes(), "screen": "\n".join([*lines, err]).encode()}
    for secret in secrets(hmac):
        assert [where for where, data in kept.items() if secret in data] == []
    tokens = list(sasl_tokens(path))
    assert len(tokens) >= 8
    assert not any(b"".join(tokens))

    unmasked = tmp_path / "unmasked.avro"
    options = ("--show-secrets", "-w", str(unmasked))
    with proxy(*secure.arguments, *options, listeners=3) as (run, _):
        clients("SASL").authenticate()
        end_with_ctrl_c(run)
    assert PLAIN_TOKEN in list(sasl_tokens(unmasked))


def secrets(hmac: bytes) -> Iterator[bytes]:
    """In every form that something may have written them in."""
    credential = UserScramCredentialRecord(salt=SALT)
    for secret in (
        PLAIN_PASSWORD.encode(),
        SCRAM_PASSWORD.encode(),
        SALT,
        SALTED,
        hmac,
        credential.salt,
        b"biws,r=",  # of SCRAM's last message
        b"n=bob,r=",  # and of its first
    ):
        yield secret
        yield secret.hex().encode()
        yield b64encode(secret)


def sasl_tokens(path: Path) -> Iterator[bytes]:
    """Yield the SASL tokens in a capture."""
    for record in read_capture(path):
        if isinstance(record, CaptureRecord) and record.api_key == 36 and record.frame:
            if record.kind == "REQUEST":
                body: Any = decode_request(record.frame).body
            else:
                body = decode_response(record.frame, 36, record.api_version or 0).body
            yield body.auth_bytes
