"""A plan has the requests to send, their order, and the answers that they wait for."""

from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import Flow
from kwire.proxy.capture.replay.plan import plan_replay
from kwire.proxy.flows.language import parse
from tests.support.proxy.capture.replay.recorded_flows import flow, records


def metadata(at: float, latency: float = 0.1, number: int = 1) -> Flow:
    return flow(MetadataRequest(), MetadataResponse(), 12, at=at, latency=latency, number=number)


def test_requests_wait_for_the_answers_that_had_come_before_them() -> None:
    """The second one was sent while the first, a long poll on another connection, was open."""
    poll, short = metadata(10.0, latency=5.0), metadata(11.0, number=2)
    made = plan_replay(records(poll, short, metadata(12.0, number=2), metadata(20.0, number=3)))
    assert [step.after for step in made.steps] == [(), (), (1,), (2, 0)]
    assert [step.wait for step in made.steps] == [0.0, 1.0, 2.0, 10.0]
    assert [step.last for step in made.steps] == [True, False, True, True]


def test_steps_are_in_the_order_of_the_requests_and_not_of_their_ends() -> None:
    made = plan_replay(records(metadata(2.0), metadata(1.0, latency=5.0)))
    assert [step.flow.at for step in made.steps] == [1.0, 2.0]


def test_what_cannot_be_sent_is_counted_with_its_reason() -> None:
    password = AlterableConfig(name="ssl.key.password", value="hunter2")
    resource = AlterConfigsResource(resource_type=4, configs=[password])
    alter = IncrementalAlterConfigsRequest(resources=[resource])
    cut = metadata(3.0)
    cut.request_size += 1
    lost = metadata(4.0)
    lost.request_copy = None
    made = plan_replay(
        records(
            flow(SaslHandshakeRequest(mechanism="PLAIN"), SaslHandshakeResponse(), 1),
            flow(alter, IncrementalAlterConfigsResponse(), 1),
            flow(VoteRequest(), VoteResponse(), 2),
            cut,
            lost,
            metadata(5.0),
        )
    )
    assert len(made.steps) == 1
    assert made.left_out == {
        "of authentication": 1,
        "with secrets or names that are not in the capture": 1,
        "from one node to another, which an expression would have sent": 1,
        "cut in the capture": 1,
        "not in the capture": 1,
    }


def test_an_expression_says_what_is_sent_nodes_own_requests_included() -> None:
    flows = (flow(VoteRequest(), VoteResponse(), 2), metadata(1.0))
    made = plan_replay(records(*flows), parse("~api Vote"))
    assert [step.flow.api for step in made.steps] == ["Vote"]
    assert not made.left_out
