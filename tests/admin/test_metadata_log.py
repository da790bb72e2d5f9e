"""The metadata log is found whatever the controllers say of each other."""

from dataclasses import replace

import pytest

from kwire.admin import AdminClient
from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.deadline import Deadline
from kwire.admin.quotas import QuotaEntity
from kwire.admin.routing import OperationRouter
from kwire.testing.quorum import Quorum

ALICE = QuotaEntity.of(user="alice")


async def test_it_is_read_while_no_controller_is_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A controller leads before it has registered itself."""
    described = OperationRouter.cluster

    async def unregistered(router: OperationRouter, deadline: Deadline) -> ClusterDescription:
        return replace(await described(router, deadline), nodes={}, controller_id=-1)

    async with (
        Quorum(1) as quorum,
        AdminClient(bootstrap_controllers=quorum.bootstrap_controllers) as admin,
    ):
        (await admin.alter_client_quotas({ALICE: {"producer_byte_rate": 5.0}})).all()
        monkeypatch.setattr(OperationRouter, "cluster", unregistered)
        quotas = await admin.describe_client_quotas(timeout=10)
    assert quotas == {ALICE: {"producer_byte_rate": 5.0}}
