"""Listeners with SSL: who trusts one authority votes with each other, and strangers stay out."""

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.config.tls import TlsConfig, tls_config
from kwire.errors import ConnectionFailed, InvalidValue
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from kwire.text.properties import parse_properties
from tests.support.controller.pem_stores import CONTROLLERS, stores
from tests.support.virtual_time import in_virtual_time

MUTUAL = CONTROLLERS | {"ssl.client.auth": "required"}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ours(authority: trustme.CA) -> dict[str, str]:
    return as_read(stores(authority, "127.0.0.1", "localhost"))


def as_read(pairs: dict[str, str]) -> dict[str, str]:
    """The values after they stood in a file, which escapes ends of lines."""
    return parse_properties("".join(f"{name}={value}\n" for name, value in pairs.items()))


def of(pairs: dict[str, str]) -> TlsConfig:
    return tls_config(pairs, "CONTROLLER")


@in_virtual_time
async def test_three_controllers_vote_over_tls_and_serve_whom_they_trust(
    ours: dict[str, str], authority: trustme.CA
) -> None:
    async with Quorum(3, properties=MUTUAL | ours) as quorum:
        leader = await quorum.active_controller()
        async with asyncio.timeout(60):
            await leader.metadata.until(lambda: len(leader.metadata.image.cluster.controllers) == 3)
        registered = leader.metadata.image.cluster.controllers.values()
        protocols = {
            endpoint.security_protocol for node in registered for endpoint in node.endpoints
        }
        assert protocols == {1}
        host, port = quorum.addresses[leader.node_id]
        async with await Connection.open(host, port, ssl=of(ours).client_context()) as connection:
            answer = await connection.send(DescribeClusterRequest(endpoint_type=2))
        assert isinstance(answer, DescribeClusterResponse)
        assert answer.controller_id == leader.node_id
        nameless = ssl.create_default_context()
        authority.configure_trust(nameless)
        trusted = "ssl.truststore.certificates"
        foreign = as_read(stores(trustme.CA(), host)) | {trusted: ours[trusted]}
        for context in (None, nameless, of(foreign).client_context()):
            with pytest.raises((ConnectionFailed, OSError)):
                await Connection.open(host, port, ssl=context)


def test_stores_are_files_or_values_and_stand_in_one_line_or_many(
    tmp_path: Path, ours: dict[str, str]
) -> None:
    key, chain = ours["ssl.keystore.key"], ours["ssl.keystore.certificate.chain"]
    (tmp_path / "node.pem").write_text(f"Bag Attributes: none\n{key}{chain}")
    (tmp_path / "ca.pem").write_text(ours["ssl.truststore.certificates"])
    files = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tmp_path / "node.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tmp_path / "ca.pem"),
    }
    one_line = {name: " ".join(value.split("\n")) for name, value in ours.items()}
    listeners = {f"listener.name.controller.{name}": value for name, value in ours.items()}
    assert of(ours) == of(files) == of(one_line) == of({"ssl.keystore.type": "JKS"} | listeners)
    of(one_line).server_context()


def test_a_key_may_be_locked_and_is_never_printed(authority: trustme.CA) -> None:
    locked = as_read(stores(authority, "localhost", password="hush"))
    of(locked).server_context()
    assert "hush" not in repr(of(locked))
    assert "PRIVATE KEY" not in repr(of(locked))
    with pytest.raises(InvalidValue, match="cannot be used"):
        of(locked | {"ssl.key.password": "wrong"}).server_context()


def test_whether_hosts_are_verified_is_kafkas_setting(ours: dict[str, str]) -> None:
    assert of(ours).client_context().check_hostname
    lax = ours | {"ssl.endpoint.identification.algorithm": ""}
    assert not of(lax).client_context().check_hostname


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ssl.keystore.type": "JKS"}, "ssl.keystore.type is JKS: only PEM"),
        ({"ssl.keystore.location": "/x.pem"}, "the keystore is either ssl.keystore.location or"),
        ({"ssl.keystore.certificate.chain": ""}, "the keystore is either"),
        ({"ssl.keystore.key": "secret"}, "ssl.keystore.key has no PEM block"),
        ({"ssl.client.auth": "perhaps"}, "ssl.client.auth is 'perhaps'"),
        ({"ssl.truststore.location": "/x.pem"}, "the truststore is either"),
        (
            {"ssl.truststore.certificates": "", "ssl.truststore.location": "/no/x.pem"},
            "ssl.truststore.location: /no/x.pem cannot be read",
        ),
    ],
)
def test_what_is_no_store_is_named(ours: dict[str, str], change: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        of(ours | change)


def test_the_names_are_known(ours: dict[str, str]) -> None:
    pairs = {
        "process.roles": "controller",
        "node.id": "1",
        "log.dirs": "/data",
        "listeners": "CONTROLLER://127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "listener.name.controller.ssl.client.auth": "required",
        "listener.name.controller.ssl.cipher.suites": "x",
    }
    config = NodeConfig.of(pairs | MUTUAL | ours)
    assert config.unknown == ("listener.name.controller.ssl.cipher.suites",)
