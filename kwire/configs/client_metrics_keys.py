"""The keys of subscriptions to client metrics (Java: ClientMetricsConfigs).

Generated from Kafka 4.3.1 by `python -m config_keys`; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping

from kwire.configs.keys import ConfigKey, table
from kwire.configs.validators import ValidList
from kwire.messages.config_resource import ConfigType

KEYS: Mapping[str, ConfigKey] = table(
    (
        ConfigKey(
            name="metrics",
            type=ConfigType.LIST,
            default="",
            validator=ValidList((), empty_allowed=True, null_allowed=False),
        ),
        ConfigKey(name="interval.ms", type=ConfigType.INT, default="300000"),
        ConfigKey(
            name="match",
            type=ConfigType.LIST,
            default="",
            validator=ValidList((), empty_allowed=True, null_allowed=False),
        ),
    )
)
