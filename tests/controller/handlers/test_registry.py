"""What holds for every handler."""

from typing import Any

import pytest

from kwire.codec.versions import Versions
from kwire.controller.errors import ApiError
from kwire.controller.handlers.registry import HANDLERS, Handler
from kwire.error_codes import ErrorCode

EVERY = [
    pytest.param(handler, version, id=f"{handler.request.__name__} v{version}")
    for handler in HANDLERS.values()
    for version in handler.versions
]


@pytest.mark.parametrize(("handler", "version"), EVERY)
def test_an_error_of_the_whole_request_can_be_said_at_every_version(
    handler: Handler, version: int
) -> None:
    error = ApiError(ErrorCode.NOT_CONTROLLER, "not here")

    response = handler.refuse(handler.request(), version, error)

    assert type(response).decode(response.encode(version), version) is not None


@pytest.mark.parametrize(("handler", "version"), EVERY)
def test_an_empty_request_has_an_answer_that_can_be_written(
    lab: Any, handler: Handler, version: int
) -> None:
    lab.start(1)

    lab.ask(handler.request(), version)


@pytest.mark.parametrize(("handler", "version"), EVERY)
def test_a_controller_that_does_not_lead_writes_nothing(
    lab: Any, handler: Handler, version: int
) -> None:
    lab.start(1)
    lab.controller.resign()

    answer = lab.answer(handler.request(), version)

    answer.response.encode(version)
    assert (answer.records, answer.wait_for) == ((), None)


def test_handlers_only_answer_versions_that_are_declared() -> None:
    for key, handler in HANDLERS.items():
        declared: Versions = handler.request.versions
        assert key == handler.request.key
        assert set(handler.versions) <= set(declared)
        assert "controller" in handler.request.listeners
