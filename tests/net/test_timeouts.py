"""Limits of time: derived as Java's defaults are, and read as Java's clients read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.admin import AdminClient
from kwire.errors import InvalidValue
from kwire.net.timeouts import Timeouts, merged, read_timeouts


def test_the_defaults_are_those_of_javas_clients() -> None:
    """AdminClientConfig: default.api.timeout.ms, request.timeout.ms, socket.connection.setup..."""
    limits = Timeouts()
    assert (limits.operation, limits.request_seconds, limits.connect_seconds) == (60, 30, 10)


def test_what_is_not_given_is_a_share_of_the_time_allowed() -> None:
    limits = Timeouts(operation=120)
    assert (limits.request_seconds, limits.connect_seconds) == (60, 20)
    assert Timeouts(operation=120, request=5).request_seconds == 5


def test_the_first_that_names_a_limit_decides() -> None:
    limits = merged({"request": None, "connect": 1.0}, {"request": 2.0}, {"request": 9.0})
    assert limits == Timeouts(operation=60, request=2, connect=1)


def test_an_operation_takes_as_long_as_a_request_may() -> None:
    """KafkaAdminClient.configureDefaultApiTimeoutMs."""
    assert merged({"request": 90.0}).operation == 90
    assert merged({"request": 90.0, "operation": 20.0}).operation == 20


@pytest.fixture
def properties(tmp_path: Path) -> Path:
    return tmp_path / "client.properties"


def test_the_properties_of_kafkas_clients_are_read(properties: Path) -> None:
    properties.write_text(
        "security.protocol=PLAINTEXT\ndefault.api.timeout.ms=90000\nrequest.timeout.ms= 45000\n"
        "socket.connection.setup.timeout.ms=2500\nsocket.connection.setup.timeout.max.ms=1\n"
    )
    assert read_timeouts(properties) == {"operation": 90, "request": 45, "connect": 2.5}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("request.timeout.ms=soon", "request.timeout.ms is a number of milliseconds above 0"),
        ("request.timeout.ms=0", "request.timeout.ms is a number of milliseconds above 0"),
        ("default.api.timeout.ms=-1", "default.api.timeout.ms is a number of milliseconds"),
        ("socket.connection.setup.timeout.ms=99999999999", "socket.connection.setup.timeout.ms"),
        (
            "default.api.timeout.ms=10000\nrequest.timeout.ms=20000",
            "default.api.timeout.ms must be no smaller than request.timeout.ms",
        ),
    ],
)
def test_a_limit_without_a_meaning_is_refused_with_its_line(
    properties: Path, text: str, reason: str
) -> None:
    properties.write_text(text)
    with pytest.raises(InvalidValue, match=f"client.properties:1: {reason}"):
        read_timeouts(properties)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_of_nothing_is_refused(seconds: float) -> None:
    for name in ("operation", "connect", "request"):
        with pytest.raises(InvalidValue, match="must be above 0 s"):
            Timeouts(**{name: seconds})
    with pytest.raises(InvalidValue, match="must be above 0 s"):
        AdminClient(bootstrap_servers="a:1", timeout=seconds)
