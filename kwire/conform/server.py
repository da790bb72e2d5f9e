"""A server as a check sees it: connections, nodes behind it, and things of its own to work on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from kwire.codec.declaration import Request
from kwire.conform.connection import ANSWER_TIMEOUT, CheckedConnection
from kwire.conform.expectation import Expectation, expect_error, first_error
from kwire.conform.group_members import empty_group
from kwire.conform.reaction import ConnectionState, error_text
from kwire.conform.target import Target
from kwire.conform.transcript import Transcript
from kwire.conform.vocabulary import Deviation, OutOfTime, ServerRole, Skipped
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages.a02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a12_heartbeat import HeartbeatRequest
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a42_delete_groups import DeleteGroupsRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.quorum_request import quorum_request

PREFIX = "kwire-conform-"
"""Beginning of the names of all that checks create; the seconds since 1970 follow in hex."""
READY_TIMEOUT = 20.0
"""Seconds that a new topic's leader or a coordinator may take."""
MOVE_TIMEOUT = 5.0
"""Seconds for which a quorum of several may elect before one of its nodes is named as leader."""
REMOVAL_TIMEOUT = 10.0
"""Seconds for what is removed after a check."""

_PAUSE = 0.05
_GROUP, _TRANSACTION = 0, 1
_LATEST = -1
_CONSUMER = -1
_NOBODY = "nobody"
_SETTINGS = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
}
"""Configurations that checks rely on: a server may have other defaults."""
_NOT_YET = frozenset({3, 5, 6, 14, 15, 16})
"""Error codes of a topic or a coordinator that is about to come."""


class Server:
    """One server for one run of one check. `close` removes what it created, then disconnects.

    allowed_ends: states other than OPEN in which the check may leave its connection. left_behind:
    what could not be removed, with the reason, after `close`.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.transcript = Transcript()
        self.allowed_ends: frozenset[ConnectionState] = frozenset()
        self.left_behind: list[str] = []
        self._connections: list[CheckedConnection] = []
        self._main: CheckedConnection | None = None
        self._controller: CheckedConnection | None = None
        self._removals: list[tuple[str, Callable[[], Awaitable[None]]]] = []

    async def connection(self) -> CheckedConnection:
        """Return the check's connection to the server, opened at the first call."""
        if self._main is None:
            self._main = await self.new_connection()
        return self._main

    async def new_connection(
        self, address: Address | None = None, *, login: bool = True
    ) -> CheckedConnection:
        """Open a connection to the server, or to another node of its cluster."""
        connection = await CheckedConnection.open(
            address or self.target.address,
            versions=self.target.versions,
            transcript=self.transcript,
            security=self.target.security,
            login=login,
            slowness=self.target.slowness,
        )
        self._connections.append(connection)
        return connection

    async def plain_connection(self) -> CheckedConnection:
        """Open a connection to the server without TLS, whatever it wants, and without a login."""
        connection = await CheckedConnection.open(
            self.target.address,
            versions=self.target.versions,
            transcript=self.transcript,
            slowness=self.target.slowness,
        )
        self._connections.append(connection)
        return connection

    async def connection_before_login(self) -> CheckedConnection:
        """Return the check's connection, opened without a login; the server may end it."""
        self._main = await self.new_connection(login=False)
        self.allowed_ends = frozenset({ConnectionState.CLOSED, ConnectionState.RESET})
        return self._main

    async def node(self, node_id: int) -> CheckedConnection:
        """Open a connection to a node of the cluster, by its id. Raises Skipped."""
        address = self.target.nodes.get(node_id)
        if address is None:
            raise Skipped(f"the server tells no address of node {node_id}")
        return await self.new_connection(address)

    async def another_node(self, connection: CheckedConnection) -> CheckedConnection:
        """Open a connection to a node other than a connection's. Raises Skipped."""
        for node_id, address in self.target.nodes.items():
            if str(address) != connection.peer:
                return await self.node(node_id)
        raise Skipped("the cluster has one broker only")

    async def active_controller(self) -> CheckedConnection:
        """Make a connection to the active controller the check's, and return it.

        A broker forwards what is for it: there it is the connection to the broker itself.
        """

        async def leading() -> CheckedConnection | None:
            connection = await self.connection()
            if self.target.role is ServerRole.BROKER or await self._leads(connection):
                return connection
            for address in self.target.nodes.values():
                with suppress(OSError, TimeoutError, Deviation):
                    connection = await self.new_connection(address)
                    if await self._leads(connection):
                        return connection
            return None

        connection: CheckedConnection = await self.wait_for("an active controller", leading)
        self._main = connection
        if connection.peer != str(self.target.address):
            self._controller = connection
        return connection

    async def _leads(self, connection: CheckedConnection) -> bool:
        return first_error(await connection.ask(quorum_request())) == ErrorCode.NONE

    def cluster_id(self) -> str:
        """Return the cluster's id. Raises Skipped if the server tells none."""
        if self.target.cluster_id is None:
            raise Skipped("the server tells no cluster id")
        return self.target.cluster_id

    async def ask(
        self, request: Request, version: int | None = None, timeout: float = ANSWER_TIMEOUT
    ) -> Any:
        """Ask on the check's connection; see `CheckedConnection.ask`."""
        return await (await self.connection()).ask(request, version, timeout)

    async def ask_controller(
        self,
        request: Request,
        version: int | None = None,
        connection: CheckedConnection | None = None,
    ) -> Any:
        """Ask the server; where it answers NOT_CONTROLLER, ask the node that it says is.

        Kafka's brokers forward what changes the cluster, others refuse it; so do controllers that
        are not the active one. connection: to the server, if not the check's. Raises Skipped if
        there is no other node to ask.

        1. A check that has found the controller stays with it: the metadata of the others is older,
           and they may answer by it (Kafka's DeleteTopics does).
        2. While the quorum elects, ask who leads again.
        """
        connection = connection or await self.connection()
        # 1.
        if self._controller is not None and self._controller.state.ended:
            self._controller = await self.new_connection(Address.parse(self._controller.peer))
        answer = await (self._controller or connection).ask(request, version)
        # 2.
        clock = asyncio.get_running_loop().time
        patience = MOVE_TIMEOUT * self.target.slowness
        end = clock() + (patience if len(self.target.nodes) > 1 else 0.0)
        while first_error(answer) == ErrorCode.NOT_CONTROLLER:
            address = self.target.nodes.get(await self._controller_id(connection))
            if address is not None and address != self.target.address:
                self._controller = await self.new_connection(address)
                answer = await self._controller.ask(request, version)
            elif clock() > end:
                raise Skipped("the server is not the controller, and names no other node as such")
            else:
                self._controller = None
                answer = await connection.ask(request, version)
            if clock() > end:
                break
            await asyncio.sleep(_PAUSE)
        return answer

    def name(self) -> str:
        """Return a name that nothing has: `kwire-conform-6925f0a3-` and eight digits.

        Its time is the name's own, not that of the run, which may take longer than LEFT_AFTER.
        """
        return f"{PREFIX}{int(time.time()):08x}-{uuid4().hex[:8]}"

    def remove_afterwards(self, name: str, remove: Callable[[], Awaitable[None]]) -> None:
        """Have something removed when the check is over, whatever its verdict."""
        self._removals.append((name, remove))

    def nothing_to_remove(self, name: str) -> None:
        """Take back the last `remove_afterwards` of this name: it did not come about."""
        found = [index for index, (other, _) in enumerate(self._removals) if other == name]
        if found:
            del self._removals[found[-1]]

    async def topic(
        self, partitions: int = 1, *, broker: int | None = None, **settings: str
    ) -> str:
        """Create a topic with one replica a partition, wait for its leaders, return its name.

        broker: the leader of all of them, None for any. settings: configuration keys with
        underscores for dots, beside those that checks rely on.
        """
        name = self.name()
        self.remove_topic(name)
        own = {key.replace("_", "."): value for key, value in settings.items()}
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
        if broker is not None:
            topic.num_partitions = topic.replication_factor = -1
            topic.assignments = [
                CreatableReplicaAssignment(partition_index=index, broker_ids=(broker,))
                for index in range(partitions)
            ]
        for configs in (_SETTINGS | own, own):
            topic.configs = [CreatableTopicConfig(name=k, value=v) for k, v in configs.items()]
            answer = await self.ask_controller(CreateTopicsRequest(topics=[topic]))
            if first_error(answer) != ErrorCode.INVALID_CONFIG:
                break  # else it may be a server without one of those settings
        expect_error(answer, ErrorCode.NONE)
        for partition in range(partitions):
            await self._led(name, partition)
        return name

    async def topic_id(self, topic: str) -> UUID:
        """Return the id of a topic that exists."""
        answer = await self.ask(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]))
        topic_id: UUID = answer.topics[0].topic_id
        return topic_id

    async def leader(self, topic: str, partition: int = 0) -> CheckedConnection:
        """Return a connection to the leader of a partition, once it has one and knows it."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])

        async def find() -> int | None:
            answer = await self.ask(request)
            if first_error(answer) in _NOT_YET:
                return None
            expect_error(answer, ErrorCode.NONE)
            leaders = {p.partition_index: p.leader_id for p in answer.topics[0].partitions}
            return leaders.get(partition)

        return await self._connection_to(f"a leader of {topic}-{partition}", find)

    async def coordinator(self, name: str, *, of_transactions: bool = False) -> CheckedConnection:
        """Return a connection to the coordinator of a group or a transactional id, once ready.

        FindCoordinator may name a broker that does not know yet that it is the one.
        """
        kind = _TRANSACTION if of_transactions else _GROUP
        connection = await self.connection()
        version = connection.version_for(FindCoordinatorRequest())
        request = FindCoordinatorRequest(key=name, key_type=kind)
        if version >= 4:  # from there on keys come by the list
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=(name,))

        async def find() -> int | None:
            answer = await connection.ask(request, version)
            if first_error(answer) in _NOT_YET:
                return None
            expect_error(answer, ErrorCode.NONE)
            found = answer.coordinators[0] if version >= 4 else answer
            node_id: int = found.node_id
            # A server whose Metadata cannot be read has told no addresses.
            self.target.nodes.setdefault(node_id, Address(found.host, found.port))
            return node_id

        coordinator = await self._connection_to(f"a coordinator of {name}", find)
        await self._coordinates(coordinator, name, of_transactions=of_transactions)
        return coordinator

    def group(self) -> str:
        """Return the name of a group that is deleted afterwards, if it comes about."""
        name = self.name()
        self.remove_group(name)
        return name

    def remove_topic(self, name: str) -> None:
        """Have a topic deleted afterwards, if there is one then."""
        self.remove_afterwards(f"topic {name}", lambda: self.delete_topic(name))

    def remove_group(self, name: str) -> None:
        """Have a group deleted afterwards, if there is one then."""

        async def remove() -> None:
            connection = await self.coordinator(name)
            with suppress(Skipped):
                request = DeleteGroupsRequest(groups_names=(name,))
                answer = await connection.ask_coordinator(request)
                if first_error(answer) == ErrorCode.NON_EMPTY_GROUP:
                    await empty_group(connection, name)
                    answer = await connection.ask(request)
                if (code := first_error(answer)) not in (0, 69):  # 69: it never came about
                    raise Deviation("the group deleted", error_text(code))

        self.remove_afterwards(f"group {name}", remove)

    async def delete_topic(self, name: str) -> None:
        """Delete a topic, if there is one of that name. Raises Deviation if that is refused."""
        # The check may have lost its connections, or left them with an answer under way.
        connection = await self.new_connection()
        if self._controller is not None:
            peer, self._controller = self._controller.peer, None
            with suppress(OSError):  # where it is gone, the server names another
                self._controller = await self.new_connection(Address.parse(peer))
        version = connection.version_for(DeleteTopicsRequest())
        request = DeleteTopicsRequest(topic_names=(name,), timeout_ms=10_000)
        if version >= 6:  # from there on topics come by the list of names or ids
            request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=10_000)
        answer = await self.ask_controller(request, version, connection)
        if (code := first_error(answer)) not in (0, 3):  # 3: the check deleted it itself
            raise Deviation("the topic deleted", error_text(code))

    async def wait_for(self, what: str, holds: Callable[[], Awaitable[Any]]) -> Any:
        """Return the first value other than None and False; Deviation if none comes in time."""
        limit = READY_TIMEOUT * self.target.slowness
        try:
            async with asyncio.timeout(limit):
                while (value := await holds()) is None or value is False:  # noqa: ASYNC110
                    await asyncio.sleep(_PAUSE)
                return value
        except TimeoutError:
            raise OutOfTime(f"{what} within {limit:.3g} s", "none") from None

    def allow(self, expected: Expectation, differs: Expectation | None = None) -> None:
        """Let the check leave its connection as these reactions do."""
        both = expected if differs is None else expected | differs
        self.allowed_ends = both.connection

    async def probe(self) -> ConnectionState:
        """Return what became of the check's connection; OPEN if it never opened one."""
        self.transcript.probes = True
        return ConnectionState.OPEN if self._main is None else await self._main.probe()

    async def close(self) -> None:
        """Remove what the check created, the last first, and disconnect."""
        if self._removals:
            for connection in self._connections:
                with suppress(OSError, TimeoutError, KwireError, Deviation, Skipped):
                    await connection.renew()
        limit = REMOVAL_TIMEOUT * self.target.slowness
        for name, remove in reversed(self._removals):
            try:
                async with asyncio.timeout(limit):
                    await remove()
            except TimeoutError:
                self.left_behind.append(f"{name}: not removed within {limit:.3g} s")
            except Exception as error:  # an answer can be anything
                self.left_behind.append(f"{name}: {str(error) or type(error).__name__}")
        for connection in self._connections:
            await connection.close()

    async def _connection_to(
        self, what: str, find: Callable[[], Awaitable[int | None]]
    ) -> CheckedConnection:
        async def known() -> int | None:
            node = await find()
            return node if node is not None and node >= 0 else None

        node_id: int = await self.wait_for(what, known)
        main = await self.connection()
        if self.target.nodes.get(node_id, self.target.address) == self.target.address:
            return main
        return await self.node(node_id)

    async def _led(self, topic: str, partition: int) -> None:
        """Wait until the leader of a partition answers for it.

        A broker tells its clients of a leader before that leader knows, even if it is the same.
        """
        leader = await self.leader(topic, partition)
        part = ListOffsetsPartition(partition_index=partition, timestamp=_LATEST)
        topics = [ListOffsetsTopic(name=topic, partitions=[part])]
        request = ListOffsetsRequest(replica_id=_CONSUMER, topics=topics)

        async def answers() -> bool:
            return first_error(await leader.ask(request)) not in _NOT_YET

        with suppress(Skipped):
            await self.wait_for(f"the leader of {topic}-{partition}", answers)

    async def _coordinates(
        self, coordinator: CheckedConnection, name: str, *, of_transactions: bool
    ) -> None:
        """Wait until a coordinator answers for a name: it may be the last to know what it is."""
        request: Request = HeartbeatRequest(group_id=name, member_id=_NOBODY)
        if of_transactions:
            request = DescribeTransactionsRequest(transactional_ids=(name,))

        async def answers() -> bool:
            return first_error(await coordinator.ask(request)) not in _NOT_YET

        with suppress(Skipped):
            await self.wait_for(f"the coordinator of {name}", answers)

    async def _controller_id(self, connection: CheckedConnection) -> int:
        if self.target.role is ServerRole.BROKER:
            answer = await connection.ask(MetadataRequest(topics=[]))
        else:
            request = DescribeClusterRequest(endpoint_type=EndpointType.CONTROLLER)
            answer = await connection.ask(request)
        node_id: int = answer.controller_id
        return node_id
