"""A scripted session with the controllers of a quorum: the same requests, whoever answers."""

from __future__ import annotations

import asyncio
import struct
import time
from dataclasses import dataclass, field
from uuid import UUID

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenResponse
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.net.connection import Connection
from kwire.text.ids import uuid_text
from tests.support.controller.live.session.envelopes import send_enveloped
from tests.support.eventually import eventually


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A request with the name that the list of differences has for it.

    version: None for the highest that both sides have. follower: asked where nobody leads.
    principal: the client whose request a broker forwards; None for one sent straight. client_id: of
    that client.
    by_delegation_token: that client logged in with one. token: the step whose answer has the
    token that the request is about. pause: seconds before it.
    """

    name: str
    request: Request
    version: int | None = None
    follower: bool = False
    principal: str | None = None
    client_id: str | None = None
    by_delegation_token: bool = False
    token: str | None = None
    pause: float = 0


@dataclass(slots=True, kw_only=True)
class Session:
    """One quorum in its run of the script; what it answered, by the name of the step.

    unknown_version: the answer to ApiVersions in a version that nobody has, as bytes. times: when
    each answer came, in milliseconds since 1970.
    """

    leader_id: int
    cluster_id: str
    leader: Connection
    follower: Connection
    leader_epoch: int = 0
    answers: dict[str, Response | str] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    features: list[Feature] = field(default_factory=list)
    unknown_version: bytes = b""
    addresses: dict[int, tuple[str, int]] = field(default_factory=dict)

    async def _reopen(self, follower: bool) -> None:
        """Open a connection to the same node again."""
        other = next((id for id in self.addresses if id != self.leader_id), self.leader_id)
        address = self.addresses[other if follower else self.leader_id]
        connection = await Connection.open(*address)
        if follower:
            self.follower = connection
        else:
            self.leader = connection

    async def follow_leader(self) -> None:
        """Open a connection to the node that leads by now, and wait until it is active."""
        await self.leader.close()
        self.leader = await Connection.open(*self.addresses[await leader_of(self.addresses)])

        async def active() -> bool:
            answer = await self.leader.send(UnregisterBrokerRequest(broker_id=77))
            assert isinstance(answer, UnregisterBrokerResponse)
            return answer.error_code != ErrorCode.NOT_CONTROLLER

        await eventually(active, pause=0.1)

    async def take(self, step: Step) -> Response | None:
        """One step; a connection that the controller closes is an answer too."""
        assert step.name not in self.answers, f"two steps are named {step.name}"
        connection = self.follower if step.follower else self.leader
        await asyncio.sleep(step.pause)
        try:
            answer = await self._send(connection, step)
        except KwireError as error:
            self.answers[step.name] = type(error).__name__
            if connection.closed and self.addresses:
                await self._reopen(step.follower)
            return None
        self.times[step.name] = time.time() * 1000
        if isinstance(answer, int):
            self.answers[step.name] = f"{answer} of the Envelope"
            return None
        self.answers[step.name] = answer
        return answer

    async def _send(self, connection: Connection, step: Step) -> Response | int:
        """Return the answer, or the error of the Envelope around the request."""
        request = step.request
        if step.token is not None:
            created = self.answers[step.token]
            assert isinstance(created, CreateDelegationTokenResponse)
            request = request.replace(hmac=created.hmac)
        if step.principal is None:
            return await connection.send(request, step.version, timeout=60)
        return await send_enveloped(
            connection,
            request,
            step.principal,
            version=step.version,
            by_delegation_token=step.by_delegation_token,
            client_id=step.client_id,
        )

    async def register(self, broker_id: int, occasion: str = "") -> None:
        """Enrol a broker that is none, and have it unfenced."""
        suffix = f" {occasion}" if occasion else ""
        registered = await self.take(
            Step(name=f"register broker {broker_id}{suffix}", request=self.registration(broker_id))
        )
        assert isinstance(registered, BrokerRegistrationResponse)
        epoch = self.epochs[broker_id] = registered.broker_epoch
        # The epoch is where a batch begins that may take many partitions from the broker before
        # it is registered: with fewer records than these it has not caught up.
        beat = BrokerHeartbeatRequest(
            broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=epoch + 1_000_000
        )
        await self.take(Step(name=f"heartbeat of broker {broker_id}{suffix}", request=beat))

    def registration(self, broker_id: int) -> Request:
        """The request of a broker that supports whatever the controller does."""
        return BrokerRegistrationRequest(
            broker_id=broker_id,
            cluster_id=self.cluster_id,
            incarnation_id=UUID(int=(7 << 64) + broker_id),
            listeners=[
                Listener(
                    name="PLAINTEXT", host="127.0.0.1", port=9000 + broker_id, security_protocol=0
                )
            ],
            features=self.features,
            rack=None,
            log_dirs=(UUID(int=(9 << 64) + broker_id),),
        )

    async def learn_epoch(self) -> None:
        """Learn the epoch of the leader."""
        answer = await self.leader.send(metadata_quorum())
        assert isinstance(answer, DescribeQuorumResponse)
        self.leader_epoch = answer.topics[0].partitions[0].leader_epoch

    async def learn_features(self) -> None:
        """Learn the features that brokers must support here."""
        from kwire.net.negotiation import api_versions_request

        answer = await self.leader.send(api_versions_request(), 4)
        assert isinstance(answer, ApiVersionsResponse)
        self.features = [
            Feature(
                name=feature.name,
                min_supported_version=feature.min_version,
                max_supported_version=feature.max_version,
            )
            for feature in answer.supported_features
        ]


def metadata_quorum(topic: str = METADATA_TOPIC, partition: int = 0) -> DescribeQuorumRequest:
    """Ask who leads."""
    return DescribeQuorumRequest(
        topics=[TopicData(topic_name=topic, partitions=[PartitionData(partition_index=partition)])]
    )


async def leader_of(addresses: dict[int, tuple[str, int]], timeout: float = 60) -> int:
    """The controller that the controllers have for their leader."""
    async with asyncio.timeout(timeout):
        while True:
            for node_id, (host, port) in addresses.items():
                try:
                    async with await Connection.open(host, port) as connection:
                        answer = await connection.send(metadata_quorum())
                except KwireError:
                    continue
                assert isinstance(answer, DescribeQuorumResponse)
                found = [partition for topic in answer.topics for partition in topic.partitions]
                if any(item.leader_id == node_id and not item.error_code for item in found):
                    return node_id
            await asyncio.sleep(0.1)


async def unknown_version(host: str, port: int) -> bytes:
    """Ask for ApiVersions v99, with an empty body; return the frame that comes back."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        body = struct.pack(">hhih", 18, 99, 7, -1) + b"\0" + b"\1\1\0"
        writer.write(struct.pack(">i", len(body)) + body)
        size = await asyncio.wait_for(reader.readexactly(4), 60)
        return await asyncio.wait_for(reader.readexactly(int.from_bytes(size, "big")), 60)
    finally:
        writer.close()
        await writer.wait_closed()


async def run(addresses: dict[int, tuple[str, int]], cluster_id: UUID | str) -> Session:
    """The whole script against one quorum of at least two controllers."""
    from tests.support.controller.live import whole_script

    leader_id = await leader_of(addresses)
    other = next(address for id, address in addresses.items() if id != leader_id)
    text = uuid_text(cluster_id) if isinstance(cluster_id, UUID) else cluster_id
    session = Session(
        leader_id=leader_id,
        cluster_id=text,
        leader=await Connection.open(*addresses[leader_id]),
        follower=await Connection.open(*other),
        addresses=addresses,
    )
    try:
        session.unknown_version = await unknown_version(*addresses[leader_id])
        await session.learn_features()
        await session.learn_epoch()
        await whole_script.play(session)
    finally:
        await session.leader.close()
        await session.follower.close()
    return session
