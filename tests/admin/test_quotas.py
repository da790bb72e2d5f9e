"""Client quotas: entities with defaults, exact filters, an outcome for each entity."""

import pytest

from kwire.admin import AdminClient
from kwire.admin.quotas import QuotaEntity, QuotaFilter
from kwire.errors import BrokerError, InvalidValue
from kwire.messages import a48_describe_client_quotas as described
from kwire.messages import a49_alter_client_quotas as altered
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

ALICE = QuotaEntity.of(user="alice")
ALICES_CLIENTS = QuotaEntity.of(user="alice", client_id=None)


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(bootstrap_servers=brokers.addresses, timeout=60)


def test_an_entity_reads_user_first_and_tells_a_default_from_no_name() -> None:
    assert str(ALICES_CLIENTS) == "user=alice, client-id=<default>"
    assert ALICE != ALICES_CLIENTS
    with pytest.raises(InvalidValue):
        QuotaEntity.of()


async def test_quotas_come_by_entity_also_of_types_that_are_new() -> None:
    def script(request: RequestFrame) -> described.DescribeClientQuotasResponse:
        def part(type: str, name: str | None) -> described.EntityData:
            return described.EntityData(entity_type=type, entity_name=name)

        rate = described.ValueData(key="producer_byte_rate", value=1024.0)
        return described.DescribeClientQuotasResponse(
            entries=[
                described.EntryData(
                    entity=[part("client-id", None), part("user", "alice")], values=[rate]
                ),
                described.EntryData(entity=[part("planet", "x")], values=[rate]),
            ]
        )

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[described.DescribeClientQuotasRequest] = script
        quotas = await admin.describe_client_quotas(QuotaFilter.of(ALICES_CLIENTS))
        (request,) = brokers.nodes[0].requests(described.DescribeClientQuotasRequest)
    planet = QuotaEntity(frozenset({("planet", "x")}))
    assert quotas == {
        ALICES_CLIENTS: {"producer_byte_rate": 1024.0},
        planet: {"producer_byte_rate": 1024.0},
    }
    assert request == described.DescribeClientQuotasRequest(
        components=[
            described.ComponentData(entity_type="user", match_type=0, match="alice"),
            described.ComponentData(entity_type="client-id", match_type=1, match=None),
        ],
        strict=True,
    )


async def test_a_refusal_comes_with_no_entries() -> None:
    """As Kafka answers: the list is null then."""

    def script(request: RequestFrame) -> described.DescribeClientQuotasResponse:
        return described.DescribeClientQuotasResponse(error_code=42, entries=None)

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[described.DescribeClientQuotasRequest] = script
        with pytest.raises(BrokerError, match="INVALID_REQUEST"):
            await admin.describe_client_quotas()


async def test_none_removes_a_quota_and_zero_sets_it() -> None:
    def script(request: RequestFrame) -> altered.AlterClientQuotasResponse:
        assert isinstance(request.body, altered.AlterClientQuotasRequest)
        return altered.AlterClientQuotasResponse(
            entries=[
                altered.ResponseEntryData(
                    error_code=42 if len(entry.entity) > 1 else 0, entity=entry.entity
                )
                for entry in request.body.entries
            ]
        )

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[altered.AlterClientQuotasRequest] = script
        outcomes = await admin.alter_client_quotas(
            {
                ALICE: {"producer_byte_rate": 0.0, "request_percentage": None},
                ALICES_CLIENTS: {"producer_byte_rate": 5.0},
            },
            validate_only=True,
        )
        (request,) = brokers.nodes[0].requests(altered.AlterClientQuotasRequest)
    assert (list(outcomes), list(outcomes.failed)) == ([ALICE], [ALICES_CLIENTS])
    assert isinstance(request, altered.AlterClientQuotasRequest)
    assert request.validate_only
    assert [(op.key, op.value, op.remove) for op in request.entries[0].ops] == [
        ("producer_byte_rate", 0.0, False),
        ("request_percentage", 0.0, True),
    ]
