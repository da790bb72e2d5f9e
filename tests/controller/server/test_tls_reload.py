"""New certificates of a running controller, by its settings and by its files (KIP-226)."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme
from cryptography.x509 import load_der_x509_certificate

from kwire.controller.server import listener, tls_reload
from kwire.controller.server.node import ControllerNode
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.config_resource import ResourceType
from kwire.net.connection import Connection
from kwire.net.quorum_request import quorum_request
from kwire.testing.quorum import Quorum
from tests.support.eventually import eventually
from tests.support.virtual_time import in_virtual_time

KEYSTORE = "listener.name.controller.ssl.keystore.location"


class Stores:
    """The files of a controller, written again and again."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self.keystore, self.truststore = folder / "keys.pem", folder / "authority.pem"
        self.truststore.write_bytes(self.authority.cert_pem.bytes())
        self.serial = self.renew("127.0.0.1")

    def renew(self, *hosts: str, unit: str = "controllers") -> int:
        """Write another certificate; its serial number."""
        own = self.authority.issue_cert(
            *hosts, organization_name="kwire", organization_unit_name=unit
        )
        chain = b"".join(one.bytes() for one in own.cert_chain_pems)
        self.keystore.write_bytes(own.private_key_pem.bytes() + chain)
        der = ssl.PEM_cert_to_DER_cert(own.cert_chain_pems[0].bytes().decode())
        self.serial = load_der_x509_certificate(der).serial_number
        return self.serial

    @property
    def properties(self) -> dict[str, str]:
        return {
            "listener.security.protocol.map": "CONTROLLER:SSL",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.truststore),
        }

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.truststore))


async def shown(node: ControllerNode, stores: Stores) -> int:
    """The serial number of the certificate that a new connection gets."""
    port = node.config.listeners[0].port
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=stores.context())
    try:
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return int(load_der_x509_certificate(der).serial_number)
    finally:
        writer.close()


async def until_shown(node: ControllerNode, stores: Stores, serial: int) -> None:
    await eventually(
        lambda: shown(node, stores), lambda seen: seen == serial, timeout=10, pause=0.05
    )


async def alter(node: ControllerNode, stores: Stores, name: str, value: str) -> None:
    async with asyncio.timeout(10):  # the settings of a node need its registration
        await node.metadata.until(lambda: node.node_id in node.metadata.image.cluster.controllers)
    port = node.config.listeners[0].port
    async with await Connection.open("127.0.0.1", port, ssl=stores.context()) as connection:
        resource = AlterConfigsResource(
            resource_type=ResourceType.BROKER,
            resource_name=str(node.node_id),
            configs=[AlterableConfig(name=name, config_operation=0, value=value)],
        )
        answer = await connection.send(IncrementalAlterConfigsRequest(resources=[resource]))
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    assert answer.responses[0].error_code == 0


@in_virtual_time
async def test_a_setting_that_stays_the_same_has_the_file_read_again(tmp_path: Path) -> None:
    stores = Stores(tmp_path)
    async with Quorum(1, properties=stores.properties) as quorum:
        node = await quorum.active_controller()
        port = node.config.listeners[0].port
        assert await shown(node, stores) == stores.serial
        async with await Connection.open("127.0.0.1", port, ssl=stores.context()) as older:
            for _ in range(2):
                serial = stores.renew("127.0.0.1")
                await alter(node, stores, KEYSTORE, str(stores.keystore))
                await until_shown(node, stores, serial)
            await older.send(quorum_request())  # what was open stays open


@in_virtual_time
async def test_a_file_that_changes_is_read_without_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_reload, "FILE_CHECK", 0.05)
    stores = Stores(tmp_path)
    async with Quorum(3, properties=stores.properties) as quorum:
        leader = await quorum.active_controller()
        serial = stores.renew("127.0.0.1", "localhost")
        for node in quorum.nodes.values():
            await until_shown(node, stores, serial)
        # Requests to each other go on, over new connections too.
        await leader.kill()
        await quorum.wait_for_leader()


@pytest.mark.parametrize(
    ("location", "told"),
    [("a\0b", "embedded null byte"), ("/dev/zero", "is not a file"), ("FIFO", "is not a file")],
)
@in_virtual_time
async def test_a_store_that_is_no_file_leaves_the_old_one_and_is_not_waited_for(
    location: str, told: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stores = Stores(tmp_path)
    if location == "FIFO":
        location = str(tmp_path / "pipe")
        os.mkfifo(location)
    async with Quorum(1, properties=stores.properties) as quorum:
        node = await quorum.active_controller()
        await alter(node, stores, KEYSTORE, location)
        await eventually(lambda: told in caplog.text, timeout=10)
        assert await shown(node, stores) == stores.serial
        serial = stores.renew("127.0.0.1")  # and what comes later is heeded
        await alter(node, stores, KEYSTORE, str(stores.keystore))
        await until_shown(node, stores, serial)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda stores: stores.keystore.write_text("nothing"), "has no PEM block"),
        (lambda stores: stores.keystore.unlink(), "No such file"),
        (lambda stores: stores.renew("127.0.0.1", unit="others"), "has another subject"),
        (lambda stores: stores.renew("localhost"), "not for all hosts of the old one"),
    ],
    ids=["no PEM", "no file", "another subject", "fewer hosts"],
)
@in_virtual_time
async def test_a_bad_store_leaves_the_old_one_and_is_told_once(
    spoil: Callable[[Stores], object], told: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def told_so_far() -> list[str]:
        return caplog.messages

    stores = Stores(tmp_path)
    async with Quorum(1, properties=stores.properties) as quorum:
        node = await quorum.active_controller()
        serial = stores.serial
        spoil(stores)
        with caplog.at_level(logging.WARNING, "kwire.controller.server.tls_reload"):
            await alter(node, stores, KEYSTORE, str(stores.keystore))
            await eventually(told_so_far, bool, timeout=10, pause=0.01)
        assert await shown(node, stores) == serial
    assert len(caplog.messages) == 1
    assert "listener CONTROLLER keeps its certificate: " in caplog.messages[0]
    assert told in caplog.messages[0]


async def test_a_handshake_that_does_not_go_on_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "HANDSHAKE", 0.1)
    async with Quorum(1, properties=Stores(tmp_path).properties) as quorum:
        reader, writer = await asyncio.open_connection("127.0.0.1", quorum.members[3000].port)
        writer.write(bytes.fromhex("160301"))  # a record of TLS begins
        async with asyncio.timeout(60):
            assert await reader.read() == b""
        writer.close()
