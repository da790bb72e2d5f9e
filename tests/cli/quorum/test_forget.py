"""`kwire quorum forget` at a quorum of kwire's own, before Kafka 4.4."""

from __future__ import annotations

from kwire.testing.background import BackgroundQuorum
from tests.support.cli.command import Command


def test_the_refusal_of_an_older_release_names_the_way_on(kwire: Command) -> None:
    with BackgroundQuorum(1) as quorum:
        at = ("--bootstrap-controller", quorum.bootstrap_controllers)
        run = kwire("quorum", "forget", "9", "--yes", "--json", *at)
    (row,) = run.json["controllers"]
    assert row["message"].endswith(
        " cannot unregister controllers; kwire quorum forget 9 --disarm has it hold no feature back"
    )
