"""A quorum with an authorizer, behind a proxy with a principal of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.messages.a30_create_acls import AclCreation, CreateAclsRequest
from kwire.net.address import Address
from kwire.proxy.serve.audit import RoutedChange
from kwire.testing.quorum import Quorum
from tests.support.controller.sasl_listeners import ADMIN, admin_properties, sasl_listener
from tests.support.proxy.serve.serving_proxy import ServingProxy, serving

PATIENCE = 60.0
AUTHORIZER = {"authorizer.class.name": CLASS_NAME, "super.users": f"User:{ADMIN}"}
CLUSTER, ALL, ALLOW = 4, 2, 3
EVERYTHING = CreateAclsRequest(
    creations=[
        AclCreation(
            resource_type=CLUSTER,
            resource_name="kafka-cluster",
            resource_pattern_type=3,
            principal="User:*",
            host="*",
            operation=ALL,
            permission_type=ALLOW,
        )
    ]
)


class Rights(NamedTuple):
    """A quorum with an authorizer, behind a proxy whose own principal may do all."""

    quorum: Quorum
    served: ServingProxy
    changes: list[RoutedChange]

    def addresses(self) -> list[Address]:
        return list(self.served.proxy.addresses.values())

    def nothing_was_changed(self) -> bool:
        images = [node.metadata.image for node in self.quorum.nodes.values()]
        return not any(len(image.acls.by_id) or len(image.scram.credentials) for image in images)


@asynccontextmanager
async def rights(folder: Path, *, lend_rights: bool = False) -> AsyncIterator[Rights]:
    file = admin_properties(folder / "proxy.properties")
    changes: list[RoutedChange] = []
    properties = sasl_listener("PLAIN") | AUTHORIZER
    async with asyncio.timeout(PATIENCE), Quorum(2, properties=properties) as quorum:
        await quorum.wait_for_leader()
        controllers = {id: Address(*at) for id, at in quorum.addresses.items()}
        async with serving(
            controllers, client_config=file, lend_rights=lend_rights, audit=changes.append
        ) as served:
            yield Rights(quorum, served, changes)
