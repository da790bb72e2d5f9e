"""Registrations of controllers that are gone, where no request removes them (before Kafka 4.4).

Such a registration keeps a feature from being raised above what that controller supported. Kafka
takes a registration from whoever has CLUSTER_ACTION, and a later one replaces an earlier one (Java:
ClusterControlManager.registerController). One with the versions of the voters holds nothing back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from kwire.admin.errors import ReadOnly, raise_for_code
from kwire.admin.quorum import SILENT_MS, QuorumInfo, describe_metadata_quorum, is_silent
from kwire.errors import ConnectionFailed, InvalidValue, UnsupportedEndpointType
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.negotiation import VersionRange

if TYPE_CHECKING:
    from kwire.admin.driver import Driver
    from kwire.image import MetadataImage
    from kwire.image.controller import ControllerRegistration

OBSERVER_MINUTES = 5
"""The leader lists an observer for so long after its last fetch (Java: LeaderState)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disarming:
    """The registration of a controller that seems to be gone, and the versions it is to name.

    seen: the signs that it is gone, each a clause. after: the versions of each feature that all
    voters support.
    """

    registration: ControllerRegistration
    seen: tuple[str, ...]
    after: Mapping[str, VersionRange]

    @property
    def before(self) -> Mapping[str, VersionRange]:
        """The versions that the registration names."""
        return dict(self.registration.features.items())

    @property
    def is_done(self) -> bool:
        """True if the registration names these versions already."""
        return self.before == self.after


async def plan_disarming(
    driver: Driver, controller_id: int, *, timeout: float | None = None
) -> Disarming:
    """Plan to register a controller that is gone anew, with what all voters support.

    1. It is registered, and the cluster cannot remove registrations.
    2. It neither votes nor has fetched from the leader a moment ago.
    3. Nobody answers at the addresses that it registered, unless they are those of another
       controller now.
    4. All voters are registered.

    Silence is no proof of death: a controller that runs takes its registration back when it
    reads the new one (Java: ControllerRegistrationManager).

    Raises InvalidValue where one of these is not so, UnsupportedEndpointType at brokers.
    """
    if not driver.asks_controllers:
        raise UnsupportedEndpointType(
            "brokers do not take registrations of controllers: give `bootstrap_controllers`"
        )
    quorum = await describe_metadata_quorum(driver, timeout=timeout)
    image = await driver.read_metadata_log(timeout)
    # 1.
    registration = image.cluster.controllers.get(controller_id)
    if registration is None:
        raise InvalidValue(f"controller {controller_id} is not registered")
    if image.features.metadata_version.supports_controller_unregistration:
        raise InvalidValue("this cluster removes registrations: forget it, nothing else is needed")
    # 2.
    seen = [*_replica_signs(quorum, controller_id)]
    # 3.
    seen += [sign async for sign in _address_signs(driver, image, quorum, registration)]
    # 4.
    voters = {voter.replica_id for voter in quorum.voters}
    if missing := voters - {*image.cluster.controllers}:
        raise InvalidValue(f"voter {min(missing)} is not registered: what it supports is not known")
    after = _common(image.cluster.controllers[voter].features for voter in voters)
    return Disarming(registration=registration, seen=tuple(seen), after=after)


async def disarm(driver: Driver, planned: Disarming, *, timeout: float | None = None) -> None:
    """Register the controller of a plan anew.

    Raises ReadOnly; BrokerError CLUSTER_AUTHORIZATION_FAILED (31).
    """
    if driver.read_only:
        raise ReadOnly(
            "ControllerRegistration changes the cluster, and this client is read-only: take one"
            " without `read_only`"
        )
    request = _request(planned)

    async def send(connection: Connection, within: float) -> None:
        answer = cast(
            ControllerRegistrationResponse, await connection.send(request, timeout=within)
        )
        raise_for_code(answer.error_code, answer.error_message)

    await driver.router.call(send, timeout=timeout, at_controller=True)


def _replica_signs(quorum: QuorumInfo, controller_id: int) -> Iterator[str]:
    if any(voter.replica_id == controller_id for voter in quorum.voters):
        raise InvalidValue(
            f"controller {controller_id} is a voter: kwire quorum remove-controller"
            f" {controller_id} first, and stop it"
        )
    yield "it does not vote"
    observers = [it for it in quorum.observers if it.replica_id == controller_id]
    if not observers:
        yield f"the leader has had no fetch of it for {OBSERVER_MINUTES} minutes, or since it leads"
    for observer in observers:
        if not is_silent(quorum, observer):
            raise InvalidValue(
                f"controller {controller_id} fetched from the leader less than"
                f" {SILENT_MS // 1000} s ago: it runs, stop it first"
            )
        silent = quorum.silent_ms(observer)
        ago = "is not known" if silent is None else f"was {silent / 1000:.0f} s ago"
        yield f"its last fetch {ago}"


async def _address_signs(
    driver: Driver, image: MetadataImage, quorum: QuorumInfo, registration: ControllerRegistration
) -> AsyncIterator[str]:
    """Yield what there is at each address of a registration. Raises InvalidValue if it answers."""
    present = {replica.replica_id for replica in (*quorum.voters, *quorum.observers)}
    users = {
        Address(endpoint.host, endpoint.port): other.id
        for other in image.cluster.controllers.values()
        if other.id != registration.id and other.id in present
        for endpoint in other.endpoints
    }
    if not registration.endpoints:
        yield "it has registered no address"
    for endpoint in registration.endpoints:
        address = Address(endpoint.host, endpoint.port)
        if address in users:
            yield f"{address} is the address of controller {users[address]} now"
            continue
        try:
            connection = await driver.connect(address, driver.connect.timeouts.connect_seconds)
        except ConnectionFailed as error:
            yield f"nobody answers: {str(error).partition(';')[0]}"  # not what to do about it
            continue
        await connection.close()
        raise InvalidValue(
            f"a node answers at {address}, which controller {registration.id} registered: stop it"
            " first"
        )


def _request(planned: Disarming) -> ControllerRegistrationRequest:
    registration = planned.registration
    return ControllerRegistrationRequest(
        controller_id=registration.id,
        # A controller that runs sees by another incarnation that it has to register again.
        incarnation_id=uuid4(),
        zk_migration_ready=registration.zk_migration_ready,
        listeners=[
            Listener(
                name=endpoint.name,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=endpoint.security_protocol,
            )
            for endpoint in registration.endpoints
        ],
        features=[
            Feature(
                name=name,
                min_supported_version=versions.min_version,
                max_supported_version=versions.max_version,
            )
            for name, versions in planned.after.items()
        ],
    )


def _common(features: Iterable[Mapping[str, VersionRange]]) -> dict[str, VersionRange]:
    """Return the versions of each feature that all support, without features that one lacks."""
    every = list(features)
    names = set[str].intersection(*({*each} for each in every))
    return {
        name: VersionRange(
            max(each[name].min_version for each in every),
            min(each[name].max_version for each in every),
        )
        for name in sorted(names)
    }
