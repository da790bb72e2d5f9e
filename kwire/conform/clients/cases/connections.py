"""Connections that end, and the order and the ids of answers."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request
from kwire.conform.clients.case import VALUES, ClientCase, ClientSection, ClientTask
from kwire.conform.clients.judges import DIFFERS, demand_records, demand_recovery
from kwire.conform.clients.play import Play, SeenClientRequest
from kwire.conform.clients.script import (
    NodeAction,
    NodeReply,
    ReplyEnd,
    ScriptRule,
    Turn,
    ends,
    gives,
    mangled,
    once,
    silence,
    without_records,
)
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Deviation, Skipped, guide
from kwire.error_codes import ErrorCode
from kwire.messages import ApiVersionsRequest, FetchRequest, MetadataRequest, ProduceRequest

SECTION = ClientSection("client/connections", "Connections that end, and what comes in them")


def _goes_on(play: Play) -> None:
    demand_recovery(play, "a connection of no more use")
    if play.sent(FetchRequest):
        demand_records(play, VALUES)


def _not_taken(api: type[Request]) -> Callable[[Play], None]:
    """Demand that the client asked again, and nothing else over a connection without versions."""

    def judge(play: Play) -> None:
        wrong = play.scripted(api)[0]
        later = [r for r in play.after(wrong) if r.connection == wrong.connection]
        taken = later if api is ApiVersionsRequest else not play.after(wrong, api)
        if taken and play.ended_well:
            raise Deviation(f"{wrong.name} again", "the task is done with that answer", DIFFERS)

    return judge


def _answered_and_closed(turn: Turn) -> NodeReply:
    answer = turn.ordinary().answer
    without_records(answer)  # so that the client has to come again
    return NodeReply(data=turn.framed(answer), end=ReplyEnd.CLOSE)


def _other_id(frame: bytes) -> bytes:
    number = int.from_bytes(frame[4:8], "big") ^ 0x4000_0000
    return frame[:4] + number.to_bytes(4, "big") + frame[8:]


_PLACES: tuple[tuple[int, type[Request], ClientTask], ...] = (
    (0, ApiVersionsRequest, ClientTask.PRODUCE),
    (10, MetadataRequest, ClientTask.PRODUCE),
    (20, ProduceRequest, ClientTask.PRODUCE),
    (30, FetchRequest, ClientTask.CONSUME),
)
_ENDS = (
    ("A connection closed in place of an answer to {} is made again.", ends(ReplyEnd.CLOSE)),
    ("A connection reset in place of an answer to {} is made again.", ends(ReplyEnd.RESET)),
    ("A connection half closed in place of an answer to {} is made again.", ends(ReplyEnd.HALF)),
    ("A connection closed behind the answer to {} is made again.", _answered_and_closed),
    ("A connection without any answer to {} is made again in the end.", silence()),
    ("An answer to {} with another correlation id is not taken.", mangled(_other_id)),
)
for base, api, task in _PLACES:
    for number, (sentence, action) in enumerate(_ENDS, 1):
        is_end = number < len(_ENDS)
        SECTION[base + number] = ClientCase(
            sentence=sentence.format(api.__name__.removesuffix("Request")),
            source=guide("Partitioning and bootstrapping" if is_end else "The Messages"),
            task=task,
            may_fail=True,
            rules=once(api, action),
            judge=_goes_on if is_end else _not_taken(api),
        )


def _two_at_once(first: NodeAction) -> Callable[[], list[ScriptRule]]:
    """Hold the answer to the first Produce, and give it behind that to the second."""

    def rules() -> list[ScriptRule]:
        held: list[bytes] = []

        def hold(turn: Turn) -> NodeReply:
            held.append(first(turn).data)
            return NodeReply()

        def give(turn: Turn) -> NodeReply:
            return NodeReply(data=turn.usual_reply().data + held[0])

        return [ScriptRule(api=ProduceRequest, action=action) for action in (hold, give)]

    return rules


def _demand_pipelining(play: Play) -> tuple[SeenClientRequest, SeenClientRequest]:
    first, second = play.scripted(ProduceRequest)[:2]
    if first.connection != second.connection:
        raise Skipped("the client sends no second Produce before the first is answered")
    return first, second


@SECTION.case(
    41, guide("The Messages"), ClientTask.BURST, may_fail=True, rules=_two_at_once(silence())
)
def _(play: Play) -> None:
    "Two requests that wait for their answers at once have two correlation ids."
    first, second = _demand_pipelining(play)
    expect(first.correlation_id != second.correlation_id, "two ids", first.correlation_id)


@SECTION.case(
    42,
    guide("Network"),
    ClientTask.BURST,
    may_fail=True,
    rules=_two_at_once(gives(ErrorCode.MESSAGE_TOO_LARGE)),
)
def _(play: Play) -> None:
    "An error behind the answer to a later request is not taken for that answer."
    _demand_pipelining(play)
