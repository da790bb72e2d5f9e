"""Properties of every handler."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from kwire.codec.declaration import Request
from kwire.codec.versions import Versions
from kwire.controller.handlers.registry import HANDLERS, Handler
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignableTopic,
)
from kwire.messages.a56_alter_partition import AlterPartitionRequest, TopicData
from tests.support.controller.handlers.delegation_tokens import (
    creation,
    expiry,
    renewal,
    token_lab,
)
from tests.support.controller.handlers.lab import Lab
from tests.support.controller.live.answer_differences import flat
from tests.support.controller.live.session import deadlines

NOT_CONTROLLER = ErrorCode.NOT_CONTROLLER
NOT_AT_KAFKAS = 48
"""DescribeClientQuotas, which KIP-919 lists, and Kafka's schema has for brokers alone."""


def every(subtests: pytest.Subtests) -> Iterator[tuple[Handler, int, AbstractContextManager[None]]]:
    """Yield the handlers, each at each of its versions, and the subtest for it."""
    for handler in HANDLERS.values():
        for version in handler.versions:
            yield handler, version, subtests.test(f"{handler.request.__name__} v{version}")


def test_an_error_of_the_whole_request_can_be_said_at_every_version(
    subtests: pytest.Subtests,
) -> None:
    error = ApiError(ErrorCode.NOT_CONTROLLER, "not here")
    for handler, version, subtest in every(subtests):
        with subtest:
            response = handler.refuse(handler.request(), version, error)

            assert type(response).decode(response.encode(version), version) is not None


def test_an_empty_request_has_an_answer_that_can_be_written(
    make_lab: Callable[..., Lab], subtests: pytest.Subtests
) -> None:
    for handler, version, subtest in every(subtests):
        with subtest:
            lab = make_lab()
            lab.start(1)

            lab.ask(handler.request(), version)


def test_a_controller_that_does_not_lead_writes_nothing(
    make_lab: Callable[..., Lab], subtests: pytest.Subtests
) -> None:
    for handler, version, subtest in every(subtests):
        with subtest:
            lab = make_lab()
            lab.start(1)
            lab.controller.resign()

            answer = lab.answer(handler.request(), version)

            answer.response.encode(version)
            assert (answer.records, answer.wait_for) == ((), None)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (ElectLeadersRequest(topic_partitions=[]), 0),
        (ElectLeadersRequest(election_type=9, topic_partitions=[]), 0),
        (ElectLeadersRequest(topic_partitions=None), NOT_CONTROLLER),
        (AlterPartitionRequest(), 0),
        (AlterPartitionRequest(topics=[TopicData()]), NOT_CONTROLLER),
        (AlterPartitionReassignmentsRequest(), 0),
        (AlterPartitionReassignmentsRequest(topics=[ReassignableTopic()]), NOT_CONTROLLER),
        (creation(), NOT_CONTROLLER),
        (creation(owner_principal_name="bob"), ErrorCode.UNKNOWN_SERVER_ERROR),
        (renewal(b""), NOT_CONTROLLER),
        (expiry(b""), NOT_CONTROLLER),
    ],
)
def test_requests_that_need_no_leader_are_answered_by_every_controller(
    request_: Request, code: int
) -> None:
    """Kafka's ControllerApis and QuorumController look at these before they look who leads."""
    lab = token_lab()
    lab.controller.resign()
    assert lab.ask(request_).error_code == code


@pytest.mark.parametrize("request_", [creation(), renewal(b""), expiry(b"")])
def test_who_may_not_ask_for_tokens_hears_so_from_every_controller(request_: Request) -> None:
    lab = token_lab()
    lab.controller.resign()
    answer = lab.ask(request_, by_delegation_token=True)
    assert answer.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


REFUSED = {
    "CreateTopics of refused ones": {ErrorCode.INVALID_REQUEST},
    "CreateTopics of none": set(),
    "DeleteTopics of one twice": {ErrorCode.INVALID_REQUEST},
    "DeleteTopics of neither": {ErrorCode.INVALID_REQUEST},
    "DeleteTopics of none": set(),
    "CreatePartitions of one twice": {ErrorCode.INVALID_REQUEST},
    "CreatePartitions of none": set(),
    "ElectLeaders of none": set(),
    "AlterPartitionReassignments of none": set(),
    "ListPartitionReassignments": set(),
}
"""The codes of what is answered without time and without a leader."""


def codes(lab: Lab, request: Request, limit_ms: int) -> set[int]:
    """Return the error codes of an answer."""
    answer = lab.ask(request.replace(timeout_ms=limit_ms))
    fields = flat(answer, 3000).items()
    return {value for path, value in fields if path.endswith("error_code") and value}


@pytest.mark.parametrize("limit_ms", [0, -1, -(2**31)])
@pytest.mark.parametrize("active", [True, False])
def test_a_request_without_time_changes_nothing(
    make_lab: Callable[..., Lab], limit_ms: int, active: bool
) -> None:
    """Codes of Kafka 4.3.1 and 4.4.0; UpdateFeatures has a limit that they do not look at."""
    lab = make_lab()
    lab.start(1, 2)
    lab.create(deadlines.PRESENT, (1,))
    if not active:
        lab.controller.resign()
    before = lab.image
    late = {name: {ErrorCode.REQUEST_TIMED_OUT} for name in deadlines.REQUESTS}
    late["UpdateFeatures"] = {ErrorCode.INVALID_UPDATE_VERSION if active else NOT_CONTROLLER}

    found = {name: codes(lab, request, limit_ms) for name, request in deadlines.REQUESTS.items()}

    assert found == late | REFUSED
    assert lab.image is before


def test_a_controller_that_does_not_lead_answers_what_asks_it_for_no_change(
    make_lab: Callable[..., Lab],
) -> None:
    lab = make_lab()
    lab.start(1, 2)
    lab.create(deadlines.PRESENT, (1,))
    lab.controller.resign()

    found = {name: codes(lab, request, 9000) for name, request in deadlines.REQUESTS.items()}

    others = {name: {NOT_CONTROLLER} for name in deadlines.REQUESTS}
    assert found == others | REFUSED


def test_handlers_only_answer_versions_that_are_declared() -> None:
    for key, handler in HANDLERS.items():
        declared: Versions = handler.request.versions
        assert key == handler.request.key
        assert set(handler.versions) <= set(declared)
        assert "controller" in handler.request.listeners or key == NOT_AT_KAFKAS


def test_versions_are_those_that_a_real_controller_advertises() -> None:
    """Kafka 4.4.0 answers ApiVersions at its controller listener with these; 48 is a broker's."""
    advertised = {
        19: "2-7", 20: "1-6", 29: "1-3", 30: "1-3", 31: "1-3", 32: "1-4", 33: "0-2", 37: "0-3",
        38: "1-3", 39: "1-2", 40: "1-2", 41: "1-3",
        43: "0-2", 44: "0-1", 45: "0-1", 46: "0", 48: "0-1", 49: "0-1", 50: "0", 51: "0",
        56: "2-3", 57: "0-2",
        60: "0-2", 62: "0-4", 63: "0-2", 64: "0", 67: "0", 70: "0", 73: "0", 94: "0",
    }  # fmt: skip
    assert {key: str(handler.versions) for key, handler in HANDLERS.items()} == advertised


def test_every_handler_has_its_tests_in_the_file_of_its_name() -> None:
    for handler in HANDLERS.values():
        name = handler.handle.__module__.rsplit(".", 1)[-1]
        assert Path(__file__).with_name(f"test_{name}.py").exists()
