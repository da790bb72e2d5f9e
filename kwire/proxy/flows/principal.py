"""The sender of a request that a broker forwarded in an envelope (KIP-590)."""

from __future__ import annotations

from ipaddress import ip_address

from kwire.errors import KwireError
from kwire.messages.data.default_principal_data import DefaultPrincipalData
from kwire.proxy.flows.text import bytes_text, printable, size_text

_VERSION_SIZE = 2


def principal_text(data: bytes) -> str:
    """Return `User:alice` from the version and principal that DefaultKafkaPrincipalBuilder writes.

    A principal builder of one's own may write anything; then return its size.
    """
    version = int.from_bytes(data[:_VERSION_SIZE], "big", signed=True)
    try:
        principal, _ = DefaultPrincipalData.decode_from(data, version, _VERSION_SIZE)
    except KwireError:
        return f"a principal of {size_text(len(data))}"
    return printable(f"{principal.type}:{principal.name}")


def host_text(address: bytes) -> str:
    """Return the text of an IP address of 4 or 16 bytes."""
    try:
        return str(ip_address(address))
    except ValueError:
        return bytes_text(address)
