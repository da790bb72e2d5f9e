"""Settings of a connection with ZooKeeper, in Kafka's names."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.net.stores import TlsStore
from kwire.text.properties import WrongProperty
from kwire.zookeeper.settings import ZooKeeperSettings


@pytest.mark.parametrize(
    ("connect", "addresses", "chroot"),
    [
        ("zk1:2181", [Address("zk1", 2181)], ""),
        ("zk1", [Address("zk1", 2181)], ""),
        (
            "zk1:1,zk2:2 , zk3/a/b",
            [Address("zk1", 1), Address("zk2", 2), Address("zk3", 2181)],
            "/a/b",
        ),
        ("[::1]:2181/kafka", [Address("::1", 2181)], "/kafka"),
        ("[::1]/", [Address("::1", 2181)], ""),
        ("zk1:2181/kafka/", [Address("zk1", 2181)], "/kafka"),
    ],
    ids=range(6),
)
def test_zookeeper_connect_is_read(connect: str, addresses: list[Address], chroot: str) -> None:
    settings = ZooKeeperSettings.parse(connect)
    assert (list(settings.addresses), settings.chroot) == (addresses, chroot)


@pytest.mark.parametrize("connect", ["", ",", "zk1:", "zk1:x", "zk1:99999", "zk1,/a", "zk1//a"])
def test_a_wrong_zookeeper_connect_is_refused(connect: str) -> None:
    with pytest.raises(InvalidValue):
        ZooKeeperSettings.parse(connect)


def test_properties_have_kafkas_names_and_defaults() -> None:
    settings = ZooKeeperSettings.from_properties({"zookeeper.connect": "zk:1", "log.dirs": "/x"})
    assert settings == ZooKeeperSettings.parse("zk:1")
    assert (settings.session_seconds, settings.connection_seconds) == (18, 18)
    settings = ZooKeeperSettings.from_properties(
        {
            "zookeeper.connect": "zk:1/kafka",
            "zookeeper.session.timeout.ms": "6000",
            "zookeeper.set.acl": "true",
            "kwire.zookeeper.digest": "alice:s3cr3t:x",
        }
    )
    assert (settings.session_seconds, settings.connection_seconds) == (6, 6)
    assert (settings.set_acl, settings.digest) == (True, ("alice", "s3cr3t:x"))
    assert "s3cr3t" not in repr(settings)


def test_tls_is_read_from_zookeepers_own_properties(tmp_path: Path) -> None:
    settings = ZooKeeperSettings.from_properties(
        {
            "zookeeper.connect": "zk:1",
            "zookeeper.ssl.client.enable": "true",
            "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
            "zookeeper.ssl.truststore.location": str(tmp_path / "ca.pem"),
            "zookeeper.ssl.truststore.type": "PEM",
            "zookeeper.ssl.endpoint.identification.algorithm": "",
        }
    )
    assert settings.tls is not None
    assert not settings.tls.check_name
    assert settings.tls.protocols == ("TLSv1.2",)
    assert settings.tls.truststore is not None or settings.tls.authorities is not None


def test_a_store_named_pem_is_pem_and_its_password_is_that_of_the_key(tmp_path: Path) -> None:
    settings = ZooKeeperSettings.from_properties(
        {
            "zookeeper.connect": "zk:1",
            "zookeeper.ssl.client.enable": "true",
            "zookeeper.ssl.keystore.location": str(tmp_path / "own.pem"),
            "zookeeper.ssl.keystore.password": "s3cr3t",
            "zookeeper.ssl.truststore.location": str(tmp_path / "ca.pem"),
            "zookeeper.ssl.truststore.password": "unused",
        }
    )
    assert settings.tls is not None
    assert settings.tls.keystore == TlsStore(
        name="keystore", path=tmp_path / "own.pem", key_password="s3cr3t"
    )
    assert settings.tls.authorities == tmp_path / "ca.pem"
    assert "s3cr3t" not in repr(settings)


WRONG = [
    ({}, "zookeeper.connect is missing"),
    ({"zookeeper.connect": "zk:x"}, "zookeeper.connect: 'zk:x' is no address"),
    ({"zookeeper.session.timeout.ms": "0"}, "zookeeper.session.timeout.ms is a number"),
    ({"zookeeper.connection.timeout.ms": "x"}, "zookeeper.connection.timeout.ms is a number"),
    ({"zookeeper.set.acl": "yes"}, "zookeeper.set.acl is true or false"),
    ({"kwire.zookeeper.digest": "s3cr3t"}, "kwire.zookeeper.digest is user:password"),
    ({"zookeeper.ssl.crl.enable": "true"}, "zookeeper.ssl.crl.enable is not supported"),
    ({"zookeeper.ssl.keystore.type": "BKS"}, "zookeeper.ssl.keystore.type is one of PEM, PKCS12"),
    ({"zookeeper.ssl.protocol": "TLSv1"}, "zookeeper.ssl"),
    (
        {"zookeeper.ssl.keystore.location": "/no/ssl.p12"},
        "zookeeper.ssl.keystore.location: /no/ssl.p12 cannot be read",
    ),
]


@pytest.mark.parametrize(("pairs", "sentence"), WRONG, ids=range(len(WRONG)))
def test_wrong_properties_are_named(pairs: dict[str, str], sentence: str) -> None:
    base = {"zookeeper.connect": "zk:1", "zookeeper.ssl.client.enable": "true"} if pairs else {}
    with pytest.raises(WrongProperty) as refused:
        ZooKeeperSettings.from_properties(base | pairs)
    assert str(refused.value).startswith(sentence)
    assert "s3cr3t" not in str(refused.value)
