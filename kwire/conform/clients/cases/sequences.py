"""Idempotent producers (KIP-98, KIP-360): what is sent again has the sequence that it had."""

from __future__ import annotations

from collections.abc import Callable

from kwire.batches.current import RecordBatch
from kwire.batches.reading import read_batches
from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.judges import demand_calm, demand_recovery
from kwire.conform.clients.play import Play, SeenClientRequest
from kwire.conform.clients.script import (
    NodeAction,
    NodeReply,
    ReplyEnd,
    Turn,
    changed,
    gives,
    lost,
    once,
)
from kwire.conform.expectation import expect, first_error
from kwire.conform.vocabulary import Deviation, SentenceSource, Skipped, kafka, kip
from kwire.error_codes import ErrorCode as Code
from kwire.messages.a00_produce import ProduceRequest, ProduceResponse
from kwire.messages.a22_init_producer_id import InitProducerIdRequest
from kwire.net.frames import decode_response

SECTION = ClientSection("client/sequences", "An idempotent producer writes once, and in order")
_PRODUCE, _BURST = ClientTask.PRODUCE, ClientTask.BURST


SentBatch = tuple[SeenClientRequest, RecordBatch]


def sent_batches(play: Play) -> list[SentBatch]:
    """Return the batches of an idempotent producer as it sent them. Raises Skipped for another."""
    batches = [
        (request, batch)
        for request in play.demand(ProduceRequest)
        for topic in request.body.topic_data
        for part in topic.partition_data
        for batch in read_batches(part.records or b"")
        if isinstance(batch, RecordBatch) and batch.producer_id >= 0
    ]
    if not batches:
        raise Skipped("the producer is not idempotent")
    return batches


def demand_order(play: Play) -> None:
    """Demand sequences from 0 on without a gap, and a log with each value once, as first sent.

    A sequence that was refused is free again for other records; one without an answer is not.
    """
    sent: dict[tuple[int, int], dict[int, list[str]]] = {}
    first_sent: dict[str, None] = {}
    for request, batch in sent_batches(play):
        producer = batch.producer_id, batch.producer_epoch
        known = sent.setdefault(producer, {})
        values = [(record.value or b"").decode() for record in batch.records()]
        first_sent |= dict.fromkeys(values)
        following = max((first + len(part) for first, part in known.items()), default=0)
        before = known.setdefault(batch.base_sequence, values)
        text = f"sequence {batch.base_sequence} of producer id and epoch {producer}"
        expect(before == values, f"{text} only with {before}, as before", f"with {values}")
        expect(batch.base_sequence <= following, f"sequence {following} of {producer}", text)
        if is_refused(request):
            del known[batch.base_sequence]
    log = play.cluster.values()
    once = [value for value in first_sent if value in log]
    expect(log == once, f"{', '.join(once)} in the log, once and in order", ", ".join(log))


_PERHAPS_WRITTEN = (
    Code.NONE,
    Code.REQUEST_TIMED_OUT,
    Code.NETWORK_EXCEPTION,
    Code.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    Code.DUPLICATE_SEQUENCE_NUMBER,
)


def is_refused(request: SeenClientRequest) -> bool:
    """Return True if the answer to a Produce says that nothing is written."""
    if request.answered is None:
        return False
    answer = decode_response(request.reply[4:], request.key, request.version)
    return first_error(answer.body) not in _PERHAPS_WRITTEN


def _refused(code: Code) -> Callable[[ProduceResponse], None]:
    """Return what makes an error of an answer to a Produce that was carried out."""

    def change(answer: ProduceResponse) -> None:
        for topic in answer.responses:
            for part in topic.partition_responses:
                part.error_code, part.base_offset = code, -1

    return change


def _lost_and_moved(turn: Turn) -> NodeReply:
    reply = lost()(turn)
    turn.cluster.move_leaders()
    return reply


def _declare(
    number: int,
    task: ClientTask,
    fault: str,
    action: NodeAction,
    after: int = 0,
    source: SentenceSource = kip(98, "Idempotent Producer Guarantees"),  # noqa: B008
    recovers: bool = True,
) -> None:
    def judge(play: Play) -> None:
        demand_order(play)
        demand_calm(play, play.sent(ProduceRequest))
        if recovers:
            demand_recovery(play, fault)

    SECTION[number] = ClientCase(
        sentence=f"After {fault} nothing is doubled or out of order, and no sequence has others' "
        "records.",
        source=source,
        task=task,
        judge=judge,
        rules=once(ProduceRequest, action, after=after),
        may_fail=True,
    )


@SECTION.case(1, kip(98, "Idempotent Producer Guarantees"), _PRODUCE)
def _(play: Play) -> None:
    "The sequences of a producer begin at 0 and go on by the number of records."
    demand_order(play)


_declare(2, _PRODUCE, "a lost answer and a closed connection", lost())
_declare(3, _PRODUCE, "a lost answer to the second record", lost(ReplyEnd.RESET), after=1)
_declare(4, _PRODUCE, "an answer that never comes", lost(ReplyEnd.NONE), recovers=False)
_declare(5, _BURST, "a lost answer to all in flight", lost())
_declare(6, _PRODUCE, "a lost answer and a new leader", _lost_and_moved, after=1)
for number, code in ((7, Code.REQUEST_TIMED_OUT), (8, Code.NOT_ENOUGH_REPLICAS_AFTER_APPEND)):
    _declare(number, _PRODUCE, f"{code.name} for what was written", changed(_refused(code)))
_declare(
    9,
    _PRODUCE,
    "DUPLICATE_SEQUENCE_NUMBER, for records that are written,",
    changed(_refused(Code.DUPLICATE_SEQUENCE_NUMBER)),
    source=kafka("Sender.completeBatch"),
)
for number, code in (
    (10, Code.OUT_OF_ORDER_SEQUENCE_NUMBER),
    (11, Code.UNKNOWN_PRODUCER_ID),
    (12, Code.INVALID_PRODUCER_EPOCH),
):
    bump = kip(360, "Proposed Changes")
    _declare(number, _PRODUCE, code.name, gives(code), after=1, source=bump, recovers=False)


@SECTION.case(
    13,
    kip(98, "Idempotent Producer Guarantees"),
    _PRODUCE,
    rules=once(InitProducerIdRequest, gives(Code.CLUSTER_AUTHORIZATION_FAILED), times=None),
    may_fail=True,
)
def _(play: Play) -> None:
    "A producer that gets no id writes nothing as an idempotent one, and does not ask in a loop."
    demand_calm(play, play.sent(InitProducerIdRequest))
    for _, batch in sent_batches(play) if play.sent(ProduceRequest) else ():
        raise Deviation("no batch with a producer id", f"producer id {batch.producer_id}")
