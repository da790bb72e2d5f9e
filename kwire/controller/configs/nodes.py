"""The configuration of a node in server.properties, by Kafka's own keys (KafkaConfig).

What is set for nodes at run time a controller takes as it comes, as Kafka's does: the brokers check
it before they forward it (DynamicBrokerConfig), and what reaches them wrong they leave out.
"""

from __future__ import annotations

from kwire.controller.configs.keys import Configs
from kwire.controller.configs.node_keys import KEYS
from kwire.controller.configs.values import Value
from kwire.controller.errors import ApiError


def node_value(static: Configs, name: str) -> Value:
    """Return the value of a node's key; the default where it is not set, or is not of its type."""
    key = KEYS[name]
    try:
        return key.value(static.get(name))
    except ApiError:
        return key.value(None)
