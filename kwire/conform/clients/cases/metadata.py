"""Metadata is asked for again when it is out of date (KIP-320, KIP-516, KIP-951)."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request
from kwire.conform.clients.case import VALUES, ClientCase, ClientSection, ClientTask, Judge
from kwire.conform.clients.cluster import NODES, Cluster
from kwire.conform.clients.judges import demand_records, demand_recovery
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import NodeReply, ScriptRule, Turn, changed, meanwhile, once
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Skipped, guide, kip
from kwire.messages import FetchRequest, MetadataRequest, ProduceRequest
from kwire.messages.a00_produce import LeaderIdAndEpoch, NodeEndpoint
from kwire.messages.a03_metadata import MetadataResponse

SECTION = ClientSection("client/metadata", "Metadata that is out of date is asked for again")


def _demand_move(play: Play, api: type[Request]) -> None:
    there = [request for request in play.sent(api) if request.node_id == NODES[1]]
    expect(there, f"requests at node {NODES[1]}, the new leader", "none")


def _demand_metadata(play: Play, api: type[Request]) -> None:
    refused = play.scripted(api)[0]
    expect(play.after(refused, MetadataRequest), "Metadata after the error", "none")


def _judge(api: type[Request], *demands: Callable[[Play, type[Request]], None]) -> Judge:
    def judge(play: Play) -> None:
        for demand in demands:
            demand(play, api)
        if api is FetchRequest:
            demand_records(play, VALUES)

    return judge


def _demand_new_id(play: Play, api: type[Request]) -> None:
    if play.scripted(api)[0].version < 13:
        raise Skipped("the client names topics by their names")
    demand_recovery(play, "UNKNOWN_TOPIC_ID")


def _created_anew(turn: Turn) -> NodeReply:
    for name in list(turn.cluster.topics):
        turn.cluster.create(name)
        if isinstance(turn.request.body, FetchRequest):
            turn.cluster.fill(name, VALUES)
    return turn.usual_reply()


def _before(version: int, api: type[Request]) -> Callable[[Cluster], None]:
    return lambda cluster: cluster.versions.update({api.key or 0: (4, version - 1)})


_APIS: tuple[tuple[int, type[Request], ClientTask, int], ...] = (
    (1, ProduceRequest, ClientTask.PRODUCE, 10),
    (2, FetchRequest, ClientTask.CONSUME, 12),
)
for number, api, task, named_since in _APIS:
    name = api.__name__.removesuffix("Request")
    SECTION[number] = ClientCase(
        sentence=f"After NOT_LEADER_OR_FOLLOWER for {name} a client goes to the new leader.",
        source=guide("Partitioning and bootstrapping"),
        task=task,
        rules=once(api, meanwhile(Cluster.move_leaders)),
        judge=_judge(api, _demand_move),
    )
    SECTION[number + 2] = ClientCase(
        sentence=f"After NOT_LEADER_OR_FOLLOWER for {name} before v{named_since}, which names no "
        "leader, a client asks for metadata.",
        source=guide("Partitioning and bootstrapping"),
        task=task,
        arrange=_before(named_since, api),
        rules=once(api, meanwhile(Cluster.move_leaders)),
        judge=_judge(api, _demand_metadata, _demand_move),
    )
    SECTION[number + 5] = ClientCase(
        sentence=f"After UNKNOWN_TOPIC_ID for {name} a client asks for metadata, which has the new "
        "topic's id.",
        source=kip(516, "Proposed Changes"),
        task=task,
        may_fail=True,
        rules=once(api, _created_anew),
        judge=_judge(api, _demand_new_id, _demand_metadata),
    )


def _named(turn: Turn) -> NodeReply:
    """Move the leader with the first Produce, and name it with its address (KIP-951)."""
    turn.cluster.move_leaders()
    answer, address = turn.ordinary().answer, turn.cluster.addresses[NODES[1]]
    answer.node_endpoints = [NodeEndpoint(node_id=NODES[1], host=address.host, port=address.port)]
    answer.responses[0].partition_responses[0].current_leader = LeaderIdAndEpoch(
        leader_id=NODES[1], leader_epoch=1
    )
    return NodeReply(data=turn.framed(answer))


def _out_of_date(answer: MetadataResponse) -> None:
    for part in [part for topic in answer.topics for part in topic.partitions]:
        part.leader_id, part.leader_epoch = NODES[0], 0


@SECTION.case(
    5,
    kip(951, "Proposed Changes"),
    ClientTask.PRODUCE,
    may_fail=True,
    rules=lambda: [
        ScriptRule(api=ProduceRequest, action=_named),
        ScriptRule(api=MetadataRequest, action=changed(_out_of_date), times=None),
    ],
)
def _(play: Play) -> None:
    """A producer goes to the leader that Produce names, though metadata of an older epoch comes."""
    if play.scripted(ProduceRequest)[0].version < 10:
        raise Skipped("the client has no Produce v10")
    demand_recovery(play, "metadata of an older epoch")
    _demand_move(play, ProduceRequest)
