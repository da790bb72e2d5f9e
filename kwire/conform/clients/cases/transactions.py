"""Transactions after each error (KIP-98, KIP-890), by the classes of KIP-1050."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request
from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.cases.groups import NOT_HERE, demand_search
from kwire.conform.clients.cases.sequences import demand_order
from kwire.conform.clients.cluster import Cluster
from kwire.conform.clients.judges import DIFFERS, demand_calm, demand_recovery
from kwire.conform.clients.play import Play, SeenClientRequest
from kwire.conform.clients.script import ReplyEnd, gives, lost, once
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Deviation, Skipped, kip
from kwire.error_codes import ErrorCode as Code
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a22_init_producer_id import InitProducerIdRequest
from kwire.messages.a24_add_partitions_to_txn import AddPartitionsToTxnRequest
from kwire.messages.a26_end_txn import EndTxnRequest
from kwire.messages.registry import api_name

SECTION = ClientSection("client/transactions", "Transactions survive retriable errors, no others")


_ABORTABLE: dict[type[Request], int] = {ProduceRequest: 11, EndTxnRequest: 4}
"""The first versions with the error TRANSACTION_ABORTABLE (KIP-890)."""


def _second_version(cluster: Cluster) -> None:
    cluster.features["transaction.version"] = 2


def _ended(play: Play, committed: bool) -> list[SeenClientRequest]:
    return [each for each in play.sent(EndTxnRequest) if each.body.committed is committed]


def _demand_commit(play: Play, error: str) -> None:
    """Demand one commit, and that all of the transaction was written before."""
    if play.sent(ProduceRequest):
        demand_order(play)
    states = play.cluster.transactions.values()
    outcomes = [outcome for state in states for outcome in state.ended]
    said = bool(play.printed("committed"))
    expect(not said or outcomes == [True], "a commit that is one", f"ends {outcomes}")
    for end in _ended(play, True):
        late = list(play.after(end, ProduceRequest))
        expect(not late, "no Produce behind the end of the transaction", "a Produce")
    demand_recovery(play, error)


def _demand_no_commit(play: Play, api: type[Request]) -> None:
    """Demand that nothing was committed after the error."""
    fault = play.scripted(api)[0]
    expect(
        not play.printed("committed"), "a transaction that failed", "the program says: committed"
    )
    for end in play.after(fault, EndTxnRequest):
        expect(not end.body.committed, "no commit after the error", "EndTxn with Committed")
    demand_calm(play, play.after(fault))


def _demand_nothing_more(play: Play, api: type[Request]) -> None:
    """Demand what an error asks for after which the producer has to be closed."""
    _demand_no_commit(play, api)
    fault = play.scripted(api)[0]
    for request in play.after(fault, ProduceRequest, EndTxnRequest, AddPartitionsToTxnRequest):
        raise Deviation("nothing more of this transaction", request.name, DIFFERS)


def _declare(
    number: int,
    api: type[Request],
    code: Code,
    judge: Callable[[Play], None],
    demand: str,
    times: int | None = 1,
) -> None:
    SECTION[number] = ClientCase(
        sentence=f"After {code.name} for {api_name(api.key or 0)} {demand}.",
        source=kip(1050, "Proposed Changes"),
        task=ClientTask.TRANSACTION,
        judge=judge,
        rules=once(
            api, gives(code), times=times, when=lambda body: getattr(body, "committed", True)
        ),
        may_fail=True,
    )


def _retriable(number: int, api: type[Request], code: Code) -> None:
    def judge(play: Play) -> None:
        _demand_commit(play, code.name)
        if code in NOT_HERE and api is not FindCoordinatorRequest:
            demand_search(play, api)

    _declare(number, api, code, judge, "a producer tries again, and commits once")


def _abortable(number: int, api: type[Request], code: Code) -> None:
    def judge(play: Play) -> None:
        version = play.scripted(api)[0].version
        if code is Code.TRANSACTION_ABORTABLE and version < _ABORTABLE[api]:
            raise Skipped(f"{code.name} comes only in later versions")
        _demand_no_commit(play, api)
        if api is ProduceRequest and not _ended(play, False):
            raise Deviation("EndTxn that aborts", "no EndTxn", DIFFERS)

    demand = "a producer aborts, and commits nothing"
    _declare(number, api, code, judge, demand)


def _fatal(number: int, api: type[Request], code: Code) -> None:
    demand = "a producer sends nothing more of the transaction"
    _declare(number, api, code, lambda play: _demand_nothing_more(play, api), demand, times=None)


for number, api, code in (
    (1, FindCoordinatorRequest, Code.COORDINATOR_NOT_AVAILABLE),
    (2, InitProducerIdRequest, Code.COORDINATOR_LOAD_IN_PROGRESS),
    (3, InitProducerIdRequest, Code.NOT_COORDINATOR),
    (4, InitProducerIdRequest, Code.CONCURRENT_TRANSACTIONS),
    (5, AddPartitionsToTxnRequest, Code.COORDINATOR_LOAD_IN_PROGRESS),
    (6, AddPartitionsToTxnRequest, Code.NOT_COORDINATOR),
    (7, AddPartitionsToTxnRequest, Code.CONCURRENT_TRANSACTIONS),
    (8, AddPartitionsToTxnRequest, Code.UNKNOWN_TOPIC_OR_PARTITION),
    (9, ProduceRequest, Code.NOT_ENOUGH_REPLICAS),
    (10, EndTxnRequest, Code.COORDINATOR_LOAD_IN_PROGRESS),
    (11, EndTxnRequest, Code.COORDINATOR_NOT_AVAILABLE),
    (12, EndTxnRequest, Code.CONCURRENT_TRANSACTIONS),
):
    _retriable(number, api, code)
for number, api, code in (
    (20, AddPartitionsToTxnRequest, Code.TOPIC_AUTHORIZATION_FAILED),
    (22, ProduceRequest, Code.TRANSACTION_ABORTABLE),
    (23, ProduceRequest, Code.TOPIC_AUTHORIZATION_FAILED),
    (24, ProduceRequest, Code.INVALID_RECORD),
    (25, ProduceRequest, Code.OUT_OF_ORDER_SEQUENCE_NUMBER),
    (26, EndTxnRequest, Code.TRANSACTION_ABORTABLE),
):
    _abortable(number, api, code)
for number, api, code in (
    (30, FindCoordinatorRequest, Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    (31, InitProducerIdRequest, Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    (32, InitProducerIdRequest, Code.INVALID_TRANSACTION_TIMEOUT),
    (33, InitProducerIdRequest, Code.PRODUCER_FENCED),
    (34, AddPartitionsToTxnRequest, Code.PRODUCER_FENCED),
    (35, AddPartitionsToTxnRequest, Code.INVALID_TXN_STATE),
    (36, ProduceRequest, Code.PRODUCER_FENCED),
    (37, EndTxnRequest, Code.PRODUCER_FENCED),
    (38, EndTxnRequest, Code.INVALID_TXN_STATE),
    (39, EndTxnRequest, Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
):
    _fatal(number, api, code)


def _declare_lost(
    number: int, api: type[Request], end: ReplyEnd, arrange: Callable[[Cluster], None]
) -> None:
    SECTION[number] = ClientCase(
        sentence=f"After a lost answer to {api_name(api.key or 0)} a producer commits once.",
        source=kip(98, "Transactional Guarantees"),
        task=ClientTask.TRANSACTION,
        judge=lambda play: _demand_commit(play, "a lost answer"),
        rules=once(api, lost(end)),
        arrange=arrange,
        may_fail=True,
    )


def _first_version(cluster: Cluster) -> None:
    cluster.features.clear()


_declare_lost(40, InitProducerIdRequest, ReplyEnd.CLOSE, _first_version)
_declare_lost(41, AddPartitionsToTxnRequest, ReplyEnd.RESET, _first_version)
_declare_lost(42, ProduceRequest, ReplyEnd.CLOSE, _first_version)
_declare_lost(43, EndTxnRequest, ReplyEnd.CLOSE, _first_version)
_declare_lost(44, EndTxnRequest, ReplyEnd.CLOSE, _second_version)


@SECTION.case(50, kip(98, "Transactional Guarantees"), ClientTask.TRANSACTION)
def _(play: Play) -> None:
    "A partition is part of the transaction before its records are sent, all before the commit."
    _demand_commit(play, "nothing")
    added = [each for each in play.demand(AddPartitionsToTxnRequest) if each.answered is not None]
    first = play.demand(ProduceRequest)[0]
    expect(added and (added[0].answered or 0) <= first.at, "AddPartitionsToTxn first", "Produce")
    answers = [each.answered or 0 for each in play.sent(ProduceRequest)]
    expect(max(answers) <= _ended(play, True)[0].at, "EndTxn behind all answers", "EndTxn before")


@SECTION.case(51, kip(890, "Public Interfaces"), ClientTask.TRANSACTION, arrange=_second_version)
def _(play: Play) -> None:
    "With transaction.version 2 Produce v12 adds partitions, and EndTxn v5 begins a new epoch."
    ends = {request.version for request in _ended(play, True)}
    if max(ends, default=0) < 5 or play.demand(ProduceRequest)[-1].version < 12:
        raise Skipped("the client has no transactions of version 2")
    _demand_commit(play, "nothing")
    for request in play.sent(AddPartitionsToTxnRequest):
        raise Deviation("no AddPartitionsToTxn", request.name, DIFFERS)
