"""Every case is passed by the model client, and seen to fail with one that has its fault."""

import asyncio
from collections.abc import Callable

import pytest

from kwire.conform.clients.case import ClientCase
from kwire.conform.clients.play import Play
from kwire.conform.clients.run_case import run_case
from kwire.conform.clients.suite import all_cases
from kwire.conform.result import CheckResult
from kwire.conform.vocabulary import ConformanceVerdict
from tests.support.conform.clients.cases import all_faults, fault_of, model_of
from tests.support.conform.clients.model_client import TASKS, ModelClient, ModelUnderTest

CASES = [case for case in all_cases() if case.task in TASKS]
STARTS = {case.task: case for case in all_cases() if case.id.startswith("client/start/")}
SECTIONS = list(dict.fromkeys(case.id.rpartition("/")[0] for case in CASES))
TOGETHER = 12
"""Cases at once: most of their time they wait, as clients do."""

Kind = Callable[[ClientCase], type[ModelClient]]


async def played(section: str, kind: Kind) -> list[tuple[Play, CheckResult]]:
    """Play the cases of a section with a client made for each."""
    gate = asyncio.Semaphore(TOGETHER)

    async def play(case: ClientCase) -> tuple[Play, CheckResult]:
        async with gate:
            usual, _ = await run_case(STARTS[case.task], ModelUnderTest(model_of(case)), None)
            return await run_case(case, ModelUnderTest(kind(case)), usual)

    cases = [case for case in CASES if case.id.rpartition("/")[0] == section]
    return await asyncio.gather(*map(play, cases))


def with_fault(case: ClientCase) -> type[ModelClient]:
    """Return the model client with the fault of a case."""
    fault, model = fault_of(case.id), model_of(case)
    return fault if issubclass(fault, model) else type(fault.__name__, (fault, model), {})


@pytest.mark.costly
@pytest.mark.parametrize("section", SECTIONS)
async def test_the_model_client_passes(section: str) -> None:
    failed = [
        (result.id, result.came, result.reason, play.program)
        for play, result in await played(section, model_of)
        if result.verdict is not ConformanceVerdict.PASS
    ]
    assert failed == []


@pytest.mark.costly
@pytest.mark.parametrize("section", SECTIONS)
async def test_a_client_with_the_fault_fails(section: str) -> None:
    failing = (ConformanceVerdict.FAIL, ConformanceVerdict.DIFFERS)
    missed = [
        (result.id, result.reason, play.program)
        for play, result in await played(section, with_fault)
        if result.verdict not in failing
    ]
    assert missed == []


def test_every_fault_has_a_case() -> None:
    ids = {case.id for case in all_cases()}
    ids |= {case.id.rpartition("/")[0] for case in all_cases()}
    assert set(all_faults()) <= ids
