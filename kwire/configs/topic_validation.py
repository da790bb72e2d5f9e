"""The configuration of a topic (LogConfig.validate)."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.configs.keys import Configs, values
from kwire.configs.topic_keys import KEYS
from kwire.configs.values import Value, invalid, refused

PUBLIC_KEYS = tuple(sorted(name for name, key in KEYS.items() if not key.internal))
"""The keys that an answer names; Kafka's internal ones may be set and are not described."""

UNSET = -2
"""The value of local.retention.ms and local.retention.bytes that stands for the topic's own."""


def check(
    configs: Configs, old: Configs, inherited: Configs, *, remote_storage_enabled: bool
) -> None:
    """Check all settings that a topic would have. Raises ApiError with INVALID_CONFIG unless:

    old: its settings before. inherited: its settings from the nodes, by the topic's own key.

    1. Every name is known.
    2. Every value is of its type and valid; the keys in Kafka's order.
    3. min.compaction.lag.ms is not above max.compaction.lag.ms.
    4. remote.storage.enable: the cluster has tiered storage, the topic is not compacted, and what
       stays local is not more than all (KIP-405); equally much if nothing is copied (KIP-950).
    5. It is switched off only with remote.log.delete.on.disable.
    """
    # 1.
    for name in sorted(configs):
        if name not in KEYS:
            raise refused(f"Unknown topic config name: {name}")
    # 2.
    parsed = values(KEYS, {**inherited, **configs})
    # 3.
    shortest, longest = parsed["min.compaction.lag.ms"], parsed["max.compaction.lag.ms"]
    if _number(shortest) > _number(longest):
        raise refused(
            f"conflict topic config setting min.compaction.lag.ms ({shortest}) >"
            f" max.compaction.lag.ms ({longest})"
        )
    # 4., 5.
    if parsed["remote.storage.enable"]:
        _check_remote_storage(parsed, remote_storage_enabled)
    elif _was_remote(old) and not parsed["remote.log.delete.on.disable"]:
        raise refused(
            "It is invalid to disable remote storage without deleting remote data. If you want to"
            " keep the remote data and turn to read only, please set"
            " `remote.storage.enable=true,remote.log.copy.disable=true`. If you want to disable"
            " remote storage and delete all remote data, please set"
            " `remote.storage.enable=false,remote.log.delete.on.disable=true`."
        )


def _was_remote(old: Configs) -> bool:
    # Boolean.parseBoolean, which trims nothing
    return old.get("remote.storage.enable", "").lower() == "true"


def _check_remote_storage(parsed: Mapping[str, Value], enabled: bool) -> None:
    if not enabled:
        raise refused(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured"
            " with remote log storage."
        )
    if parsed["cleanup.policy"] not in ([], ["delete"]):
        raise refused(
            "Remote log storage only supports topics with cleanup.policy=delete or"
            " cleanup.policy being an empty list."
        )
    for key, unlimited in (("retention.bytes", range(-1 << 63, 0)), ("retention.ms", (-1,))):
        total, local = _number(parsed[key]), _number(parsed[f"local.{key}"])
        if total in unlimited or local == UNSET:
            continue
        if local == -1:
            reason = f"Value must not be -1 as {key} value is set as {total}."
            raise invalid(f"local.{key}", local, reason)
        if local > total:
            reason = f"Value must not be more than {key} property value: {total}"
            raise invalid(f"local.{key}", local, reason)
    if parsed["remote.log.copy.disable"]:
        _check_nothing_is_copied(parsed)


def _check_nothing_is_copied(parsed: Mapping[str, Value]) -> None:
    for key in ("retention.bytes", "retention.ms"):
        if parsed[f"local.{key}"] not in (UNSET, parsed[key]):
            raise refused(
                f"When `remote.log.copy.disable` is set to true, the `local.{key}` and `{key}`"
                " must be set to the identical value because there will be no more logs copied to"
                " the remote storage."
            )


def _number(value: Value) -> float:
    assert isinstance(value, int | float), "the key is a number and has a default"
    return value
