"""Flows of messages that went through the framers."""

from kwire.codec.declaration import Request, Response
from kwire.messages.a52_vote import (
    PartitionData,
    ResponsePartitionData,
    ResponseTopicData,
    TopicData,
    VoteRequest,
    VoteResponse,
)
from kwire.proxy import Copies, DecodedFlow, Flow
from tests.support.proxy.dialogue import Dialogue, answered, asked


def votes(count: int, padding: int = 0) -> list[Flow]:
    """Return as many flows of Votes, whose requests are padded."""
    dialogue = Dialogue()
    partition = PartitionData(replica_id=3001)
    topics = [TopicData(topic_name="__cluster_metadata", partitions=[partition])]
    for number in range(count):
        request = VoteRequest(cluster_id="c" * padding, topics=topics)
        dialogue.ask(asked(request, 2, number))
        answer = ResponseTopicData(partitions=[ResponsePartitionData(error_code=74)])
        dialogue.answer(answered(VoteResponse(topics=[answer]), 2, number))
    return dialogue.flows


def decoded(
    request: bytes, response: bytes | None = None, copies: Copies | None = None
) -> DecodedFlow:
    """The one flow of a request and a response."""
    dialogue = Dialogue(copies=copies or Copies())
    dialogue.ask(request)
    if response is not None:
        dialogue.answer(response)
    dialogue.hang_up()
    (flow,) = dialogue.flows
    return DecodedFlow(flow)


def rpc(request: Request, response: Response, version: int) -> DecodedFlow:
    """The flow of two messages."""
    return decoded(asked(request, version, 1), answered(response, version, 1))
