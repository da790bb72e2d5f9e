"""A cluster of a service that serves: what a reload gives it, and what needs a restart."""

import asyncio
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.net.connection import Connection
from kwire.testing.background import BackgroundQuorum
from real_kafka import free_port
from tests.support.certificates import Authority
from tests.support.cli.service_process import (
    PATIENCE,
    Running,
    get,
    listener,
    running,
    service,
    write,
)


def speaks_tls(address: tuple[str, int], authority: Authority) -> bool:
    """True if this authority has signed the certificate at this address."""
    try:
        with (
            socket.create_connection(address, timeout=PATIENCE) as plain,
            authority.client().wrap_socket(plain, server_hostname=address[0]),
        ):
            return True
    except ssl.SSLCertVerificationError:
        return False


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kwire-proxy.yaml"


def serving(controllers: str, tls: dict[str, str]) -> dict[str, Any]:
    listeners = [
        listener(upstream, node) | {"tls": tls}
        for node, upstream in enumerate(controllers.split(","), 3000)
    ]
    return service(*listeners, serve={"mode": "metadata"})


def refused(run: Running, config: dict[str, Any], reason: str) -> None:
    run.reload(config)
    assert reason in run.next_event("all stays as it was")["message"]


def test_new_certificates_are_taken_and_another_way_to_serve_is_not(file: Path) -> None:
    ours, theirs = Authority(file.parent, "ours"), Authority(file.parent, "theirs")
    pem, newer = ours.issue("127.0.0.1"), theirs.issue("127.0.0.1")
    tls = {"certificate": str(pem.certificate), "key": str(pem.key)}
    with BackgroundQuorum(2) as quorum:
        config = serving(quorum.bootstrap_controllers, tls)
        with running(write(file, config)) as run:
            addresses = run.listening(), run.listening()
            run.next_event("ready")
            assert all(speaks_tls(address, ours) for address in addresses)
            pem.certificate.write_bytes(newer.certificate.read_bytes())
            refused(run, config, "is not that of the certificate")
            assert all(speaks_tls(address, ours) for address in addresses)
            pem.key.write_bytes(newer.key.read_bytes())
            run.reload(config)
            run.next_event("the configuration was loaded again")
            assert all(speaks_tls(address, theirs) for address in addresses)

            (cluster,) = config["clusters"]
            other = config | {"clusters": [cluster | {"serve": {"mode": "kip919"}}]}
            refused(run, other, "cluster 'orders': another serve needs a restart")
            fewer = config | {"clusters": [cluster | {"listeners": cluster["listeners"][:1]}]}
            refused(
                run, fewer, "cluster 'orders' serves: a change of its listeners needs a restart"
            )

            run.reload(service(listener(f"127.0.0.1:{free_port()}"), name="plain"))
            run.next_event("the configuration was loaded again")
            for address in addresses:
                with pytest.raises(OSError, match="refused"):
                    socket.create_connection(address, timeout=PATIENCE)
            assert run.end() == 0


def test_rights_that_are_lent_are_told_and_changes_are_logged_at_every_level(file: Path) -> None:
    properties = file.parent / "client.properties"
    properties.write_text("security.protocol=PLAINTEXT\n")
    serve = {"mode": "metadata", "client_config": str(properties)}
    port, metrics = free_port(), free_port()
    lent = "changes that clients make have the rights of the proxy's principal"
    with BackgroundQuorum(1) as quorum:
        at = listener(quorum.bootstrap_controllers, 3000, f"127.0.0.1:{port}")
        config = service(at, serve=serve, lend_rights=True)
        config |= {
            "log": {"format": "json", "level": "warning"},
            "metrics": f"127.0.0.1:{metrics}",
        }
        with running(write(file, config)) as run:
            assert run.next_event(lent)["level"] == "warning"
            while (answer := get(f"http://127.0.0.1:{metrics}/ready"))[0] != 200:
                time.sleep(0.05)
            assert answer == (200, f"ready; {lent}\n")
            asyncio.run(unregister(port))
            line = run.next_event("UnregisterBroker")
            assert run.end() == 0
    assert {name: line[name] for name in ("level", "event", "cluster", "principal", "lent")} == {
        "level": "info",
        "event": "change_routed",
        "cluster": "orders",
        "principal": "User:ANONYMOUS",
        "lent": True,
    }
    assert line["client"].startswith("127.0.0.1:")
    assert (line["node"], line["resources"]) == ("node 3000", "broker_id=0")
    assert line["outcome"].startswith("BROKER_ID_NOT_REGISTERED")


async def unregister(port: int) -> None:
    async with await Connection.open("127.0.0.1", port) as connection:
        await connection.send(UnregisterBrokerRequest(broker_id=0))
