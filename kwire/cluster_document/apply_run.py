"""Carries out a plan, batch by batch, and looks whether the cluster has become so.

An answer that was lost, or a refusal because somebody else was faster, says nothing of the cluster:
what counts in the end is what it says itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any

from kwire.admin import registry
from kwire.admin.acls import create_acls
from kwire.admin.configs import incremental_alter_configs
from kwire.admin.driver import Driver
from kwire.admin.features import update_features
from kwire.admin.outcomes import Outcomes
from kwire.admin.quotas import alter_client_quotas
from kwire.admin.reassignments import alter_partition_reassignments
from kwire.admin.registry import OperationRow
from kwire.admin.scram import alter_user_scram_credentials
from kwire.admin.topics import create_partitions, create_topics
from kwire.cluster_document.apply_plan import ApplyPlan
from kwire.cluster_document.apply_step import ApplyStep
from kwire.errors import ConnectionFailed, KwireError

RECORDS = 250
"""Records of one batch, so that progress is told every moment, and each batch has the
time of an operation."""

PAUSE = 0.3
"""Seconds before the cluster is read again that does not show all changes yet."""

StepErrors = Mapping[tuple[str, Hashable], KwireError | None]
"""The error of each step that was tried, by its id; None for one that the cluster took."""

StepProgress = Callable[[int, int, OperationRow], None]
"""Called after each batch: with steps tried, all steps, and the operation."""


async def run_steps(
    driver: Driver, steps: Sequence[ApplyStep], progress: StepProgress
) -> StepErrors:
    """Try every step in order; a step that fails does not keep the others from being tried.

    If nobody can be connected to, the rest is not tried, and has no error.
    """
    errors: dict[tuple[str, Hashable], KwireError | None] = {}
    for operation, batch in _batches(steps):
        try:
            outcomes = await _RUN[operation](driver, {step.key: step.argument for step in batch})
            found = outcomes.entries()
            errors.update((step.id, _error(found[step.key])) for step in batch)
        except ConnectionFailed as error:
            errors.update((step.id, error) for step in batch)
            break
        except KwireError as error:
            errors.update((step.id, error) for step in batch)
        progress(len(errors), len(steps), operation)
    return errors


def _error(outcome: object) -> KwireError | None:
    return outcome if isinstance(outcome, KwireError) else None


def _batches(steps: Sequence[ApplyStep]) -> Iterator[tuple[OperationRow, list[ApplyStep]]]:
    for operation, group in groupby(steps, lambda step: step.operation):
        batch: list[ApplyStep] = []
        for step in group:
            if batch and sum(other.records for other in batch) + step.records > RECORDS:
                yield operation, batch
                batch = []
            batch.append(step)
        yield operation, batch


def check_allowed(driver: Driver, plan: ApplyPlan) -> None:
    """Raise ReadOnly or UnsupportedEndpointType for a plan that the nodes must not be sent."""
    for operation in dict.fromkeys(step.operation for step in plan.steps):
        driver.check_allowed(operation)


async def settled(
    plan_again: Callable[[], Awaitable[ApplyPlan]], errors: StepErrors, seconds: float
) -> ApplyPlan:
    """Return what is left to do, once the cluster shows all changes that it took.

    plan_again: reads the cluster and plans. seconds: after which the answer is what it shows.
    """
    done = {id for id, error in errors.items() if error is None}
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        left = await plan_again()
        if done.isdisjoint(step.id for step in left.steps) or loop.time() >= end:
            return left
        await asyncio.sleep(PAUSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The end of one step. is_there: the cluster has it; error: None if none was told.

    is_tried: False if the nodes could not be asked. is_new: True if no plan had it before.
    """

    step: ApplyStep
    is_there: bool
    error: KwireError | None
    is_tried: bool = True
    is_new: bool = False


def step_results(plan: ApplyPlan, left: ApplyPlan | None, errors: StepErrors) -> list[StepResult]:
    """Return the end of each planned step, and of those that the cluster needs besides by now.

    left: the plan afterwards; None if the cluster could not be read.
    """
    missing = None if left is None else {step.id for step in left.steps}
    planned = {step.id for step in plan.steps}
    results = [
        StepResult(
            step=step,
            is_there=missing is not None and step.id not in missing,
            error=errors.get(step.id),
            is_tried=step.id in errors,
        )
        for step in plan.steps
    ]
    besides = [] if left is None else [step for step in left.steps if step.id not in planned]
    results += [StepResult(step=s, is_there=False, error=None, is_new=True) for s in besides]
    return results


_Run = Callable[[Driver, Mapping[Any, Any]], Awaitable[Outcomes[Any, Any]]]

_RUN: Mapping[OperationRow, _Run] = MappingProxyType(
    {
        registry.UPDATE_FEATURES: update_features,
        registry.CREATE_TOPICS: lambda driver, steps: create_topics(driver, steps.values()),
        registry.CREATE_PARTITIONS: create_partitions,
        registry.ALTER_PARTITION_REASSIGNMENTS: alter_partition_reassignments,
        registry.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs,
        registry.ALTER_CLIENT_QUOTAS: alter_client_quotas,
        registry.ALTER_USER_SCRAM_CREDENTIALS: lambda driver, steps: alter_user_scram_credentials(
            driver, steps.values()
        ),
        registry.CREATE_ACLS: create_acls,
    }
)
