"""`kwire quorum forget` refuses controllers that take part, and only these."""

from collections.abc import Iterator
from typing import cast

import pytest

from kwire.codec.declaration import Response
from kwire.error_codes import ErrorCode
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    ReplicaState,
    ResponsePartitionData,
)
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kwire.net.frames import RequestFrame
from scripted_quorum import quorum_answer
from tests.support.cli.command import Command, Run
from tests.support.doctor.controllers import controllers_beside

NOW = 1_800_000_000_000
AGE_MS = {0: 0, 7: 400, 8: 60_000}
"""The leader, an observer that fetches, and one that the leader has not dropped yet."""

REGISTERED = (0, 7, 8, 9)


def quorum(request: RequestFrame) -> Response:
    answer = quorum_answer()
    partition: ResponsePartitionData = answer.topics[0].partitions[0]
    replicas = [
        ReplicaState(replica_id=id, last_fetch_timestamp=NOW - age) for id, age in AGE_MS.items()
    ]
    partition.current_voters, partition.observers = replicas[:1], replicas[1:]
    return answer


def forgotten(request: RequestFrame) -> Response:
    known = cast(UnregisterControllerRequest, request.body).controller_id in REGISTERED
    code = ErrorCode.NONE if known else ErrorCode.CONTROLLER_ID_NOT_REGISTERED
    return UnregisterControllerResponse(error_code=code)


@pytest.fixture
def forget() -> Iterator[tuple[str, ...]]:
    """The command, up to the ids."""
    with controllers_beside(1) as controllers:
        [node] = controllers.quorum.nodes
        node.scripts |= {DescribeQuorumRequest: quorum, UnregisterControllerRequest: forgotten}
        yield "quorum", "forget", "--yes", "--json", "--bootstrap-controller", node.address


def rows(run: Run) -> list[tuple[int, str | None]]:
    return [(row["id"], row["error"]) for row in run.json["controllers"]]


def test_a_controller_that_has_stopped_is_forgotten(
    kwire: Command, forget: tuple[str, ...]
) -> None:
    """The leader lists an observer for five minutes after its last fetch (LeaderState)."""
    run = kwire(*forget, "8", "9")
    assert run.code == 0, run.err
    assert rows(run) == [(8, None), (9, None)]


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        (["9", "0"], "controller 0 is a voter: kwire quorum remove-controller 0 first"),
        (["7"], "controller 7 fetched from the leader less than 5 s ago, and would register again"),
    ],
)
def test_a_participant_is_refused_and_nothing_changes(
    kwire: Command, forget: tuple[str, ...], ids: list[str], sentence: str
) -> None:
    assert sentence in kwire(*forget, *ids).error
    assert kwire(*forget, "--force", *ids).code == 0


def test_one_that_is_not_registered_fails_beside_the_others(
    kwire: Command, forget: tuple[str, ...]
) -> None:
    run = kwire(*forget, "9", "10")
    assert run.code == 1
    assert rows(run) == [(9, None), (10, "CONTROLLER_ID_NOT_REGISTERED")]
