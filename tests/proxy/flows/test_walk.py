"""Error codes are found at every level of a message."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import PAIRS
from engines.strategies import objects
from kwire.codec.declaration import Message, Response
from kwire.messages.a56_alter_partition import (
    AlterPartitionResponse,
    ResponsePartitionData,
    ResponseTopicData,
)
from kwire.proxy.flows.walk import failures, has_failures

RESPONSES = [pair for pair in PAIRS if issubclass(pair[0], Response)]


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(RESPONSES))
def test_a_message_has_failures_if_one_is_found(
    data: st.DataObject, pair: tuple[type[Message], int]
) -> None:
    response = data.draw(objects(*pair))
    assert has_failures(response) is bool(list(failures(response)))


def test_an_error_code_counts_wherever_it_stands() -> None:
    def answered(code: int) -> AlterPartitionResponse:
        partitions = [ResponsePartitionData(), ResponsePartitionData(error_code=code)]
        return AlterPartitionResponse(topics=[ResponseTopicData(partitions=partitions)])

    assert not has_failures(answered(0))
    assert has_failures(answered(107))
    assert has_failures(AlterPartitionResponse(error_code=41))
