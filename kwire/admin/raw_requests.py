"""Any request to any node, as it is: nothing is looked up for it and nothing is asked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import NodeNotFound, ReadOnly
from kwire.codec.declaration import Request, Response
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a03_metadata import MetadataRequest
from kwire.net.connection import Connection

_CHANGING = {api for row in registry.OPERATIONS if row.changes for api in row.apis}
_READING = {api for row in registry.OPERATIONS if not row.changes for api in row.apis}
READING_APIS = frozenset(
    (_READING - _CHANGING)
    | {
        "Fetch",
        "FetchSnapshot",
        "FindCoordinator",
        "OffsetForLeaderEpoch",
        "ReadShareGroupState",
        "ReadShareGroupStateSummary",
    }
)
"""APIs that change nothing; all others are refused to a read-only client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """A request that was sent, and its response: None if it is of the kind that gets none."""

    peer: str
    version: int
    request: Request
    response: Response | None


def _creates_topics(body: Request) -> bool:
    """True if brokers with auto.create.topics.enable, their default, may create a topic for it."""
    return (
        isinstance(body, MetadataRequest)
        and body.allow_auto_topic_creation
        and any(topic.name for topic in body.topics or ())
    )


async def send_request(
    driver: Driver,
    request: type[Request],
    build: Callable[[int], Request],
    *,
    version: int | None = None,
    node_id: int | None = None,
    timeout: float | None = None,
) -> RawAnswer:
    """Send one request and return its answer; error codes in it are the caller's to judge.

    request, build: the API, and what returns the request for the version that is chosen.
    version: by default the highest that both sides have; a given one is not held against what
    the node offers. node_id: by default the first node that can be connected to.

    1. A read-only client sends nothing that may change the cluster.
    2. The request is sent once: a lost answer is AnswerLost, and it may have been carried out.

    Raises ReadOnly, NodeNotFound, UnsupportedVersion, what `build` raises, ConnectionFailed.
    """
    # 1.
    name = request.__name__.removesuffix("Request")
    if driver.read_only and name not in READING_APIS:
        raise ReadOnly(f"{name} may change the cluster, and this client is read-only")
    deadline = driver.deadline(timeout)

    # 2.
    async def send(connection: Connection, within: float) -> RawAnswer:
        chosen = connection.version_for(request) if version is None else version
        body = build(chosen)
        if driver.read_only and _creates_topics(body):
            raise ReadOnly(
                "Metadata with allowAutoTopicCreation may create the topics that it names, and"
                " this client is read-only: set it to false"
            )
        response = None
        if isinstance(body, ProduceRequest) and body.acks == 0:
            await connection.send_unanswered(body, chosen)
        else:
            response = await connection.send(body, chosen, timeout=deadline.remaining)
        return RawAnswer(peer=connection.peer, version=chosen, request=body, response=response)

    router = driver.router
    if node_id is None:
        return await router.call_once(send, deadline)
    nodes = (await router.cluster(deadline)).nodes
    if node_id not in nodes:
        known = ", ".join(map(str, sorted(nodes)))
        raise NodeNotFound(f"the cluster has no {router.noun} {node_id}, only {known}")
    return await router.call_once(send, deadline, nodes[node_id].address)
