"""The run of a plan on scripted brokers: what fails keeps nothing else from being tried."""

from typing import cast

import pytest

from kwire.admin import AdminClient
from kwire.admin.registry import OperationRow
from kwire.cluster_document import apply_run
from kwire.cluster_document.apply_plan import ApplyPlan, plan_application
from kwire.cluster_document.apply_run import run_steps, settled, step_results
from kwire.cluster_document.document import ClusterDocument
from kwire.errors import BrokerError, ConnectionFailed
from kwire.messages import a19_create_topics as creation
from kwire.messages import a49_alter_client_quotas as quotas
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import scripted_brokers

TOPICS = 600
DOCUMENT = ClusterDocument.model_validate(
    {
        "version": 1,
        "topics": [{"name": f"t{number:03}", "partitions": 1} for number in range(TOPICS)],
        "quotas": [{"entity": {"user": "alice"}, "quotas": {"producer_byte_rate": 1.0}}],
    }
)
EMPTY = ClusterDocument.model_validate({"version": 1, "topics": [], "quotas": []})
PLAN = plan_application(EMPTY, DOCUMENT)
DONE = plan_application(DOCUMENT, DOCUMENT)


def create(request: RequestFrame) -> creation.CreateTopicsResponse:
    """Create any topic but t003, which is there."""
    topics = cast(creation.CreateTopicsRequest, request.body).topics
    return creation.CreateTopicsResponse(
        topics=[
            creation.CreatableTopicResult(name=topic.name, error_code=36 * (topic.name == "t003"))
            for topic in topics
        ]
    )


def alter_quotas(request: RequestFrame) -> quotas.AlterClientQuotasResponse:
    entity = [quotas.EntityData(entity_type="user", entity_name="alice")]
    entry = quotas.ResponseEntryData(entity=entity)
    return quotas.AlterClientQuotasResponse(entries=[entry])


async def test_a_refused_step_keeps_no_other_from_being_tried() -> None:
    told: list[tuple[int, int, str]] = []

    def progress(tried: int, steps: int, operation: OperationRow) -> None:
        told.append((tried, steps, operation.name))

    async with scripted_brokers(1) as brokers, AdminClient(brokers.addresses[0]) as admin:
        brokers.nodes[0].scripts[creation.CreateTopicsRequest] = create
        brokers.nodes[0].scripts[quotas.AlterClientQuotasRequest] = alter_quotas
        errors = await run_steps(admin.driver, PLAN.steps, progress)
    failed = {id: error for id, error in errors.items() if error is not None}
    assert [*failed] == [("create_topics", "t003")]
    assert len(errors) == TOPICS + 1
    # A topic with a partition are two records.
    assert told == [
        (125, 601, "create_topics"),
        (250, 601, "create_topics"),
        (375, 601, "create_topics"),
        (500, 601, "create_topics"),
        (600, 601, "create_topics"),
        (601, 601, "alter_client_quotas"),
    ]
    (error,) = failed.values()
    # It is there, whoever made it.
    (result,) = (r for r in step_results(PLAN, DONE, errors) if r.error)
    assert (result.is_there, result.error) == (True, error)
    assert isinstance(error, BrokerError)
    missing = step_results(PLAN, PLAN, errors)
    assert [result.is_there for result in missing] == [False] * (TOPICS + 1)


async def test_a_cluster_that_is_gone_is_not_asked_for_each_batch() -> None:
    async with AdminClient("127.0.0.1:1", timeout=0.2) as admin:
        errors = await run_steps(admin.driver, PLAN.steps, lambda *progress: None)
    assert len(errors) == 125
    assert all(isinstance(error, ConnectionFailed) for error in errors.values())
    untried = [result for result in step_results(PLAN, None, errors) if not result.is_tried]
    assert len(untried) == TOPICS + 1 - 125


@pytest.mark.parametrize(("seconds", "reads"), [(60.0, 3), (0.0, 1)])
async def test_the_cluster_is_read_until_it_shows_what_it_took(
    seconds: float, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply_run, "PAUSE", 0)
    answers = [PLAN, PLAN, DONE]
    count = 0

    async def plan_again() -> ApplyPlan:
        nonlocal count
        count += 1
        return answers[count - 1]

    left = await settled(plan_again, {step.id: None for step in PLAN.steps}, seconds)
    assert (count, left.differs) == (reads, reads == 1)


async def test_nobody_waits_for_what_was_refused() -> None:
    refused = {step.id: BrokerError(41) for step in PLAN.steps}

    async def plan_again() -> ApplyPlan:
        return PLAN

    assert (await settled(plan_again, refused, 60.0)).differs
