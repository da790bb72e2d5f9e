"""A broker's registration, heartbeats and end, with a broker of the check's own (KIP-631)."""

from __future__ import annotations

from uuid import uuid4

from kwire.conform.check import Check, CheckSection, Run, scenario
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.metadata_log import read_log
from kwire.conform.own_broker import OwnBroker
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest

SECTION = CheckSection(
    "registration/own-brokers", "A broker of the suite's own registers, lives and ends"
)

_REGISTER, _BEAT = kip(631, "BrokerRegistration"), kip(631, "BrokerHeartbeat")


def _own(sentence: str, source: SentenceSource, run: Run) -> Check:
    return scenario(
        sentence, source, role=ServerRole.CONTROLLER, needs=Need.THROW_AWAY, alone=True
    )(run)


async def _fenced_at_first(server: Server) -> None:
    broker = await OwnBroker.register(server, unfenced=False)
    written = (await read_log(server)).image.cluster.brokers[broker.id]
    expect(written.fenced, "a fenced broker", written)
    expect_equal("broker epoch", broker.epoch, written.epoch)


async def _unfenced(server: Server) -> None:
    broker = await OwnBroker.register(server)
    written = (await read_log(server)).image.cluster.brokers[broker.id]
    expect(not written.fenced, "an unfenced broker", written)


async def _fenced_again(server: Server) -> None:
    broker = await OwnBroker.register(server)
    answer = await broker.beat(want_fence=True)
    expect_error(answer, ErrorCode.NONE)
    expect(answer.is_fenced, "a fenced broker", answer)


async def _shuts_down(server: Server) -> None:
    broker = await OwnBroker.register(server)

    async def may_stop() -> bool:
        answer = await broker.beat(want_shut_down=True)
        expect_error(answer, ErrorCode.NONE)
        return bool(answer.should_shut_down)

    await server.wait_for("leave to shut down", may_stop)


async def _new_epoch(server: Server) -> None:
    broker = await OwnBroker.register(server, unfenced=False)
    again = broker.request.replace(incarnation_id=uuid4(), log_dirs=broker.request.log_dirs)
    answer = await server.ask(again)
    expect_error(answer, ErrorCode.NONE)
    expect(answer.broker_epoch > broker.epoch, f"an epoch above {broker.epoch}", answer)
    expect_error(await broker.beat(), ErrorCode.STALE_BROKER_EPOCH)


async def _unregistered(server: Server) -> None:
    broker = await OwnBroker.register(server)
    expect_error(await server.ask(UnregisterBrokerRequest(broker_id=broker.id)), ErrorCode.NONE)
    expect(broker.id not in (await read_log(server)).image.cluster.brokers, "nobody", broker.id)
    expect_error(
        await broker.beat(), ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED
    )


async def _producer_ids(server: Server) -> None:
    broker = await OwnBroker.register(server)
    request = AllocateProducerIdsRequest(broker_id=broker.id, broker_epoch=broker.epoch)
    first, second = await server.ask(request), await server.ask(request)
    expect_error(first, ErrorCode.NONE)
    expect_error(second, ErrorCode.NONE)
    end = first.producer_id_start + first.producer_id_len
    expect(second.producer_id_start >= end, f"a block from {end} on", second.producer_id_start)


SECTION[1] = _own("A broker is fenced when it registers.", _REGISTER, _fenced_at_first)
SECTION[2] = _own("A broker that has read the log is unfenced.", _BEAT, _unfenced)
SECTION[3] = _own("A broker that wants to be fenced is fenced.", _BEAT, _fenced_again)
SECTION[4] = _own("A broker that leads nothing may shut down.", _BEAT, _shuts_down)
SECTION[5] = _own("A new incarnation of a fenced broker has a new epoch.", _REGISTER, _new_epoch)
SECTION[6] = _own(
    "A broker that was unregistered is gone.", schema("UnregisterBrokerRequest"), _unregistered
)
SECTION[7] = _own(
    "Blocks of producer ids do not overlap.", kip(730, "Proposed Changes"), _producer_ids
)
