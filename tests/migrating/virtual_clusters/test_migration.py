"""Real controllers migrate from a ZooKeeper in virtual time; it is equal to the log at the end."""

from collections import Counter
from pathlib import Path

import pytest

from migrating.virtual_clusters.moments import MOMENTS
from migrating.virtual_clusters.occurrences import COPY_WITHOUT_OFFSET, EXPECTED
from migrating.virtual_clusters.scenarios import MIGRATION_SCENARIOS, migration_in_each_state
from tests.support.seed import SEED
from virtual_nodes.play import play


@pytest.mark.parametrize("name", MIGRATION_SCENARIOS)
def test_zookeeper_has_everything_that_is_acknowledged(name: str, tmp_path: Path) -> None:
    result = play(MIGRATION_SCENARIOS[name], SEED, tmp_path)
    assert not result.violations, result.report
    assert result.counts["claims"] > 0
    assert result.counts["topics acknowledged"] > 0 or name != "migration", result.report


def test_no_broker_takes_over_while_a_copy_is_not_noted(tmp_path: Path) -> None:
    """The next leader takes that for a migration that an operator took back."""
    result = play(migration_in_each_state, 635, tmp_path)
    assert result.counts[COPY_WITHOUT_OFFSET] == 1
    assert not result.violations, result.report


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_every_fault_takes_place_in_every_state_of_the_driver(tmp_path: Path) -> None:
    """As many seeds in a row as there are moments have them all."""
    occurred: Counter[str] = Counter()
    for seed in range(1, len(MOMENTS) + 1):
        result = play(migration_in_each_state, seed, tmp_path / str(seed))
        assert not result.violations, result.report
        occurred.update(result.counts)
    assert [name for name in EXPECTED if not occurred[name]] == []
