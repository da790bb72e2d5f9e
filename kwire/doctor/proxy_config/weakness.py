"""A weakness of a configuration: a finding, and the key of the file that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kwire.doctor.finding import Finding, FindingKind, FindingVerdict
from kwire.net.address import is_loopback
from kwire.proxy.service.config import ClusterConfig, ProxyConfig, ProxyListenerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Weakness:
    """A finding about a key: `clusters[1].listeners[2].listen`, counted from 1 as in errors."""

    key: str
    finding: Finding


def weakness(
    kind: FindingKind,
    key: str,
    value: object,
    sentence: str,
    *,
    verdict: FindingVerdict | None = None,
    advice: str = "",
    **words: object,
) -> Weakness:
    """Return a weakness of this kind. value: of the key, never a secret. advice: if not the kind's.

    words: capitals in the advice, and what stands for them here: PORT=9092.
    """
    advice = advice or kind.advice
    for word, text in words.items():
        advice = advice.replace(word, str(text))
    found = kind(sentence, f"{key}: {value}", advice=advice, verdict=verdict)
    return Weakness(key=key, finding=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedListener:
    """A listener, the key at which it stands, and its cluster."""

    key: str
    cluster: ClusterConfig
    listener: ProxyListenerConfig

    @property
    def is_open(self) -> bool:
        """True if other machines reach it."""
        return not is_loopback(self.listener.listen.host)

    @property
    def is_far(self) -> bool:
        """True if its node is on another machine."""
        return not is_loopback(self.listener.upstream.host)


def clusters(config: ProxyConfig) -> Iterator[tuple[str, ClusterConfig]]:
    """Yield the key of each cluster, and the cluster."""
    for number, cluster in enumerate(config.clusters, 1):
        yield f"clusters[{number}]", cluster


def listeners(config: ProxyConfig) -> Iterator[KeyedListener]:
    """Yield the listeners of all clusters."""
    for key, cluster in clusters(config):
        for number, listener in enumerate(cluster.listeners, 1):
            yield KeyedListener(
                key=f"{key}.listeners[{number}]", cluster=cluster, listener=listener
            )
