"""The scenarios of virtual nodes that take too long for the tier check."""

from collections.abc import Iterable
from typing import Any

import pytest

COSTLY = {
    "broken_handshakes",
    "brokers_come_and_go",
    "brokers_outlive_controllers",
    "certificates_renewed",
    "leaders_cut_off",
    "migration_in_each_state",
    "one_request_of_4900_topics",
    "passwords_altered",
    "paused_between_callbacks",
    "paused_in_a_request",
    "shared_names",
}
"""Those of which some seed takes 0.9 s of CPU, on a busy machine more than twice as much."""


def marked(scenarios: Iterable[str], names: Iterable[str] | None = None) -> list[Any]:
    """Return the parameters of tests that play scenarios; names: of the tests, if they differ."""
    scenarios = tuple(scenarios)
    return [
        pytest.param(name, marks=pytest.mark.costly if scenario in COSTLY else ())
        for name, scenario in zip(names or scenarios, scenarios, strict=True)
    ]
