"""The raft core under a seeded scheduler with virtual time: what may never happen is looked for.

    result = run("canElectInitialLeader", seed=17)
    result.violation, result.events, result.trace

A *scenario* (`kafka_scenarios`, `storms`, `broker_scenarios`) drives a *cluster* of *machines*: a
replica, its disk, its clock and a *state machine* each: a `counter`, or the `metadata` that the
controller's handlers write for *brokers* and *admins*. The *network* and the *storm* do the harm,
the *invariants* and, for brokers, `eligibility` are checked after every event. One seed is one
history, on every computer.
`python -m controller.simulator --help` runs many seeds.
"""

from controller.simulator.runner import Result, run, scenario_names
from controller.simulator.violation import Violation

__all__ = ["Result", "Violation", "run", "scenario_names"]
