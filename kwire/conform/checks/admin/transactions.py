"""Descriptions of producers (KIP-664), and of topics that there are not."""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.checks.records.log import new_log
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, ServerRole, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a61_describe_producers import DescribeProducersRequest, TopicRequest

SECTION = CheckSection("admin/transactions", "Descriptions of producers")

_BROKER = ServerRole.BROKER
_PRODUCERS = kip(664, "DescribeProducers")


def _producers(name: str, partition: int = 0) -> DescribeProducersRequest:
    topic = TopicRequest(name=name, partition_indexes=(partition,))
    return DescribeProducersRequest(topics=[topic])


def _of_topic(
    sentence: str, name: str, code: int, *others: int, source: SentenceSource = _PRODUCERS
) -> Check:
    """Return a check of a topic that there is not. name: empty for one that there could be."""

    @scenario(gets(sentence, code), source, role=_BROKER)
    async def check(server: Server) -> None:
        expect_error(await server.ask(_producers(name or server.name())), code, *others)

    return check


SECTION[1] = _of_topic("A topic that does not exist gets", "", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
SECTION[2] = _of_topic(
    "A name that no topic can have gets",
    "bad name",
    ErrorCode.INVALID_TOPIC_EXCEPTION,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    source=kafka("Topic.validate"),
)


@SECTION.broker_check(3, _PRODUCERS)
async def _(server: Server) -> None:
    """A partition without idempotent producers lists no producers."""
    log = await new_log(server)
    log.leader.demand_since(DescribeProducersRequest, 0)
    await log.append()
    part = (await log.leader.ask(_producers(log.topic))).topics[0].partitions[0]
    came = (part.error_code, part.active_producers)
    expect_equal("error, producers", came, (0, []))
