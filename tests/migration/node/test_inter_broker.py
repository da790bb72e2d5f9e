"""Security of requests to brokers, from a controller's server.properties (KIP-866)."""

from pathlib import Path

import pytest

from kwire.controller.server.config.node_config import NodeConfig
from kwire.errors import InvalidValue
from kwire.migration.node.extension import MigrationExtension
from kwire.migration.node.inter_broker import inter_broker_security
from kwire.net.sasl import Mechanism
from kwire.net.security import PLAINTEXT
from tests.support.controller.sasl_listeners import ADMIN, ADMIN_PASSWORD, jaas

MAP = "listener.security.protocol.map"
MECHANISM = "sasl.mechanism.inter.broker.protocol"
SCRAM_JAAS = "listener.name.inside.scram-sha-512.sasl.jaas.config"
SASL = {
    MAP: "CONTROLLER:PLAINTEXT,INSIDE:SASL_SSL",
    MECHANISM: "SCRAM-SHA-512",
    SCRAM_JAAS: jaas("SCRAM-SHA-512"),
}


def test_a_listener_is_what_it_is_called_unless_the_map_says_otherwise() -> None:
    assert inter_broker_security({}, "PLAINTEXT") == PLAINTEXT
    assert inter_broker_security({}, "SSL").protocol == "SSL"
    assert inter_broker_security({MAP: "INSIDE:PLAINTEXT"}, "INSIDE") == PLAINTEXT


def test_a_controller_logs_in_as_the_brokers_do(tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
    own = "listener.name.inside.ssl.truststore"
    stores = {
        "ssl.truststore.location": "of-the-controllers.pem",
        f"{own}.type": "PEM",
        f"{own}.location": str(authority),
    }

    security = inter_broker_security(SASL | stores, "INSIDE")

    assert security.protocol == "SASL_SSL"
    assert security.tls is not None
    assert security.tls.authorities == authority
    assert security.sasl is not None
    assert (security.sasl.mechanism, security.sasl.username, security.sasl.password) == (
        Mechanism.SCRAM_SHA_512, ADMIN, ADMIN_PASSWORD,
    )  # fmt: skip
    assert ADMIN_PASSWORD not in repr(security)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param({MAP: "CONTROLLER:PLAINTEXT"}, f"{MAP} has no security pro", id="unmapped"),
        pytest.param({MAP: "INSIDE:TLS"}, "it must be one of PLAINTEXT, SSL", id="no-protocol"),
        pytest.param({MECHANISM: "GSSAPI"}, f"{MECHANISM} is GSSAPI, and must", id="mechanism"),
        pytest.param({SCRAM_JAAS: ""}, f"{SCRAM_JAAS} is missing: SCRAM", id="no-login"),
        pytest.param(
            {"ssl.truststore.location": "x.jks", "ssl.truststore.type": "BCFKS"},
            "ssl.truststore.type",
            id="store",
        ),
    ],
)
def test_what_is_missing_or_unknown_is_refused(change: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        inter_broker_security(SASL | change, "INSIDE")

    assert told in str(refused.value)
    assert ADMIN_PASSWORD not in str(refused.value)


def test_a_controller_that_migrates_has_it_from_its_properties() -> None:
    pairs = SASL | {
        "process.roles": "controller",
        "node.id": "3000",
        "listeners": "CONTROLLER://127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "3000@127.0.0.1:9093",
        "inter.broker.listener.name": "INSIDE",
        "zookeeper.metadata.migration.enable": "true",
        "zookeeper.connect": "zk:2181",
    }
    config = NodeConfig.of(pairs)
    extension = MigrationExtension.of(config)

    assert extension.config is not None
    assert extension.config.broker_security.protocol == "SASL_SSL"
    assert not set(config.unknown) - extension.known
