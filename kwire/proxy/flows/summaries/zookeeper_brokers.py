"""Summaries of what a controller tells ZooKeeper-era brokers: LeaderAndIsr, StopReplica,
UpdateMetadata (KIP-866); and of what they ask of a ZooKeeper controller, ControlledShutdown.

The sender is a ZooKeeper controller, or in a migration a KRaft controller. The controller epoch of
a request is in both cases that of /controller_epoch. The controller epoch of a partition is the one
in which its state was decided: in a migration the epoch of the metadata quorum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from kwire.messages.a04_leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
)
from kwire.messages.a05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kwire.messages.a06_update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from kwire.messages.a07_controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from kwire.messages.control_requests import (
    EPOCH_DURING_DELETE,
    LEADER_DURING_DELETE,
    ControlRequestType,
)
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.summaries.parts import failed, few, ids, leader, with_answer
from kwire.text.ids import uuid_text
from kwire.text.phrases import count

PARTITIONS_SHOWN = 2
"""Partitions that a line names."""

BROKERS_SHOWN = 8
"""Live brokers that a line names."""

State = TypeVar("State")
Element = TypeVar("Element", bound="NamesTopic")


class NamesTopic(Protocol):
    """An element that names its topic, in the versions without groups by topic."""

    topic_name: str


class ControlRequest(Protocol):
    """The head of each of the three requests."""

    controller_id: int
    is_k_raft_controller: bool
    controller_epoch: int
    broker_epoch: int


class PartitionError(Protocol):
    """A partition that a broker did not take over."""

    partition_index: int
    error_code: int


class DecidedState(Protocol):
    """The state of a partition with the epoch of the controller that decided it."""

    controller_epoch: int


def leader_and_isr(decoded: DecodedFlow) -> str | None:
    """Return the partitions that a broker is to lead or to follow, and if these are all it has."""
    request = decoded.request_as(LeaderAndIsrRequest)
    if request is None:
        return None
    grouped = ((topic.topic_name, topic.partition_states) for topic in request.topic_states)
    states = _named(request.ungrouped_partition_states, grouped)
    phrases = [_extent(request.type), *_counts(states), _first(states, _role)]
    return with_answer(_asked(request, phrases), _leader_and_isr_answer(decoded, request))


def _role(topic: str, state: LeaderAndIsrPartitionState) -> str:
    recovering = " recovering" if state.leader_recovery_state else ""
    leads = leader(state.leader, state.leader_epoch)
    return f"{topic}-{state.partition_index} {leads} ISR {ids(state.isr) or 'empty'}{recovering}"


def _leader_and_isr_answer(decoded: DecodedFlow, request: LeaderAndIsrRequest) -> str:
    response = decoded.response_as(LeaderAndIsrResponse)
    if response is None:
        return ""
    names = {topic.topic_id: topic.topic_name for topic in request.topic_states}
    grouped = (
        (names.get(topic.topic_id) or uuid_text(topic.topic_id), topic.partition_errors)
        for topic in response.topics
    )
    return _answer(response.error_code, _named(response.partition_errors, grouped))


def _named(
    ungrouped: Iterable[Element], grouped: Iterable[tuple[str, Iterable[Element]]]
) -> list[tuple[str, Element]]:
    """Return elements with their topics: early versions name these in each, later ones group."""
    named = [(element.topic_name, element) for element in ungrouped]
    return named + [(topic, element) for topic, elements in grouped for element in elements]


def update_metadata(decoded: DecodedFlow) -> str | None:
    """Return the partitions and the live brokers that a broker is told of, and if these are all."""
    request = decoded.request_as(UpdateMetadataRequest)
    if request is None:
        return None
    grouped = ((topic.topic_name, topic.partition_states) for topic in request.topic_states)
    states = _named(request.ungrouped_partition_states, grouped)
    deleted = sum(state.leader == LEADER_DURING_DELETE for _, state in states)
    live = few(
        [str(number) for number in sorted(broker.id for broker in request.live_brokers)],
        BROKERS_SHOWN,
    )
    phrases = [
        _extent(request.type),
        *_counts(states),
        f"{deleted} being deleted" if deleted else "",
        f"live brokers {live}" if live else "no live broker",
        _first(states, _leader),
    ]
    response = decoded.response_as(UpdateMetadataResponse)
    answer = "" if response is None else _answer(response.error_code, [])
    return with_answer(_asked(request, phrases), answer)


def _leader(topic: str, state: UpdateMetadataPartitionState) -> str:
    if state.leader == LEADER_DURING_DELETE:
        return f"{topic}-{state.partition_index} being deleted"
    return f"{topic}-{state.partition_index} {leader(state.leader, state.leader_epoch)}"


def stop_replica(decoded: DecodedFlow) -> str | None:
    """Return the replicas that a broker is to delete, and those it is only to stop."""
    request = decoded.request_as(StopReplicaRequest)
    if request is None:
        return None
    replicas = list(_stopped(request))
    deleted = [name for name, is_deleted in replicas if is_deleted]
    stopped = [name for name, is_deleted in replicas if not is_deleted]
    phrases = [
        f"{verb} {count(len(names), 'replica')} {few(names, PARTITIONS_SHOWN)}"
        for verb, names in (("delete", deleted), ("stop", stopped))
        if names
    ]
    response = decoded.response_as(StopReplicaResponse)
    errors = [] if response is None else response.partition_errors
    answer = "" if response is None else _answer(response.error_code, _named(errors, ()))
    return with_answer(_asked(request, phrases or ["no replicas"]), answer)


def controlled_shutdown(decoded: DecodedFlow) -> str | None:
    """Return the broker that wants to stop, and what it still leads."""
    request = decoded.request_as(ControlledShutdownRequest)
    if request is None:
        return None
    at = f" at broker epoch {request.broker_epoch}" if request.broker_epoch >= 0 else ""
    asked = f"broker {request.broker_id}{at} wants to shut down"
    response = decoded.response_as(ControlledShutdownResponse)
    if response is None:
        return asked
    led = [f"{left.topic_name}-{left.partition_index}" for left in response.remaining_partitions]
    left = f"still leads {few(led, PARTITIONS_SHOWN)}" if led else "leads nothing any more"
    return with_answer(asked, failed(response.error_code) or left)


def _stopped(request: StopReplicaRequest) -> Iterable[tuple[str, bool]]:
    """Yield every replica by name, and True if it is deleted: versions 0, 1 and 2, 3 and above."""
    for partition in request.ungrouped_partitions:
        yield f"{partition.topic_name}-{partition.partition_index}", request.delete_partitions
    for topic in request.topics:
        for index in topic.partition_indexes:
            yield f"{topic.name}-{index}", request.delete_partitions
    for state in request.topic_states:
        for replica in state.partition_states:
            overrides = " of a deleted topic" * (replica.leader_epoch == EPOCH_DURING_DELETE)
            name = f"{state.topic_name}-{replica.partition_index}{overrides}"
            yield name, replica.delete_partition


def _asked(request: ControlRequest, phrases: Iterable[str]) -> str:
    # A KRaft controller has an epoch of its own as well, which is not in the request's head.
    kind = "KRaft" if request.is_k_raft_controller else "ZooKeeper"
    epoch = "ZooKeeper epoch" if request.is_k_raft_controller else "epoch"
    sender = f"{kind} controller {request.controller_id}, {epoch} {request.controller_epoch}"
    if request.broker_epoch >= 0:
        sender += f", to broker epoch {request.broker_epoch}"
    return with_answer(sender, ", ".join(phrase for phrase in phrases if phrase))


def _extent(number: int) -> str:
    """Return `full` or `incremental`; "" for UNKNOWN, which every ZooKeeper controller sends."""
    if number == ControlRequestType.UNKNOWN:
        return ""
    known = number in set(ControlRequestType)
    return ControlRequestType(number).name.lower() if known else f"type {number}"


def _counts(states: Sequence[tuple[str, DecidedState]]) -> list[str]:
    """Return the numbers of topics and partitions, and the controller epochs that decided them."""
    if not states:
        return ["no partitions"]
    epochs = sorted({state.controller_epoch for _, state in states})
    topics = len({topic for topic, _ in states})
    noun = "epoch" if len(epochs) == 1 else "epochs"
    decided = f"of controller {noun} {few([str(epoch) for epoch in epochs])}"
    return [count(topics, "topic"), f"{count(len(states), 'partition')} {decided}"]


def _first(states: Sequence[tuple[str, State]], text: Callable[[str, State], str]) -> str:
    """Return the texts of the first states: a request can list every partition of a cluster."""
    first = [text(topic, state) for topic, state in states[:PARTITIONS_SHOWN]]
    more = len(states) - len(first)
    return " ".join([*first, f"and {more} more"] if more else first)


def _answer(code: int, errors: Iterable[tuple[str, PartitionError]]) -> str:
    wrong = [
        f"{topic}-{error.partition_index} {failed(error.error_code)}"
        for topic, error in errors
        if error.error_code
    ]
    return failed(code) or few(wrong) or "done"
