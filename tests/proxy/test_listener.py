"""Addresses are read as people write them."""

import pytest

from kwire.errors import InvalidValue
from proxy import Address


@pytest.mark.parametrize("text", ["localhost:9093", "127.0.0.1:0", "[::1]:9093"])
def test_an_address_is_written_as_it_is_read(text: str) -> None:
    assert str(Address.parse(text)) == text


def test_an_ipv6_host_loses_its_brackets() -> None:
    assert Address.parse("[::1]:9093") == Address("::1", 9093)


@pytest.mark.parametrize("text", ["", "localhost", ":9093", "localhost:", "a:b", "a:65536", "a:-1"])
def test_anything_else_is_an_error_that_says_what_to_write(text: str) -> None:
    with pytest.raises(InvalidValue, match="write host:port"):
        Address.parse(text)
