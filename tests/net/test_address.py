"""Addresses as people write them."""

import pytest

from kwire.errors import InvalidValue
from kwire.net.address import Address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost:9092", "localhost", 9092),
        (" kafka-1.example.org:1 ", "kafka-1.example.org", 1),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("[::1]:65535", "::1", 65535),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, host: str, port: int) -> None:
    assert Address.parse(text) == Address(host, port)
    assert str(Address.parse(text)) == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        ":9092",
        "h:",
        "h:-1",
        "h:65536",
        "h:000001",
        pytest.param(f"h:{'9' * 5000}", id="a port of 5000 digits"),
        "h:٣",
        "h:x",
        "[]:1",
        "[::1:1",
    ],
)
def test_what_is_no_address_is_refused_with_the_form_that_is(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"write (host:port|an IPv6 host as \[host\]:port)"):
        Address.parse(text)


def test_an_ipv6_host_needs_its_brackets() -> None:
    with pytest.raises(InvalidValue, match=r"write an IPv6 host as \[host\]:port"):
        Address.parse("::1:9092")
