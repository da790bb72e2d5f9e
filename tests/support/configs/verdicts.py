"""kwire's verdict on a configuration, in the form of Kafka's own."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.configs import (
    client_metrics_keys,
    client_metrics_validation,
    group_keys,
    group_validation,
    topic_keys,
    topic_validation,
)
from kwire.configs.keys import ConfigKey
from kwire.configs.node_configs import node_value
from kwire.errors import ApiError
from vectors import ConfigJudgement

KEYS: Mapping[str, Mapping[str, ConfigKey]] = {
    "TOPIC": topic_keys.KEYS,
    "GROUP": group_keys.KEYS,
    "CLIENT_METRICS": client_metrics_keys.KEYS,
}


def judge(
    type: str, configs: Mapping[str, str], old: Mapping[str, str], static: Mapping[str, str]
) -> ConfigJudgement:
    """Judge all that a resource would have; the topic's own static defaults are left out."""
    try:
        if type == "TOPIC":
            remote = node_value(static, "remote.log.storage.system.enable") is True
            topic_validation.check(configs, old, {}, remote_storage_enabled=remote)
        elif type == "GROUP":
            group_validation.check(configs, static)
        else:
            client_metrics_validation.check(configs)
    except ApiError as error:
        return ConfigJudgement(code=error.code, message=error.message)
    return ConfigJudgement(code=0, message=None)
