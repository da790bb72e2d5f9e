"""Negotiation of versions (KIP-35, KIP-511)."""

from __future__ import annotations

from collections.abc import Callable

from kwire.conform.clients.case import ClientSection, ClientTask
from kwire.conform.clients.cluster import Cluster
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import ScriptRule, changed
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import kip
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest

SECTION = ClientSection("client/versions", "Versions are negotiated")


def _only(api: int, low: int, high: int) -> Callable[[Cluster], None]:
    def arrange(cluster: Cluster) -> None:
        cluster.versions[api] = (low, high)

    return arrange


@SECTION.case(1, kip(35, "Proposed Changes"), ClientTask.PRODUCE, arrange=_only(0, 3, 7))
def _(play: Play) -> None:
    "A client sends Produce in the highest version that both have, here v7."
    versions = {request.version for request in play.demand(ProduceRequest)}
    expect(versions == {7}, "Produce in v7", f"Produce in {versions}")


@SECTION.case(
    2,
    kip(511, "Public Interfaces"),
    ClientTask.PRODUCE,
    rules=lambda: [
        ScriptRule(
            api=ApiVersionsRequest,
            action=changed(
                lambda answer: answer.api_keys.append(
                    ApiVersion(api_key=999, min_version=0, max_version=3)
                )
            ),
            times=None,
        )
    ],
)
def _(play: Play) -> None:
    "A client passes over an API that it does not know."
