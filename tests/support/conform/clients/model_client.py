"""A careful client for the tests of the cases: bad clients are made of it, each by one change."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from kwire.batches.building import build_batch
from kwire.batches.compression import Limit
from kwire.batches.current import RecordBatch
from kwire.batches.reading import read_batches
from kwire.batches.record import Record
from kwire.codec.declaration import Request
from kwire.conform.clients.case import RECORDS, ClientCase, ClientTask
from kwire.conform.clients.cluster import NODES
from kwire.conform.clients.node import ClientNodes
from kwire.conform.clients.play import UNSUPPORTED, ProgramEnd
from kwire.conform.clients.run_case import ANY_PORTS, topic_of
from kwire.error_codes import ErrorCode, is_retriable, name
from kwire.errors import KwireError
from kwire.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    DescribeQuorumRequest,
    FetchRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from kwire.messages.a00_produce import PartitionProduceData, TopicProduceData
from kwire.messages.a01_fetch import FetchPartition, FetchTopic
from kwire.messages.a02_list_offsets import ListOffsetsPartition, ListOffsetsTopic
from kwire.messages.a03_metadata import MetadataRequestTopic
from kwire.messages.a18_api_versions import ApiVersion
from kwire.messages.a19_create_topics import CreatableTopic
from kwire.messages.a20_delete_topics import DeleteTopicState
from kwire.messages.a55_describe_quorum import PartitionData, TopicData
from kwire.net.address import Address
from kwire.net.frames import ResponseFrame, decode_response, encode_request

BOOTSTRAP = -1
"""The connection that is made before any node is known."""
REQUEST_SECONDS = 0.4
"""The request time-out."""
BACKOFF, LONGEST_BACKOFF = 0.03, 0.5
LARGEST_FRAME = 1 << 20


TASKS = {
    ClientTask.PRODUCE: "produce",
    ClientTask.BURST: "burst",
    ClientTask.CONSUME: "consume",
    ClientTask.ADMIN: "administer",
    ClientTask.CONTROLLERS: "controllers",
    ClientTask.TRANSACTION: "transact",
    ClientTask.GROUP: "group_member",
    ClientTask.GROUP_CONSUMER: "consumer_member",
}
"""The method of each task."""


BY_ID: dict[type[Request], int] = {ProduceRequest: 13, FetchRequest: 13}
"""First versions that name topics by their ids."""


class Refused(Exception):
    """The node's answer is an error."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(name(code))


class Moved(Refused):
    """The node's answer names the new leader (KIP-951)."""


class Disconnected(Exception):
    """The connection is of no more use."""


Retried = (Disconnected, TimeoutError, OSError, KwireError)


def demand(*codes: int) -> None:
    """Raise Refused for the first code that is an error."""
    for code in codes:
        if code:
            raise Refused(code)


@dataclass(slots=True)
class ModelConnection:
    """A connection with the versions of its node. resting_until: the end of a throttle time."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    versions: dict[int, ApiVersion] = field(default_factory=dict)
    next_id: int = 1
    resting_until: float = 0.0
    login_again_at: float = inf


class ModelClient:
    """One task of a case. lines: what it prints; addresses: of the nodes that Metadata told.

    limit: seconds that one step of a task may take, its repetitions included. memory: what its
    process would have taken at the most. features: finalized levels. session: of Fetch, id and
    epoch.
    """

    limit = 4.0
    memory = 1 << 26

    def __init__(self, case: ClientCase, bootstrap: Address) -> None:
        self.case = case
        self.bootstrap = bootstrap
        self.topic = topic_of(case)
        self.group = f"group-{case.id.replace('/', '-')}"
        self.values = [f"r{number}" for number in range(RECORDS)]
        self.lines: list[str] = []
        self.addresses: dict[int, Address] = {}
        self.connections: dict[int, ModelConnection] = {}
        self.topic_metadata: Any = None
        self.producer_id, self.producer_epoch, self.sequence = -1, -1, 0
        self.features: dict[str, int] = {}
        self.session = 0, 0

    # The end of a task.

    async def run(self) -> int:
        """Do the task; return the exit code."""
        task = getattr(self, TASKS.get(self.case.task, ""), None)
        if task is None:
            self.say("unsupported", self.case.task.value)
            return UNSUPPORTED
        try:
            await task()
        except (Refused, *Retried) as error:
            self.say("error", repr(error))
            return 1
        finally:
            for node in list(self.connections):
                self.drop(node)
        return int(any(line.startswith("failed") for line in self.lines))

    def say(self, *words: str) -> None:
        """Print a line."""
        self.lines.append(" ".join(words))

    # Connections.

    async def connect(self, node: int) -> ModelConnection:
        """Return the connection to a node, a new one with its versions if need be."""
        is_bootstrap = self.addresses.get(node) == self.bootstrap and node != BOOTSTRAP
        if is_bootstrap and BOOTSTRAP in self.connections:
            self.drop(node)
            self.connections[node] = self.connections.pop(BOOTSTRAP)
        if node not in self.connections:
            address = self.addresses.get(node, self.bootstrap)
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=self.tls()
            )
            self.drop(node)  # another task's, made meanwhile
            self.connections[node] = ModelConnection(reader, writer)
            try:
                await self.negotiate(node)
            except Refused:
                self.drop(node)
                raise
        return self.connections[node]

    def drop(self, node: int) -> None:
        """End a connection."""
        gone = self.connections.pop(node, None)
        if gone is not None:
            gone.writer.transport.abort()

    async def negotiate(self, node: int) -> None:
        """Ask for the node's versions, and once more in a version that it has (KIP-511)."""
        connection = self.connections[node]
        version = ApiVersionsRequest.versions.last
        answer = await self.exchange(node, self.software(), version)
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            told = [part.max_version for part in answer.api_keys if part.api_key == 18]
            answer = await self.exchange(node, self.software(), min(version, max(told, default=0)))
        demand(answer.error_code)
        connection.versions = {part.api_key: part for part in answer.api_keys}
        self.features = {part.name: part.max_version_level for part in answer.finalized_features}
        if "KWIRE_SASL_MECHANISM" in self.case.environment:
            await self.login(node)

    def tls(self) -> ssl.SSLContext | None:
        """Return how it speaks TLS, None if it does not."""
        authority = self.case.environment.get("KWIRE_TLS_CA")
        return ssl.create_default_context(cafile=authority) if authority else None

    async def login(self, node: int) -> None:
        """Log in, for as long as the node says (KIP-368)."""
        mechanism, user, password = (
            self.case.environment[f"KWIRE_SASL_{name}"]
            for name in ("MECHANISM", "USERNAME", "PASSWORD")
        )
        self.connections[node].login_again_at = inf
        answer = await self.exchange(node, SaslHandshakeRequest(mechanism=mechanism), 1)
        self.take_handshake(answer)
        token = f"\0{user}\0{password}".encode()
        answer = await self.exchange(node, SaslAuthenticateRequest(auth_bytes=token), 2)
        demand(answer.error_code)
        if answer.session_lifetime_ms:
            seconds = 0.8 * answer.session_lifetime_ms / 1000
            self.connections[node].login_again_at = time.monotonic() + seconds

    def take_handshake(self, answer: Any) -> None:
        """Read the answer to a SaslHandshake. Raises Refused."""
        demand(answer.error_code)

    def software(self) -> ApiVersionsRequest:
        """Return a request for versions."""
        return ApiVersionsRequest(client_software_name="model", client_software_version="1.0")

    def version(self, connection: ModelConnection, api: type[Request]) -> int:
        """Return the highest version that both have. Raises Refused."""
        assert api.key is not None
        offered = connection.versions.get(api.key)
        if offered is None:
            raise Refused(ErrorCode.UNSUPPORTED_VERSION)
        version = min(offered.max_version, api.versions.last)
        if (
            api in BY_ID
            and self.topic_metadata is not None
            and not self.topic_metadata.topic_id.int
        ):
            version = min(version, BY_ID[api] - 1)
        if version < max(offered.min_version, api.versions.first):
            raise Refused(ErrorCode.UNSUPPORTED_VERSION)
        return version

    async def ask(self, node: int, request: Request) -> Any:
        """Send a request to a node; return its answer."""
        connection = await self.connect(node)
        if time.monotonic() > connection.login_again_at:
            await self.login(node)
        return await self.exchange(node, request, self.version(connection, type(request)))

    async def exchange(self, node: int, request: Request, version: int) -> Any:
        """Send a request over an open connection; return its answer, which ends it if it is bad."""
        connection = self.connections[node]
        try:
            async with asyncio.timeout(REQUEST_SECONDS + self.rest(connection)):
                await asyncio.sleep(self.rest(connection))
                number = await self.send(connection, request, version)
                return await self.receive(connection, request, version, number)
        except Retried:
            self.drop(node)
            raise

    def rest(self, connection: ModelConnection) -> float:
        """Return the seconds that it still has to leave a node alone (KIP-219)."""
        return max(0.0, connection.resting_until - time.monotonic())

    async def send(self, connection: ModelConnection, request: Request, version: int) -> int:
        """Write a request; return its correlation id."""
        number, data = self.encoded(connection, request, version)
        connection.writer.write(data)
        await connection.writer.drain()
        return number

    def encoded(
        self, connection: ModelConnection, request: Request, version: int
    ) -> tuple[int, bytes]:
        """Return the next correlation id, and a request's frame with it."""
        number = connection.next_id
        connection.next_id += 1
        return number, encode_request(request, version, correlation_id=number, client_id="model")

    async def receive(
        self, connection: ModelConnection, request: Request, version: int, number: int
    ) -> Any:
        """Read an answer, which has to be to this request."""
        frame = await self.frame(connection)
        key = type(request).key
        assert key is not None
        decoded = self.decoded(frame, key, version)
        self.matched(decoded.header.correlation_id, [number])
        throttled = getattr(decoded.body, "throttle_time_ms", 0) / 1000
        connection.resting_until = time.monotonic() + throttled
        return decoded.body

    def decoded(self, frame: bytes, key: int, version: int) -> ResponseFrame:
        """Return what a frame has."""
        return decode_response(frame, key, version)

    async def frame(self, connection: ModelConnection) -> bytes:
        """Read a frame."""
        try:
            size = int.from_bytes(await connection.reader.readexactly(4), "big", signed=True)
            if not 0 <= size <= LARGEST_FRAME:
                raise Disconnected(f"a frame of {size} bytes")
            return await connection.reader.readexactly(size)
        except asyncio.IncompleteReadError as error:
            raise Disconnected("end of file") from error

    # Repetition, and what is known of the cluster.

    async def repeated(self, step: Callable[[], Awaitable[Any]]) -> Any:
        """Do a step until it works, with longer and longer pauses and new metadata (KIP-580)."""
        end, pause = time.monotonic() + self.limit, BACKOFF
        while True:
            try:
                return await step()
            except (Refused, *Retried) as error:
                if not self.may_repeat(error) or time.monotonic() > end:
                    raise
                self.forget_metadata(error)
            await self.pause(pause)
            pause = min(pause * 2, LONGEST_BACKOFF)

    def may_repeat(self, error: Exception) -> bool:
        """Return True for an error after which the same may work."""
        if not isinstance(error, Refused):
            return not isinstance(error, ssl.SSLError)
        return is_retriable(error.code) or error.code == ErrorCode.REBOOTSTRAP_REQUIRED

    def forget_metadata(self, error: Exception) -> None:
        """Take metadata for out of date after an error, and the nodes too where it says so."""
        self.session = 0, 0
        if isinstance(error, Moved):
            return
        self.topic_metadata = None
        if isinstance(error, OSError) or str(error) == "REBOOTSTRAP_REQUIRED":
            self.rebootstrap()

    def rebootstrap(self) -> None:
        """Begin again at the bootstrap address (KIP-899)."""
        for node in list(self.connections):
            self.drop(node)
        self.addresses.clear()

    async def pause(self, seconds: float) -> None:
        """Wait before a repetition."""
        await asyncio.sleep(seconds)

    def any_node(self) -> int:
        """Return a node to ask what any can answer."""
        return next(iter(self.connections or self.addresses), BOOTSTRAP)

    async def leader(self) -> int:
        """Return the leader of partition 0, from metadata that is asked for if need be."""
        if self.topic_metadata is None:
            node = self.any_node()
            asked = MetadataRequest(topics=[MetadataRequestTopic(name=self.topic)])
            answer = await self.ask(node, asked)
            demand(answer.error_code)
            self.addresses = {b.node_id: Address(b.host, b.port) for b in answer.brokers}
            found = answer.topics[0]
            demand(found.error_code, *(part.error_code for part in found.partitions))
            self.topic_metadata = found
        leader: int = self.topic_metadata.partitions[0].leader_id
        return leader

    # Producers.

    async def init_producer(self) -> None:
        """Get a producer id."""
        if self.producer_id < 0:
            request = InitProducerIdRequest(
                transactional_id=None, transaction_timeout_ms=-1, producer_id=-1, producer_epoch=-1
            )
            answer = await self.ask(await self.leader(), request)
            demand(answer.error_code)
            self.producer_id, self.producer_epoch = answer.producer_id, answer.producer_epoch

    def produce_request(self, value: str, sequence: int) -> ProduceRequest:
        """Return a request with one record."""
        batch = build_batch(
            [Record(value.encode(), timestamp=0)],
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
        )
        part = PartitionProduceData(index=0, records=batch)
        topic = TopicProduceData(
            name=self.topic, topic_id=self.topic_metadata.topic_id, partition_data=[part]
        )
        return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])

    async def write(self, value: str, sequence: int) -> None:
        """Send a record, once."""
        await self.init_producer()
        leader = await self.leader()
        answer = await self.ask(leader, self.fitting(leader, self.produce_request(value, sequence)))
        self.take_written(answer)

    def take_written(self, answer: Any) -> None:
        """Read the answer to a Produce. Raises Refused."""
        part = answer.responses[0].partition_responses[0]
        if part.error_code and answer.node_endpoints:
            for node in answer.node_endpoints:
                self.addresses[node.node_id] = Address(node.host, node.port)
            self.topic_metadata.partitions[0].leader_id = part.current_leader.leader_id
            raise Moved(part.error_code)
        demand(part.error_code * (part.error_code != ErrorCode.DUPLICATE_SEQUENCE_NUMBER))

    def fitting(self, node: int, request: Any) -> Any:
        """Name topics by id or by name, as the version of a request has them."""
        connection = self.connections.get(node)
        if connection is not None:
            by_id = self.version(connection, type(request)) >= BY_ID[type(request)]
            for topic in getattr(request, "topic_data", None) or request.topics:
                for field_name in ("name", "topic"):
                    if by_id and hasattr(topic, field_name):
                        setattr(topic, field_name, "")
                if not by_id:
                    topic.topic_id = type(topic)().topic_id
        return request

    async def produce(self) -> None:
        """Write one record after the other."""
        for value in self.values:
            sequence, self.sequence = self.sequence, self.sequence + 1
            try:
                await self.repeated(partial(self.write, value, sequence))
            except (Refused, *Retried) as error:
                self.say("failed", value, repr(error))
                self.begin_anew()
            else:
                self.say("acknowledged", value)

    def begin_anew(self) -> None:
        """Give up the sequences after a record that failed."""
        self.producer_id, self.sequence = -1, 0

    async def burst(self) -> None:
        """Send all records at once, then read the answers; repeat in order what was not written."""
        await self.repeated(self.init_producer)
        leader = await self.repeated(self.leader)
        connection = await self.connect(leader)
        version = self.version(connection, ProduceRequest)
        sent: dict[int, str] = {}
        for number, value in enumerate(self.values):
            request = self.fitting(leader, self.produce_request(value, number))
            sent[await self.send(connection, request, version)] = value
        await self.settle(leader, sent, version)

    async def settle(self, leader: int, sent: dict[int, str], version: int) -> None:
        """Read the answers to requests under way. sent: values by correlation id."""
        connection = self.connections[leader]
        answered: dict[str, int] = {}
        with suppress(*Retried):
            while len(answered) < len(sent):
                async with asyncio.timeout(REQUEST_SECONDS):
                    frame = await self.frame(connection)
                decoded: Any = decode_response(frame, 0, version)
                number = self.matched(decoded.header.correlation_id, list(sent))
                part = decoded.body.responses[0].partition_responses[0]
                answered[sent[number]] = part.error_code
        await self.tell_burst(answered)

    def matched(self, number: int, sent: list[int]) -> int:
        """Return the request that an answer is to. Raises Disconnected."""
        if number not in sent:
            raise Disconnected(f"an answer to {number}")
        return number

    async def tell_burst(self, answered: dict[str, int]) -> None:
        """Say what was written, and write again what was not."""
        for sequence, value in enumerate(self.values):
            code = answered.get(value, int(ErrorCode.NETWORK_EXCEPTION))
            try:
                if code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER or is_retriable(code):
                    self.topic_metadata = None
                    await self.repeated(partial(self.write, value, sequence))
                else:
                    demand(code)
            except (Refused, *Retried) as error:
                self.say("failed", value, repr(error))
            else:
                self.say("acknowledged", value)

    # Consumers.

    async def consume(self) -> None:
        """Read partition 0 from its beginning, until all records came."""
        self.offset = -1
        end = time.monotonic() + self.limit
        received = 0
        while received < RECORDS and time.monotonic() < end:
            for value in await self.repeated(self.read):
                self.say("received", value)
                received += 1
        if received < RECORDS:
            raise Disconnected(f"{received} records came")

    async def read(self) -> Sequence[str]:
        """Return the records at the offset, which moves behind them."""
        leader = await self.leader()
        if self.offset < 0:
            self.offset = await self.earliest(leader)
        part = FetchPartition(
            partition=0,
            fetch_offset=self.offset,
            current_leader_epoch=self.topic_metadata.partitions[0].leader_epoch,
            partition_max_bytes=1 << 16,
        )
        topic = FetchTopic(
            topic=self.topic, topic_id=self.topic_metadata.topic_id, partitions=[part]
        )
        connection = await self.connect(leader)
        if self.version(connection, FetchRequest) < 7:
            self.session = 0, -1
        request = FetchRequest(
            max_wait_ms=100,
            min_bytes=1,
            max_bytes=1 << 16,
            session_id=self.session[0],
            session_epoch=self.session[1],
            topics=[topic],
        )
        answer = await self.ask(leader, self.fitting(leader, request))
        demand(answer.error_code)
        self.next_epoch(answer.session_id)
        if not answer.responses:
            return ()
        return self.take_records(answer.responses[0].partitions[0])

    def take_records(self, part: Any) -> Sequence[str]:
        """Return the values of a partition's records. Raises Refused."""
        if part.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self.offset = -1
            return ()
        demand(part.error_code)
        values = []
        for batch in self.batches(part.records or b""):
            for record in self.records(batch):
                values.append((record.value or b"").decode())
            self.offset = batch.base_offset + batch.last_offset_delta + 1
        return values

    def batches(self, data: bytes) -> Iterator[RecordBatch]:
        """Yield the whole batches of an answer. Raises BatchError."""
        while len(data) >= 12:
            size = 12 + int.from_bytes(data[8:12], "big", signed=True)
            if size < 61:
                raise Disconnected(f"a batch of {size} bytes")
            if size > len(data):
                return  # a part, as an answer may end with
            for batch in read_batches(data[:size]):
                assert isinstance(batch, RecordBatch)
                yield batch
            data = data[size:]

    def records(self, batch: RecordBatch) -> list[Record]:
        """Return the records of a batch from the wanted offset on. Raises BatchError."""
        batch.check()
        if batch.is_control:
            return []
        found = batch.records(Limit(size=LARGEST_FRAME))
        return [record for record in found if self.offset_of(record) >= self.offset]

    def offset_of(self, record: Record) -> int:
        """Return the offset of a record."""
        return record.offset

    def next_epoch(self, session_id: int) -> None:
        """Go on in a session (KIP-227)."""
        self.session = (session_id, self.session[1] + 1) if session_id else (0, 0)

    async def earliest(self, leader: int) -> int:
        """Return the first offset."""
        part = ListOffsetsPartition(partition_index=0, current_leader_epoch=-1, timestamp=-2)
        topic = ListOffsetsTopic(name=self.topic, partitions=[part])
        answer = await self.ask(leader, ListOffsetsRequest(replica_id=-1, topics=[topic]))
        found = answer.topics[0].partitions[0]
        demand(found.error_code)
        offset: int = found.offset
        return offset

    # Administrators.

    async def administer(self) -> None:
        """Create, list, describe and delete a topic."""
        wanted = CreatableTopic(name=self.topic, num_partitions=1, replication_factor=1)
        await self.repeated(lambda: self.create(wanted))
        self.say("done", "create")
        await self.repeated(lambda: self.ask(self.any_node(), MetadataRequest(topics=None)))
        self.say("done", "list")
        answer = await self.repeated(lambda: self.ask(self.any_node(), DescribeClusterRequest()))
        self.say("done", "describe", *(str(node.broker_id) for node in answer.brokers))
        await self.repeated(self.delete)
        self.say("done", "delete")

    async def create(self, wanted: CreatableTopic) -> None:
        """Create a topic, once."""
        answer = await self.ask(
            self.any_node(), CreateTopicsRequest(topics=[wanted], timeout_ms=1000)
        )
        demand(answer.topics[0].error_code)

    async def delete(self) -> None:
        """Delete the topic, once."""
        request = DeleteTopicsRequest(timeout_ms=1000)
        request.topics = [DeleteTopicState(name=self.topic)]
        connection = await self.connect(self.any_node())
        if self.version(connection, DeleteTopicsRequest) < 6:
            request = DeleteTopicsRequest(timeout_ms=1000, topic_names=(self.topic,))
        answer = await self.ask(self.any_node(), request)
        demand(answer.responses[0].error_code)

    async def controllers(self) -> None:
        """Describe the quorum at its controllers (KIP-919)."""

        async def describe() -> None:
            answer = await self.ask(BOOTSTRAP, DescribeClusterRequest(endpoint_type=2))
            demand(answer.error_code)
            part = PartitionData(partition_index=0)
            topic = TopicData(topic_name="__cluster_metadata", partitions=[part])
            answer = await self.ask(BOOTSTRAP, DescribeQuorumRequest(topics=[topic]))
            demand(answer.error_code, answer.topics[0].partitions[0].error_code)

        await self.repeated(describe)
        self.say("done", "describe")


@dataclass(slots=True)
class ModelUnderTest:
    """A kind of model client, as cases are run against it."""

    kind: type[ModelClient] = ModelClient
    together: int = 8
    ports: tuple[int, ...] = ANY_PORTS

    async def do(self, case: ClientCase, nodes: ClientNodes, patience: float) -> ProgramEnd:
        """Let a client of this kind do the task."""
        client = self.kind(case, nodes.addresses[NODES[0]])
        began = time.monotonic()
        exit_code: int | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(3 * client.limit):
                exit_code = await client.run()
        seconds = time.monotonic() - began
        return ProgramEnd(
            exit_code=exit_code, lines=tuple(client.lines), seconds=seconds, memory=client.memory
        )
