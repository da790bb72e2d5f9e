"""Delegation tokens: owners, lives and the HMAC, which is never printed."""

import pytest

from kwire.admin import AdminClient
from kwire.admin.errors import OutcomeUnknown
from kwire.errors import BrokerError, InvalidValue, UnsupportedVersion
from kwire.messages import a38_create_delegation_token as created
from kwire.messages import a40_expire_delegation_token as expired
from kwire.messages import a41_describe_delegation_token as described
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

HMAC = b"0123456789-secret"


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(bootstrap_servers=brokers.addresses, timeout=60)


def create(request: RequestFrame) -> created.CreateDelegationTokenResponse:
    return created.CreateDelegationTokenResponse(
        principal_type="User",
        principal_name="bob",
        token_requester_principal_type="User",
        token_requester_principal_name="alice",
        issue_timestamp_ms=1,
        expiry_timestamp_ms=2,
        max_timestamp_ms=3,
        token_id="t",
        hmac=HMAC,
    )


async def test_a_token_is_made_for_an_owner_and_its_renewers() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[created.CreateDelegationTokenRequest] = create
        token = await admin.create_delegation_token(
            owner="User:bob", renewers=["User:carol"], max_lifetime_ms=9
        )
        (request,) = brokers.nodes[0].requests(created.CreateDelegationTokenRequest)
    assert (token.owner, token.requester, token.renewers) == (
        "User:bob",
        "User:alice",
        ("User:carol",),
    )
    assert (token.hmac, HMAC.decode() in repr(token)) == (HMAC, False)
    assert request == created.CreateDelegationTokenRequest(
        owner_principal_type="User",
        owner_principal_name="bob",
        renewers=[created.CreatableRenewers(principal_type="User", principal_name="carol")],
        max_lifetime_ms=9,
    )


async def test_a_node_before_kip_373_makes_tokens_for_their_requester_only() -> None:
    def create_v2(request: RequestFrame) -> created.CreateDelegationTokenResponse:
        return created.CreateDelegationTokenResponse(principal_type="User", principal_name="bob")

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        node = brokers.nodes[0]
        node.scripts[created.CreateDelegationTokenRequest] = create_v2
        scripts = tuple(node.scripts)
        node.scripts[ApiVersionsRequest] = lambda request: api_versions(
            *scripts, CreateDelegationToken=(0, 2)
        )
        assert (await admin.create_delegation_token()).requester is None
        with pytest.raises(UnsupportedVersion, match=r"older than Kafka 3\.3"):
            await admin.create_delegation_token(owner="User:bob")


async def test_a_creation_whose_answer_is_lost_is_not_repeated() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        node = brokers.nodes[0]
        node.scripts[created.CreateDelegationTokenRequest] = lambda request: HANG_UP
        with pytest.raises(OutcomeUnknown):
            await admin.create_delegation_token()
        assert len(node.requests(created.CreateDelegationTokenRequest)) == 1


@pytest.mark.parametrize(("owners", "sent"), [(None, None), (["User:a"], ["a"]), ([], [])])
async def test_no_owner_and_any_owner_are_two_questions(
    owners: list[str] | None, sent: list[str] | None
) -> None:
    def describe(request: RequestFrame) -> described.DescribeDelegationTokenResponse:
        return described.DescribeDelegationTokenResponse()

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[described.DescribeDelegationTokenRequest] = describe
        assert await admin.describe_delegation_token(owners) == ()
        (request,) = brokers.nodes[0].requests(described.DescribeDelegationTokenRequest)
    assert isinstance(request, described.DescribeDelegationTokenRequest)
    names = None if request.owners is None else [each.principal_name for each in request.owners]
    assert names == sent


async def test_a_connection_without_login_is_told_what_to_do() -> None:
    def expire(request: RequestFrame) -> expired.ExpireDelegationTokenResponse:
        return expired.ExpireDelegationTokenResponse(error_code=64)

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[expired.ExpireDelegationTokenRequest] = expire
        with pytest.raises(BrokerError, match="connect by SASL or with a client certificate"):
            await admin.expire_delegation_token(HMAC)


async def test_a_name_without_type_is_no_principal() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        with pytest.raises(InvalidValue, match="'bob' is no principal: write User:bob"):
            await admin.create_delegation_token(owner="bob")
