"""Produce: acknowledgements, and batches that are refused (KIP-98, KIP-467; Java: LogValidator)."""

from __future__ import annotations

from kwire.batches import Compression, Record, build_legacy_batch
from kwire.conform.check import CheckSection, broker_scenario, exchange
from kwire.conform.checks.records.log import batch, new_log, produce_request
from kwire.conform.connection import PATIENCE
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.needs import ServerRole
from kwire.conform.reaction import ConnectionState
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip, schema
from kwire.conform.verdict import ConformanceVerdict
from kwire.messages.a00_produce import PartitionProduceData, ProduceRequest
from kwire.net.address import Address

_ONE_BATCH = kafka("ProduceRequest.validateRecords")
_CODES = guide("Error Codes")
_ACKS = guide("Produce API")
_YEAR_MS = 365 * 86_400_000
_BY_NAME = 12


def _flipped(data: bytes) -> bytes:
    """Return a batch with a bit of its last record flipped, its CRC left."""
    return data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]


@broker_scenario("acks other than -1, 0 and 1 gets INVALID_REQUIRED_ACKS.", _ACKS)
async def _bad_acks(server: Server) -> None:
    log = await new_log(server)
    expect_error(await log.produce(batch(), acks=2), 21)


@broker_scenario(
    "An unknown topic is reported before a bad number of acks.",
    kafka("KafkaApis.handleProduceRequest"),
)
async def _acks_or_topic(server: Server) -> None:
    log = await new_log(server)
    log.topic = server.name()
    expect_error(await log.produce(batch(), acks=2), 3, differs=(21,))


@broker_scenario(
    "A partition that the topic does not have gets UNKNOWN_TOPIC_OR_PARTITION.", _CODES
)
async def _unknown_partition(server: Server) -> None:
    log = await new_log(server)
    expect_error(await log.produce(batch(), partition=7), 3)


@broker_scenario("A Produce with acks 0 gets no answer, and the next request gets one.", _ACKS)
async def _no_acks(server: Server) -> None:
    log = await new_log(server)
    request = produce_request(log.topic, batch(), acks=0)
    version = log.leader.version_up_to(request, _BY_NAME)
    await log.leader.send(log.leader.frame(request, version))
    part = await log.produce(batch())  # an answer to the first would have its correlation id
    expect_error(part, 0)
    expect_equal("base offset", part.base_offset, 1)


@broker_scenario(
    "With acks 0 an error ends the connection, since there is no answer to tell it in.",
    kafka("KafkaApis.handleProduceRequest"),
)
async def _no_acks_error(server: Server) -> None:
    log = await new_log(server)
    connection = await server.new_connection(Address.parse(log.leader.peer))
    request = produce_request(log.topic, batch(), acks=0, partition=7)
    await connection.send(connection.frame(request, connection.version_up_to(request, _BY_NAME)))
    expect(await connection.receive(PATIENCE) is None, "no answer", "an answer")
    closed = connection.state in (ConnectionState.CLOSED, ConnectionState.RESET)
    verdict = ConformanceVerdict.DIFFERS
    expect_equal("the connection is closed", closed, True, otherwise=verdict)


@broker_scenario("A batch whose CRC is wrong gets CORRUPT_MESSAGE.", _CODES)
async def _bad_crc(server: Server) -> None:
    log = await new_log(server)
    expect_error(await log.produce(_flipped(batch())), 2)


@broker_scenario("From v3 on a batch of format 1 gets INVALID_RECORD.", _ONE_BATCH)
async def _old_format(server: Server) -> None:
    log = await new_log(server)
    data = build_legacy_batch([Record(value=b"kwire", timestamp=0)], 1)
    expect_error(await log.produce(data), 87, differs=(2, 42, 43))


@broker_scenario("From v3 on two batches for a partition get INVALID_RECORD.", _ONE_BATCH)
async def _two_batches(server: Server) -> None:
    log = await new_log(server)
    expect_error(await log.produce(batch() + batch()), 87, differs=(2, 42))


@broker_scenario("From v3 on no batch for a partition gets INVALID_RECORD.", _ONE_BATCH)
async def _no_batch(server: Server) -> None:
    log = await new_log(server)
    expect_error(await log.produce(b""), 87, differs=(2, 42))


@broker_scenario(
    "Before v7 a batch compressed with zstd gets UNSUPPORTED_COMPRESSION_TYPE.",
    kip(110, "Public Interfaces"),
)
async def _early_zstd(server: Server) -> None:
    log = await new_log(server)
    data = batch(compression=Compression.ZSTD)
    expect_error(await log.produce(data, version=6), 76)


@broker_scenario("A batch beyond max.message.bytes gets MESSAGE_TOO_LARGE.", _CODES)
async def _too_large(server: Server) -> None:
    log = await new_log(server, max_message_bytes="100")
    expect_error(await log.produce(batch(value=bytes(200))), 10)


@broker_scenario(
    "A record older than the topic takes gets INVALID_TIMESTAMP.", kip(937, "Public Interfaces")
)
async def _too_old(server: Server) -> None:
    log = await new_log(server, message_timestamp_before_max_ms="3600000")
    expect_error(await log.produce(batch(timestamp=0)), 32)


@broker_scenario("A control batch of a client gets INVALID_RECORD.", kip(98, "Control Messages"))
async def _control(server: Server) -> None:
    log = await new_log(server)
    expect_error(await log.produce(batch(is_control=True)), 87)


@broker_scenario(
    "In a compacted topic a record without a key gets INVALID_RECORD.",
    kip(467, "Public Interfaces"),
)
async def _no_key(server: Server) -> None:
    log = await new_log(server, cleanup_policy="compact")
    expect_error(await log.produce(batch(key=None)), 87)


@broker_scenario(
    "From v8 on the answer names the records for which a batch was refused.",
    kip(467, "Public Interfaces"),
)
async def _record_errors(server: Server) -> None:
    log = await new_log(server, cleanup_policy="compact")
    log.leader.demand_since(ProduceRequest, 8)
    part = await log.produce(batch(2, key=None))
    indexes = [error.batch_index for error in part.record_errors]
    expect_equal("records", indexes, [0, 1])


@broker_scenario(
    "A batch is appended unless it gets NOT_ENOUGH_REPLICAS.",
    kip(966, "Proposed Changes"),
)
async def _few_replicas(server: Server) -> None:
    log = await new_log(server, min_insync_replicas="2")
    part = await log.produce(batch())
    expect_error(part, 0, 19)  # since 3.7 no more need be in sync than there are
    after = await log.produce(batch(), acks=1)
    expect_equal("base offset", after.base_offset, 0 if part.error_code else 1)


@broker_scenario("With acks 1 min.insync.replicas does not count.", guide("Produce API"))
async def _leader_alone(server: Server) -> None:
    log = await new_log(server, min_insync_replicas="2")
    expect_error(await log.produce(batch(), acks=1), 0)


@broker_scenario("The offsets of a batch follow those of the batch before.", _ACKS)
async def _offsets(server: Server) -> None:
    log = await new_log(server)
    offsets = [await log.append(batch(count)) for count in (2, 3, 1)]
    expect_equal("base offsets", offsets, [0, 2, 5])


@broker_scenario(
    "With CreateTime the append time is -1.",
    schema("ProduceResponse", "LogAppendTimeMs"),
)
async def _no_append_time(server: Server) -> None:
    log = await new_log(server, message_timestamp_type="CreateTime")
    expect_equal("append time", (await log.produce(batch())).log_append_time_ms, -1)


@broker_scenario(
    "With LogAppendTime the append time is the broker's.",
    schema("ProduceResponse", "LogAppendTimeMs"),
)
async def _append_time(server: Server) -> None:
    log = await new_log(server, message_timestamp_type="LogAppendTime")
    part = await log.produce(batch(timestamp=0))
    expect_error(part, 0)
    expect(part.log_append_time_ms > _YEAR_MS, "the broker's time", part.log_append_time_ms)


@broker_scenario("One partition's error does not keep another from being appended to.", _ACKS)
async def _one_of_two(server: Server) -> None:
    log = await new_log(server)
    request = produce_request(log.topic, batch())
    other = PartitionProduceData(index=7, records=batch())
    request.topic_data[0].partition_data.append(other)
    answer = await log.leader.ask(request, log.leader.version_up_to(request, _BY_NAME))
    parts = [part for topic in answer.responses for part in topic.partition_responses]
    expect_equal("errors", {part.index: part.error_code for part in parts}, {0: 0, 7: 3})


@broker_scenario("What is refused leaves nothing in the log.", _CODES)
async def _nothing_left(server: Server) -> None:
    log = await new_log(server)
    expect_error(await log.produce(_flipped(batch())), 2)
    expect_equal("base offset", await log.append(), 0)


SECTION = CheckSection(
    "records/produce",
    "Produce",
    {
        1: _bad_acks,
        2: _acks_or_topic,
        3: exchange(
            "A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION, and is not created.",
            _CODES,
            send=lambda server: produce_request(server.name(), batch()),
            version=7,
            expect=answers(3),
            role=ServerRole.BROKER,
        ),
        4: _unknown_partition,
        5: _no_acks,
        6: _no_acks_error,
        7: _bad_crc,
        8: _old_format,
        9: _two_batches,
        10: _no_batch,
        11: _early_zstd,
        12: _too_large,
        13: _too_old,
        14: _control,
        15: _no_key,
        16: _record_errors,
        17: _few_replicas,
        18: _leader_alone,
        19: _offsets,
        20: _no_append_time,
        21: _append_time,
        22: _one_of_two,
        23: _nothing_left,
    },
)
