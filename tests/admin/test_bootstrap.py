"""Where a client starts: addresses as people write them, brokers or controllers but not both."""

import pytest

from admin import AdminClient
from admin.bootstrap import Address, Bootstrap, EndpointType
from kwire.errors import InvalidValue


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost:9092", "localhost", 9092),
        (" kafka-1.example.org:1 ", "kafka-1.example.org", 1),
        ("[::1]:65535", "::1", 65535),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, host: str, port: int) -> None:
    assert Address.parse(text) == Address(host, port)
    assert str(Address.parse(text)) == text.strip()


@pytest.mark.parametrize("text", ["", "localhost", ":9092", "h:", "h:0", "h:65536", "h:٣", "h:x"])
def test_what_is_no_address_is_refused_with_the_form_that_is(text: str) -> None:
    with pytest.raises(InvalidValue, match="write host:port"):
        Address.parse(text)


def test_an_ipv6_host_needs_its_brackets() -> None:
    with pytest.raises(InvalidValue, match=r"write an IPv6 host as \[host\]:port"):
        Address.parse("::1:9092")


def test_addresses_are_given_with_commas_or_as_a_list_and_kept_once() -> None:
    expected = (Address("a", 1), Address("b", 2))
    for given in ("a:1, b:2,a:1,", ["a:1", "b:2"], ("a:1", "b:2", "b:2")):
        assert Bootstrap.of(given, None).addresses == expected
    assert Bootstrap.of(None, "a:1").endpoint_type is EndpointType.CONTROLLER


def test_brokers_and_controllers_at_once_are_refused() -> None:
    with pytest.raises(InvalidValue, match="not both"):
        AdminClient(bootstrap_servers="a:1", bootstrap_controllers="b:2")


@pytest.mark.parametrize("nothing", [None, "", []])
def test_neither_is_refused(nothing: str | list[str] | None) -> None:
    with pytest.raises(InvalidValue, match="give bootstrap_servers or bootstrap_controllers"):
        AdminClient(bootstrap_servers=nothing, bootstrap_controllers=nothing)


def test_commas_alone_name_no_address() -> None:
    with pytest.raises(InvalidValue, match="names no address"):
        AdminClient(bootstrap_servers=" , ")
