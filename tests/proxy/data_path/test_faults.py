"""The bad inputs that a Kafka node meets pass to it untouched, and whoever watches sees them."""

import pytest

from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a52_vote import VoteRequest
from kwire.proxy import DecodedFlow, summarize
from tests.support.proxy.data_path.faulty_requests import (
    CONTROL,
    FAULTS,
    size,
)
from tests.support.proxy.dialogue import Dialogue, asked

pytestmark = pytest.mark.usefixtures("each_loop")


@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_a_fault_passes_untouched_and_is_told(step: int, subtests: pytest.Subtests) -> None:
    for fault, (data, said) in FAULTS.items():
        with subtests.test(fault):
            assert_passes_and_is_told(data, said, step)


def assert_passes_and_is_told(data: bytes, said: str | None, step: int) -> None:
    dialogue = Dialogue()
    chunks = [data[at : at + step] for at in range(0, len(data), step)]
    assert dialogue.ask(*chunks) == data
    dialogue.hang_up()
    told = [notice.text for notice in dialogue.notices]
    for flow in dialogue.flows:
        decoded = DecodedFlow(flow)
        assert summarize(decoded)
        told += decoded.problems
    if said is None:
        assert not told, "it waits: the relay's time limits tell"
    else:
        assert said in " | ".join(told)
    assert dialogue.copies.held == 0
    assert dialogue.notices or dialogue.flows or said is None


def test_two_pipelined_requests_are_two_flows() -> None:
    dialogue = Dialogue()
    dialogue.ask(CONTROL + asked(ApiVersionsRequest(), 4, 8))
    dialogue.hang_up()
    assert [flow.api for flow in dialogue.flows] == ["DescribeCluster", "ApiVersions"]


def test_a_good_request_byte_by_byte_is_one_flow() -> None:
    dialogue = Dialogue()
    dialogue.ask(*(bytes([byte]) for byte in CONTROL))
    dialogue.hang_up()
    assert [flow.request_copy for flow in dialogue.flows] == [CONTROL[4:]]


def test_a_frame_that_is_none_does_not_hide_the_frames_before_it() -> None:
    dialogue = Dialogue()
    dialogue.ask(asked(VoteRequest(), 2, 1) + size(-1) + b"whatever")
    dialogue.hang_up()
    assert [flow.api for flow in dialogue.flows] == ["Vote"]
    assert len(dialogue.notices) == 1
