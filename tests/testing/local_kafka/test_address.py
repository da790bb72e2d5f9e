"""A node that wants TLS or a login is asked whether it is up."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
import trustme

from kwire.net.address import Address
from kwire.testing import BackgroundQuorum
from kwire.testing.local_kafka.address import answers, free_port
from kwire.text.properties import parse_properties
from tests.support.controller.pem_stores import CONTROLLERS, stores
from tests.support.controller.sasl_listeners import sasl_listener


@contextmanager
def controller(properties: Mapping[str, str]) -> Iterator[Address]:
    """Run a controller with a listener of these properties."""
    background = BackgroundQuorum(1, properties=properties)
    with background:
        ((host, port),) = background.quorum.addresses.values()
        yield Address(host, port)


def pem() -> dict[str, str]:
    written = stores(trustme.CA(), "127.0.0.1", "localhost")
    return parse_properties("".join(f"{name}={value}\n" for name, value in written.items()))


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL"])
def test_a_node_answers_whoever_has_not_logged_in(protocol: str) -> None:
    properties: dict[str, str] = {}
    if protocol.startswith("SASL"):
        properties = sasl_listener("PLAIN", protocol=protocol)
    elif protocol == "SSL":
        properties = CONTROLLERS
    tls = protocol.endswith("SSL")
    with controller(properties | (pem() if tls else {})) as address:
        assert answers(address, tls=tls)
        assert not answers(address, tls=not tls)


def test_a_refusal_of_a_client_without_a_certificate_is_an_answer() -> None:
    with controller(CONTROLLERS | pem() | {"ssl.client.auth": "required"}) as address:
        assert answers(address, tls=True)


@pytest.mark.parametrize("tls", [False, True])
def test_a_port_without_a_node_does_not_answer(tls: bool) -> None:
    assert not answers(Address("127.0.0.1", free_port()), tls=tls)
