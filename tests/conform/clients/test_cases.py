"""Every case is passed by the model client, and seen to fail with one that has its fault."""

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


async def played(case: ClientCase, kind: type[ModelClient]) -> tuple[Play, CheckResult]:
    usual, _ = await run_case(STARTS[case.task], ModelUnderTest(model_of(case)), None)
    return await run_case(case, ModelUnderTest(kind), usual)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_the_model_client_passes(case: ClientCase) -> None:
    play, result = await played(case, model_of(case))
    expected = (ConformanceVerdict.PASS, "", "")
    assert (result.verdict, result.came, result.reason) == expected, play.program


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_a_client_with_the_fault_fails(case: ClientCase) -> None:
    fault, model = fault_of(case.id), model_of(case)
    kind = fault if issubclass(fault, model) else type(fault.__name__, (fault, model), {})
    play, result = await played(case, kind)
    failed = (ConformanceVerdict.FAIL, ConformanceVerdict.DIFFERS)
    assert result.verdict in failed, (result.reason, play.program)


def test_every_fault_has_a_case() -> None:
    ids = {case.id for case in all_cases()}
    ids |= {case.id.rpartition("/")[0] for case in all_cases()}
    assert set(all_faults()) <= ids
