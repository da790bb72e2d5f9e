"""Requests and their responses, and places to cut their bytes at."""

from hypothesis import strategies as st

from kwire.messages.a00_produce import ProduceRequest, ProduceResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from tests.support.proxy.dialogue import answered, asked

REQUESTS = (
    asked(ApiVersionsRequest(client_software_name="x"), 4, 0, "raft-client-3001"),
    asked(VoteRequest(voter_id=3000), 2, 1, "raft-client-3001"),
    asked(DescribeQuorumRequest(), 2, 2, None),
    asked(ProduceRequest(acks=0, transactional_id="t" * 300), 9, 3, "producer"),
    asked(ProduceRequest(acks=-1), 2, 4, ""),
)

RESPONSES = (
    answered(ApiVersionsResponse(), 4, 0),
    answered(VoteResponse(), 2, 1),
    answered(DescribeQuorumResponse(error_message="no " * 100), 2, 2),
    answered(ProduceResponse(), 2, 4),
)

cuts = st.lists(st.integers(0, 5000), max_size=40)
