"""The keys that topics may be configured with, and what is a valid value (Java: LogConfig).

As of Kafka 4.3; a test compares it with Kafka's own definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

HOURS = 3_600_000
MINUTES = 60_000


class ConfigType(IntEnum):
    """Types of values, by their numbers in DescribeConfigs (ConfigEntry.ConfigType)."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


@dataclass(frozen=True, slots=True)
class Synonym:
    """The name of a default in server.properties, in milliseconds times `unit`."""

    name: str
    unit: int = 1

    def convert(self, value: str) -> str:
        """The value as the topic's key has it: -1 stays what it is, and so does no number."""
        try:
            number = int(_plain(value))
        except ValueError:
            return value
        return str(number * self.unit) if number > 0 else value

    def stated(self, value: str | None) -> str | None:
        """The topic's value as server.properties has it."""
        return value if value is None or self.unit == 1 else str(int(value) // self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One key of topics. choices: the only values, or elements of a list."""

    name: str
    type: ConfigType
    default: str | None
    synonyms: tuple[Synonym, ...]
    low: float | None = None
    high: float | None = None
    choices: frozenset[str] = frozenset()

    def problem(self, value: str) -> str | None:
        """Why a value is not valid; None where it is."""
        parse = _PARSERS.get(self.type)
        if parse is not None:
            try:
                number = parse(value.strip())
            except ValueError:
                return f"{value!r} is not of type {self.type.name}."
            low = self.low is not None and number < self.low
            high = self.high is not None and number > self.high
            return f"{value!r} is out of range: {self._range()}." if low or high else None
        words = [word.strip() for word in value.split(",")] if self.type is _LIST else [value]
        unknown = [word for word in words if word and word not in self.choices]
        if self.choices and (unknown or not any(words)):
            return f"{value!r} must be of {', '.join(sorted(self.choices))}."
        return None

    def _range(self) -> str:
        return f"{_shown(self.low)} to {_shown(self.high)}"


_LIST = ConfigType.LIST


def _boolean(text: str) -> float:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return float(text.lower() == "true")


def _plain(text: str) -> str:
    """What Python would take and Java does not: digits of other scripts and underscores."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return text


def _whole(bits: int) -> Callable[[str], float]:
    def parse(text: str) -> float:
        number = int(_plain(text))
        if not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise ValueError(text)
        return number

    return parse


_PARSERS: Mapping[ConfigType, Callable[[str], float]] = {
    ConfigType.BOOLEAN: _boolean,
    ConfigType.INT: _whole(32),
    ConfigType.LONG: _whole(64),
    ConfigType.DOUBLE: lambda text: float(_plain(text)),
}


def _shown(limit: float | None) -> str:
    return "any" if limit is None else f"{limit:g}"


def _key(
    name: str,
    type: ConfigType,
    default: str | None,
    *synonyms: str | Synonym,
    low: float | None = None,
    high: float | None = None,
    choices: str = "",
) -> ConfigKey:
    return ConfigKey(
        name=name,
        type=type,
        default=default,
        synonyms=tuple(one if isinstance(one, Synonym) else Synonym(one) for one in synonyms),
        low=low,
        high=high,
        choices=frozenset(choices.split()),
    )


_BOOLEAN, _STRING, _INT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT
_LONG, _DOUBLE = ConfigType.LONG, ConfigType.DOUBLE
_MAX = str((1 << 63) - 1)
_COMPRESSION = "uncompressed zstd lz4 snappy gzip producer"

KEYS: Mapping[str, ConfigKey] = MappingProxyType(
    {
        key.name: key
        for key in (
            _key("cleanup.policy", _LIST, "delete", "log.cleanup.policy", choices="compact delete"),
            _key("compression.gzip.level", _INT, "-1", "compression.gzip.level", low=-1, high=9),
            _key("compression.lz4.level", _INT, "9", "compression.lz4.level", low=1, high=17),
            _key("compression.type", _STRING, "producer", "compression.type", choices=_COMPRESSION),
            _key(
                "compression.zstd.level", _INT, "3", "compression.zstd.level", low=-131072, high=22
            ),
            _key(
                "delete.retention.ms", _LONG, "86400000", "log.cleaner.delete.retention.ms", low=0
            ),
            _key("file.delete.delay.ms", _LONG, "60000", "log.segment.delete.delay.ms", low=0),
            _key("flush.messages", _LONG, _MAX, "log.flush.interval.messages", low=1),
            _key(
                "flush.ms",
                _LONG,
                _MAX,
                "log.flush.interval.ms",
                "log.flush.scheduler.interval.ms",
                low=0,
            ),
            _key("follower.replication.throttled.replicas", _LIST, ""),
            _key("index.interval.bytes", _INT, "4096", "log.index.interval.bytes", low=0),
            _key("internal.segment.bytes", _INT, None),
            _key("leader.replication.throttled.replicas", _LIST, ""),
            _key("local.retention.bytes", _LONG, "-2", "log.local.retention.bytes", low=-2),
            _key("local.retention.ms", _LONG, "-2", "log.local.retention.ms", low=-2),
            _key("max.compaction.lag.ms", _LONG, _MAX, "log.cleaner.max.compaction.lag.ms", low=1),
            _key("max.message.bytes", _INT, "1048588", "message.max.bytes", low=0),
            _key(
                "message.timestamp.after.max.ms",
                _LONG,
                "3600000",
                "log.message.timestamp.after.max.ms",
                low=0,
            ),
            _key(
                "message.timestamp.before.max.ms",
                _LONG,
                _MAX,
                "log.message.timestamp.before.max.ms",
                low=0,
            ),
            _key(
                "message.timestamp.type",
                _STRING,
                "CreateTime",
                "log.message.timestamp.type",
                choices="CreateTime LogAppendTime",
            ),
            _key(
                "min.cleanable.dirty.ratio",
                _DOUBLE,
                "0.5",
                "log.cleaner.min.cleanable.ratio",
                low=0,
                high=1,
            ),
            _key("min.compaction.lag.ms", _LONG, "0", "log.cleaner.min.compaction.lag.ms", low=0),
            _key("min.insync.replicas", _INT, "1", "min.insync.replicas", low=1),
            _key("preallocate", _BOOLEAN, "false", "log.preallocate"),
            _key("remote.log.copy.disable", _BOOLEAN, "false"),
            _key("remote.log.delete.on.disable", _BOOLEAN, "false"),
            _key("remote.storage.enable", _BOOLEAN, "false"),
            _key("retention.bytes", _LONG, "-1", "log.retention.bytes"),
            _key(
                "retention.ms",
                _LONG,
                "604800000",
                "log.retention.ms",
                Synonym("log.retention.minutes", MINUTES),
                Synonym("log.retention.hours", HOURS),
                low=-1,
            ),
            _key("segment.bytes", _INT, "1073741824", "log.segment.bytes", low=1048576),
            _key("segment.index.bytes", _INT, "10485760", "log.index.size.max.bytes", low=4),
            _key(
                "segment.jitter.ms",
                _LONG,
                "0",
                "log.roll.jitter.ms",
                Synonym("log.roll.jitter.hours", HOURS),
                low=0,
            ),
            _key(
                "segment.ms",
                _LONG,
                "604800000",
                "log.roll.ms",
                Synonym("log.roll.hours", HOURS),
                low=1,
            ),
            _key(
                "unclean.leader.election.enable",
                _BOOLEAN,
                "false",
                "unclean.leader.election.enable",
            ),
        )
    }
)
"""Every key of a topic."""

PUBLIC_KEYS = tuple(name for name in KEYS if not name.startswith("internal."))
"""Those that an answer names; Kafka's internal ones may be set and are not told."""


def problem(configs: Mapping[str, str]) -> str | None:
    """Why these keys and values are not a topic's; None where they are."""
    for name in sorted(configs):
        if name not in KEYS:
            return f"Unknown topic config name: {name}"
        reason = KEYS[name].problem(configs[name])
        if reason is not None:
            return f"Invalid value for {name}: {reason}"
    shortest = int(configs.get("min.compaction.lag.ms", 0))
    longest = int(configs.get("max.compaction.lag.ms", _MAX))
    if shortest > longest:
        return f"min.compaction.lag.ms {shortest} is above max.compaction.lag.ms {longest}"
    return None
