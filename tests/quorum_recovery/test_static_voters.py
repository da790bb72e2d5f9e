"""Static voters elect whom they will: a plan for them must not depend on who starts first."""

from __future__ import annotations

import pytest

from kwire.quorum_recovery.errors import RecoveryRefused
from kwire.quorum_recovery.plan import plan_recovery
from kwire.quorum_recovery.survivor import Survivor, read_survivor
from memory_files import MemoryFileSystem
from simulator.recoverable import RecoverableCluster
from simulator.recovered_disk import folder_of, write_directory
from simulator.run import Run
from tests.support.seed import SEED


def three_of_seven() -> list[Survivor]:
    """Return three survivors of a static quorum of seven; the third has more than the others."""
    run = Run(SEED)
    cluster = RecoverableCluster(run.random, 7, 0, dynamic=False, traced=False)
    cluster.start_all()
    leader = run.warm_up(cluster)
    left = [id for id in cluster.voter_ids if id != leader][:2]
    for id in left:
        cluster.kill(id)
    cluster.scheduler.run_for(2000)
    fs = MemoryFileSystem()
    machines = [cluster.machines[id] for id in (*left, leader)]
    for machine in machines:
        machine.kill()
        write_directory(machine, fs, run.random)
    return [read_survivor(folder_of(machine), fs) for machine in machines]


def test_three_of_which_two_are_behind_are_refused() -> None:
    *behind, chosen = three_of_seven()
    with pytest.raises(RecoveryRefused, match="could elect a leader that lacks what controller"):
        plan_recovery([*behind, chosen])


def test_two_of_which_one_is_behind_need_each_others_votes() -> None:
    behind, _, chosen = three_of_seven()
    plan = plan_recovery([behind, chosen])
    assert plan.static
    assert plan.chosen.node_id == chosen.node_id
    assert plan.comparisons[1].missing > 0
