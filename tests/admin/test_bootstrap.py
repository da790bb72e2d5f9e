"""Bootstrap addresses: brokers or controllers, not both."""

import pytest

from kwire.admin import AdminClient
from kwire.admin.bootstrap import Bootstrap
from kwire.errors import InvalidValue
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address


def test_addresses_are_given_with_commas_or_as_a_list_and_kept_once() -> None:
    expected = (Address("a", 1), Address("b", 2))
    for given in ("a:1, b:2,a:1,", ["a:1", "b:2"], ("a:1", "b:2", "b:2")):
        assert Bootstrap.of(given, None).addresses == expected
    # Java's clients pass over a protocol in front of an address, too (Utils.getHost).
    protocols = "PLAINTEXT://a:1,SASL_SSL://b:2"
    assert Bootstrap.of(protocols, None).addresses == expected
    assert Bootstrap.of(None, "SSL://[::1]:9093").addresses == (Address("::1", 9093),)
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
