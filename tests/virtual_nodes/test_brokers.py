"""Brokers in virtual time: KIP-841 and KIP-966 hold after every batch, and no answer is undone."""

from pathlib import Path

import pytest

from tests.support.seed import SEED
from virtual_nodes.brokers.scenarios import BROKER_SCENARIOS
from virtual_nodes.play import play


@pytest.mark.costly
@pytest.mark.parametrize("name", BROKER_SCENARIOS)
def test_isrs_and_leaders_keep_the_rules(name: str, tmp_path: Path) -> None:
    result = play(BROKER_SCENARIOS[name], SEED, tmp_path)
    assert not result.violations, result.report
    assert result.faults.total(), "no fault took place"
    assert result.counts["registrations acknowledged"] > 0, result.report
    assert result.counts["ISRs acknowledged"] > 0, result.report
    assert result.counts["clients' changes acknowledged"] > 0, result.report
    assert result.counts["settings set"] > 0, result.report


@pytest.mark.costly
def test_an_election_of_the_preferred_replica_may_end_a_move_in_its_place(tmp_path: Path) -> None:
    # With this seed it does; the preferred replica never leads, and the answer is no error.
    result = play(BROKER_SCENARIOS["brokers_come_and_go"], 15258008, tmp_path)
    assert not result.violations, result.report
