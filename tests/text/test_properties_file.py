"""Names of properties that are secret, by Kafka's own types."""

import pytest

from kwire.protocol import facts
from kwire.text.properties import is_password


def test_passwords_are_what_kafka_calls_so() -> None:
    """The facts have the configurations of Kafka's own ConfigDefs, with their types."""
    by_type: dict[bool, set[str]] = {True: set(), False: set()}
    for config in facts().configs:
        by_type[config.type == "password"].add(config.name)
    assert len(by_type[True]) >= 15
    assert [name for name in sorted(by_type[True]) if not is_password(name)] == []
    assert [name for name in sorted(by_type[False]) if is_password(name)] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("listener.name.controller.scram-sha-256.sasl.jaas.config", True),
        ("listener.name.external.ssl.keystore.password", True),
        ("PASSWORD", True),
        ("my.nosecret", False),
    ],
)
def test_names_of_listeners_and_plugins_count_too(name: str, expected: bool) -> None:
    assert is_password(name) is expected
