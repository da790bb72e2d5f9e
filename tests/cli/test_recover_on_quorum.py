"""`kwire storage recover` on kwire's own controllers, with a broker of Kafka behind them."""

from __future__ import annotations

import shutil

import pytest

from kwire.testing import BackgroundQuorum
from tests.support.cli.command import Command


@pytest.mark.cluster
@pytest.mark.costly
def test_one_of_three_controllers_of_kwire_is_enough_to_serve_again(kwire: Command) -> None:
    with BackgroundQuorum(3, brokers=1) as quorum:
        at = ("--bootstrap-server", quorum.bootstrap_servers)
        assert kwire("topics", "create", "orders", *at).code == 0
        (broker,) = quorum.quorum.brokers.nodes
        first, *lost = quorum.quorum.members.values()
        for node_id in (broker, *quorum.quorum.members):
            quorum.kill(node_id)
        for member in lost:
            shutil.rmtree(member.folder)
        cluster_id = quorum.quorum.cluster_id
        apply = ("--apply", "--cluster-id", cluster_id)
        run = kwire("storage", "recover", str(first.folder), *apply)
        assert run.code == 0, run.err

        quorum.restart(first.node_id)
        assert quorum.wait_for_leader() == first.node_id
        quorum.restart(broker)
        assert "orders" in kwire("topics", "list", "-o", "name", *at).out
        assert kwire("topics", "create", "invoices", *at).code == 0
