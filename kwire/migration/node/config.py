"""The settings of a migration from ZooKeeper (KIP-866; Java: ZkConfigs, KRaftConfigs,
PasswordEncoderConfigs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwire.controller.server.config import property_values
from kwire.controller.server.config.listener_config import inter_broker_listener
from kwire.controller.server.config.sasl import BROKER_LOGIN_MECHANISM
from kwire.errors import InvalidValue
from kwire.migration.driver.copy import MIN_BATCH_SIZE
from kwire.migration.node.inter_broker import inter_broker_security
from kwire.net.security import PLAINTEXT, Security
from kwire.net.stores import BadTls
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.settings import ZOOKEEPER_KNOWN, ZooKeeperSettings

ENABLE = "zookeeper.metadata.migration.enable"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationConfig:
    """The settings of a controller with zookeeper.metadata.migration.enable=true.

    min_batch_size: records of the copy that make a batch. inter_broker_listener: the name of the
    listener at which brokers are sent requests. broker_security: TLS and login of these requests.
    """

    zookeeper: ZooKeeperSettings
    min_batch_size: int = MIN_BATCH_SIZE
    password_encoder: PasswordEncoder = PasswordEncoder()
    inter_broker_listener: str = "PLAINTEXT"
    broker_security: Security = PLAINTEXT


def migration_config(pairs: Mapping[str, str]) -> MigrationConfig | None:
    """Return the settings of a migration; None if it is not enabled.

    Raises InvalidValue if zookeeper.connect is missing, if a value makes no sense, or if a store
    cannot be read.
    """
    if not property_values.flag(pairs, ENABLE):
        return None
    listener = inter_broker_listener(pairs)
    return MigrationConfig(
        zookeeper=_zookeeper(pairs),
        min_batch_size=property_values.positive_number(
            pairs, "zookeeper.metadata.migration.min.batch.size", MIN_BATCH_SIZE
        ),
        password_encoder=_password_encoder(pairs),
        inter_broker_listener=listener,
        broker_security=inter_broker_security(pairs, listener),
    )


def _zookeeper(pairs: Mapping[str, str]) -> ZooKeeperSettings:
    settings = ZooKeeperSettings.from_properties(pairs)
    if settings.tls is not None:
        try:
            settings.tls.context()
        except BadTls as error:
            raise InvalidValue(f"zookeeper.ssl: {error}") from None
    return settings


def _password_encoder(pairs: Mapping[str, str]) -> PasswordEncoder:
    default = PasswordEncoder()
    return PasswordEncoder(
        secret=pairs.get("password.encoder.secret") or None,
        key_factory_algorithm=(
            pairs.get("password.encoder.keyfactory.algorithm") or default.key_factory_algorithm
        ),
        cipher_algorithm=(
            pairs.get("password.encoder.cipher.algorithm") or default.cipher_algorithm
        ),
        key_length=_at_least(8, pairs, "password.encoder.key.length", default.key_length),
        iterations=_at_least(1024, pairs, "password.encoder.iterations", default.iterations),
    )


def _at_least(least: int, pairs: Mapping[str, str], name: str, default: int) -> int:
    value = property_values.number(pairs, name, default)
    if value < least:
        raise InvalidValue(f"{name} is {value}: it must be a number from {least} on")
    return value


MIGRATION_KNOWN = ZOOKEEPER_KNOWN | {
    ENABLE,
    "inter.broker.listener.name",
    BROKER_LOGIN_MECHANISM,
    "security.inter.broker.protocol",
    "zookeeper.metadata.migration.min.batch.size",
    "password.encoder.secret",
    "password.encoder.keyfactory.algorithm",
    "password.encoder.cipher.algorithm",
    "password.encoder.key.length",
    "password.encoder.iterations",
}
"""The names that have an effect if a migration is enabled."""
