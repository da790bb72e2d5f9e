"""Allow the removal of a voter only while there are three or more; ask the quorum first."""

from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.proxy import Answer, Call, Filter

METADATA = TopicData(
    topic_name="__cluster_metadata",
    partitions=[PartitionData(partition_index=0)],
)


class KeepTwoVoters(Filter):
    async def on_remove_raft_voter_request(
        self, request: RemoveRaftVoterRequest, call: Call
    ) -> Answer | None:
        told = await call.ask(DescribeQuorumRequest(topics=[METADATA]), version=2)
        assert isinstance(told, DescribeQuorumResponse)
        voters = told.topics[0].partitions[0].current_voters
        if len(voters) > 2:
            return None
        message = f"{len(voters)} voters are left"
        return Answer(RemoveRaftVoterResponse(error_code=44, error_message=message))
