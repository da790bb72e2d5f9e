"""A controller reads what Kafka 3.9 calls the settings of a migration from ZooKeeper (KIP-866)."""

from pathlib import Path

import pytest
import trustme

from kwire.controller.server.config.node_config import NodeConfig
from kwire.errors import InvalidValue
from kwire.migration.driver.rules import MigrationRules
from kwire.migration.node.config import (
    MigrationConfig,
    migration_config,
)
from kwire.migration.node.extension import MigrationExtension
from kwire.net.address import Address
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.settings import ZooKeeperSettings

CONTROLLER = {
    "process.roles": "controller",
    "node.id": "3000",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "3000@127.0.0.1:9093",
}
ENABLED = {
    "zookeeper.metadata.migration.enable": "true",
    "zookeeper.connect": "zk1:2181,zk2:2181,zk3/kafka",
}


def unknown(config: NodeConfig, extension: MigrationExtension) -> tuple[str, ...]:
    """The names that have no effect here, as `kwire controller` prints them."""
    return tuple(name for name in config.unknown if name not in extension.known)


def of(pairs: dict[str, str]) -> MigrationConfig:
    config = migration_config(pairs)
    assert config is not None
    return config


def test_without_the_flag_there_is_no_migration_and_zookeepers_settings_have_no_effect() -> None:
    config = NodeConfig.of(CONTROLLER | {"zookeeper.connect": "zk:2181"})
    extension = MigrationExtension.of(config)

    assert extension.config is None
    assert unknown(config, extension) == ("zookeeper.connect",)
    assert not extension.rules.is_ready


def test_defaults_are_those_of_kafka_3_9() -> None:
    assert of(ENABLED) == MigrationConfig(
        zookeeper=ZooKeeperSettings(
            addresses=(Address("zk1", 2181), Address("zk2", 2181), Address("zk3", 2181)),
            chroot="/kafka",
            session_seconds=18,
            connection_seconds=18,
            digest=None,
            set_acl=False,
            tls=None,
        ),
        min_batch_size=200,
        password_encoder=PasswordEncoder(
            secret=None,
            key_factory_algorithm="PBKDF2WithHmacSHA512",
            cipher_algorithm="AES/CBC/PKCS5Padding",
            key_length=128,
            iterations=4096,
        ),
        inter_broker_listener="PLAINTEXT",
    )


def test_every_setting_of_the_migration_is_taken() -> None:
    pairs = ENABLED | {
        "zookeeper.session.timeout.ms": "6000",
        "zookeeper.set.acl": "true",
        "zookeeper.metadata.migration.min.batch.size": "7",
        "kwire.zookeeper.digest": "kafka:a:secret",
        "password.encoder.secret": "encoder-secret",
        "password.encoder.key.length": "256",
        "inter.broker.listener.name": "internal",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT",
    }
    config = NodeConfig.of(CONTROLLER | pairs)
    extension = MigrationExtension.of(config)

    assert unknown(config, extension) == ()
    assert extension.config == MigrationConfig(
        zookeeper=ZooKeeperSettings(
            addresses=(Address("zk1", 2181), Address("zk2", 2181), Address("zk3", 2181)),
            chroot="/kafka",
            session_seconds=6,
            connection_seconds=6,
            set_acl=True,
            digest=("kafka", "a:secret"),
        ),
        min_batch_size=7,
        password_encoder=PasswordEncoder(secret="encoder-secret", key_length=256),
        inter_broker_listener="INTERNAL",
    )
    assert "secret'" not in repr(extension.config)
    assert extension.rules == MigrationRules(enabled=True, inter_broker_listener="INTERNAL")


def test_the_listener_among_brokers_is_named_like_their_protocol_by_default() -> None:
    assert of(ENABLED | {"security.inter.broker.protocol": "ssl"}).inter_broker_listener == "SSL"


def test_settings_of_java_s_client_alone_have_no_effect() -> None:
    pairs = {
        "zookeeper.max.in.flight.requests": "100",
        "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
    }
    config = NodeConfig.of(CONTROLLER | ENABLED | pairs)
    assert unknown(config, MigrationExtension.of(config)) == (
        "zookeeper.clientCnxnSocket",
        "zookeeper.max.in.flight.requests",
    )


def test_stores_of_zookeepers_tls_are_read_at_the_start(tmp_path: Path) -> None:
    store = tmp_path / "authority.pem"
    trustme.CA().cert_pem.write_to_path(store)
    pairs = ENABLED | {
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.ssl.truststore.location": str(store),
    }
    tls = of(pairs).zookeeper.tls
    assert tls is not None
    assert tls.authorities == store

    store.write_text("nothing")
    with pytest.raises(InvalidValue, match=r"zookeeper.ssl: .* holds no certificate in PEM"):
        of(pairs)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(
            {"zookeeper.connect": ""},
            "zookeeper.connect is missing: write host:port,host:port/chroot",
            id="no-address",
        ),
        pytest.param({"zookeeper.connect": "zk:x"}, "'zk:x' is no address", id="port"),
        pytest.param({"zookeeper.connect": "zk:1,,"}, "an address is empty", id="no-host"),
        pytest.param({"zookeeper.connect": "zk/a/../b"}, "zookeeper.connect: ", id="chroot"),
        pytest.param(
            {"zookeeper.metadata.migration.enable": "yes"},
            "zookeeper.metadata.migration.enable is 'yes'",
            id="flag",
        ),
        pytest.param(
            {"zookeeper.metadata.migration.min.batch.size": "0"},
            "min.batch.size is 0: it must be a number from 1 on",
            id="batch-size",
        ),
        pytest.param({"kwire.zookeeper.digest": "user"}, "digest is user:password", id="digest"),
        pytest.param(
            {"password.encoder.secret": "s", "password.encoder.iterations": "1000"},
            "password.encoder.iterations is 1000: it must be a number from 1024 on",
            id="iterations",
        ),
        pytest.param(
            {
                "zookeeper.ssl.client.enable": "true",
                "zookeeper.ssl.keystore.location": "/nowhere/store.jks",
            },
            r"zookeeper.ssl.keystore.location: /nowhere/store.jks cannot be read",
            id="no-store",
        ),
        pytest.param(
            {
                "zookeeper.ssl.client.enable": "true",
                "zookeeper.ssl.keystore.location": "/nowhere/store.pem",
            },
            r"zookeeper.ssl: cannot read /nowhere/store.pem",
            id="no-pem",
        ),
        pytest.param(
            {
                "zookeeper.ssl.client.enable": "true",
                "zookeeper.ssl.endpoint.identification.algorithm": "LDAP",
            },
            "zookeeper.ssl.endpoint.identification.algorithm is https, or empty",
            id="identification",
        ),
        pytest.param({"process.roles": "broker,controller"}, "kwire has no brokers", id="combined"),
    ],
)
def test_a_value_without_meaning_is_refused_in_a_sentence(
    change: dict[str, str], told: str
) -> None:
    with pytest.raises(InvalidValue, match=told):
        MigrationExtension.of(NodeConfig.of(CONTROLLER | ENABLED | change))
