"""A broker of a check's own: it registers, sends heartbeats, and is unregistered afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from random import randrange
from typing import Any, Self
from uuid import UUID, uuid4

from kwire.conform.expectation import expect_error
from kwire.conform.quorum import DescribedQuorum, describe_quorum, features_of
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation
from kwire.error_codes import ErrorCode
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest, Feature, Listener
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest

_FIRST_ID, _IDS = 900_000, 50_000
"""The range of ids that brokers of a check have."""
_UNFENCING = 20
"""Heartbeats after which a broker must be unfenced."""
_FAR = 1 << 40
"""An offset of the metadata log that is beyond its end: the broker has read everything."""


async def registration(server: Server, quorum: DescribedQuorum) -> BrokerRegistrationRequest:
    """Return the registration of a broker that supports whatever the controller does."""
    supported = (await features_of(quorum.connection)).supported_features
    broker_id = randrange(_FIRST_ID, _FIRST_ID + _IDS)
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=quorum.cluster_id,
        incarnation_id=uuid4(),
        listeners=[Listener(name="PLAINTEXT", host="127.0.0.1", port=broker_id % 60_000 + 1)],
        features=[
            Feature(
                name=name,
                min_supported_version=versions.min_version,
                max_supported_version=versions.max_version,
            )
            for name, versions in supported.items()
        ],
        rack=None,
        log_dirs=(uuid4(),),
    )


@dataclass(slots=True, kw_only=True)
class OwnBroker:
    """A registered broker. request: as it registered; epoch: of its registration."""

    server: Server
    request: BrokerRegistrationRequest
    epoch: int

    @property
    def id(self) -> int:
        """Its node id."""
        return self.request.broker_id

    @property
    def directory(self) -> UUID:
        """Its only log directory."""
        return self.request.log_dirs[0]

    @classmethod
    async def register(cls, server: Server, *, unfenced: bool = True) -> Self:
        """Register, and be unfenced unless it is to stay as it is."""
        quorum = await describe_quorum(server)
        request = await registration(server, quorum)

        async def unregister() -> None:
            answer = await quorum.connection.ask(
                UnregisterBrokerRequest(broker_id=request.broker_id)
            )
            expect_error(answer, ErrorCode.NONE, ErrorCode.BROKER_ID_NOT_REGISTERED)

        server.remove_afterwards(f"broker {request.broker_id}", unregister)
        answer = await server.ask(request)
        expect_error(answer, ErrorCode.NONE)
        broker = cls(server=server, request=request, epoch=answer.broker_epoch)
        if unfenced:
            await broker.unfence()
        return broker

    async def beat(self, *, want_fence: bool = False, want_shut_down: bool = False) -> Any:
        """Send a heartbeat of a broker that has read the whole log; return the answer."""
        return await self.server.ask(
            BrokerHeartbeatRequest(
                broker_id=self.id,
                broker_epoch=self.epoch,
                current_metadata_offset=_FAR,
                want_fence=want_fence,
                want_shut_down=want_shut_down,
            )
        )

    async def unfence(self) -> None:
        """Send heartbeats until it is unfenced."""
        for _ in range(_UNFENCING):
            answer = await self.beat()
            expect_error(answer, ErrorCode.NONE)
            if not answer.is_fenced:
                return
        raise Deviation(f"broker {self.id} unfenced", f"it is fenced after {_UNFENCING} heartbeats")
