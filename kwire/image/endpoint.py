"""The parts that brokers and controllers register alike: endpoints and feature ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from msgspec import Struct

from kwire.net.negotiation import VersionRange

G = TypeVar("G")


class EndpointFields(Protocol):
    """The listener in a request or the endpoint in a record."""

    name: str
    host: str
    port: int
    security_protocol: int


class FeatureFields(Protocol):
    """The feature in a request or a record."""

    name: str
    min_supported_version: int
    max_supported_version: int


class Endpoint(Struct, frozen=True, kw_only=True):
    """A listener that others may connect to.

    security_protocol: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
    """

    name: str
    host: str
    port: int
    security_protocol: int

    @classmethod
    def of(cls, item: EndpointFields) -> Endpoint:
        """Return the endpoint of a request's listener or a record's."""
        protocol = item.security_protocol
        return cls(name=item.name, host=item.host, port=item.port, security_protocol=protocol)


def supported(item: FeatureFields) -> VersionRange:
    """Return the levels of a feature that a node supports, of a request's feature or a record's."""
    return VersionRange(item.min_supported_version, item.max_supported_version)


def endpoint_groups(
    make: Callable[..., G], endpoints: Iterable[EndpointFields | Endpoint]
) -> list[G]:
    """Return endpoints or listeners as a message's or a record's own groups."""
    return [
        make(
            name=item.name,
            host=item.host,
            port=item.port,
            security_protocol=item.security_protocol,
        )
        for item in endpoints
    ]


def feature_groups(make: Callable[..., G], features: Iterable[tuple[str, VersionRange]]) -> list[G]:
    """Return supported features as a message's or a record's own groups, in their order."""
    return [
        make(
            name=name,
            min_supported_version=levels.min_version,
            max_supported_version=levels.max_version,
        )
        for name, levels in features
    ]
