"""The committed tables are what the generator makes of Kafka's jars."""

from collections.abc import Mapping

import pytest

from config_keys.__main__ import committed, generated
from kwire.configs import client_metrics_keys, group_keys, node_keys, topic_keys
from kwire.configs.keys import ConfigKey


@pytest.mark.java
def test_the_committed_tables_are_those_of_kafkas_config_defs() -> None:
    assert committed() == generated()


@pytest.mark.parametrize("keys", [client_metrics_keys.KEYS, group_keys.KEYS, topic_keys.KEYS])
def test_every_default_is_valid(keys: Mapping[str, ConfigKey]) -> None:
    assert [name for name, key in keys.items() if not key.is_valid(key.default or "")] in (
        [],
        ["internal.segment.bytes"],  # which has none
    )


def test_secrets_of_nodes_are_known_by_their_type() -> None:
    secrets = {name for name, key in node_keys.KEYS.items() if key.is_sensitive}
    assert {"ssl.key.password", "ssl.keystore.key", "sasl.jaas.config"} <= secrets
