"""The addresses that count: those of a rule, or at the hosts of the configured nodes; no others."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.proxy.data_path.allowed_nodes import AddressRule, AllowedNodes

CONFIGURED = (Address("broker-1.example.org", 9092), Address("10.1.0.7", 9093))
PORTS = st.integers(1, 65535)


def allowed(host: str, port: int, *rules: str) -> bool:
    nodes = AllowedNodes([AddressRule.parse(rule) for rule in rules])
    return not nodes.refusal(Address(host, port), CONFIGURED)


@pytest.mark.parametrize(
    ("host", "port", "rules", "counts"),
    [
        # By default: the hosts of the configured nodes, at ports that services have not.
        ("broker-1.example.org", 9092, (), True),
        ("BROKER-1.example.org", 19093, (), True),
        ("10.1.0.7", 1024, (), True),
        ("10.1.0.7", 1023, (), False),
        ("broker-1.example.org", 22, (), False),
        ("broker-2.example.org", 9092, (), False),
        ("broker-1", 9092, (), False),
        ("10.1.0.8", 9093, (), False),
        ("127.0.0.1", 9093, (), False),
        # The same host in other words that a resolver would take for it.
        ("::ffff:10.1.0.7", 9093, (), True),
        ("10.1.7", 9093, (), False),
        ("0xa010007", 9093, (), False),
        ("167837703", 9093, (), False),
        ("10.1.0.7.", 9093, (), False),
        ("10.1.0.7%0", 9093, (), False),
        # Rules take the place of the hosts, not of the configured nodes.
        ("10.1.0.8", 9093, ("10.1.0.0/24",), True),
        ("10.1.0.8", 9095, ("10.1.0.0/24:9092-9094",), False),
        ("10.1.0.7", 9095, ("10.1.0.0/24:9092-9094",), False),
        ("10.1.0.7", 9093, ("other",), True),
        ("10.1.0.7", 9094, ("other",), False),
        ("b.example.org", 9092, ("*.example.org",), True),
        ("b.c.example.org", 9092, ("*.example.org",), True),
        ("example.org", 9092, ("*.example.org",), False),
        ("evilexample.org", 9092, ("*.example.org",), False),
        ("b.example.org.evil.net", 9092, ("*.example.org",), False),
        ("evil.net\x00.example.org", 9092, ("*.example.org",), False),
        ("evil.net/.example.org", 9092, ("*.example.org",), False),
        (".example.org", 9092, ("*.example.org",), False),
        ("a", 22, ("a:22", "b"), True),
        ("fd00::7", 9092, ("[fd00::/8]:9092",), True),
        ("fe80::1%\x1b[31m", 9092, ("[::/0]",), False),
        # 0.0.0.0 is whatever listens on the proxy's machine.
        ("0.0.0.0", 9092, ("0.0.0.0/0",), False),
        ("::", 9092, ("[::/0]",), False),
        ("::ffff:0.0.0.0", 9092, ("0.0.0.0/0", "[::/0]"), False),
        ("224.0.0.1", 9092, ("0.0.0.0/0",), False),
    ],
)
def test_an_address_counts_as_the_rules_say(
    host: str, port: int, rules: tuple[str, ...], counts: bool
) -> None:
    assert allowed(host, port, *rules) is counts


def test_the_name_of_this_machine_is_its_address() -> None:
    nodes = AllowedNodes()
    assert not nodes.refusal(Address("127.0.0.1", 9093), [Address("localhost", 9092)])
    assert not nodes.refusal(Address("localhost", 9093), [Address("127.0.0.1", 9092)])


@given(host=st.text(max_size=40) | st.ip_addresses().map(str), port=PORTS)
@example(host="", port=9092)
@example(host="10.1.0.7", port=80)
def test_by_default_nothing_but_the_configured_hosts_counts(host: str, port: int) -> None:
    of_a_node = host.lower() in {"broker-1.example.org", "10.1.0.7", "::ffff:a01:7"}
    exact = Address(host, port) in CONFIGURED
    assert allowed(host, port) is (exact or (of_a_node and port >= 1024))


@given(ip=st.ip_addresses(v=4), network=st.ip_addresses(v=4), bits=st.integers(0, 32), port=PORTS)
def test_a_network_has_the_addresses_with_its_first_bits(
    ip: IPv4Address, network: IPv4Address, bits: int, port: int
) -> None:
    mask = (1 << 32) - (1 << (32 - bits))
    base = IPv4Address(int(network) & mask)
    inside = int(ip) & mask == int(base) and not (ip.is_multicast or ip.is_unspecified)
    expected = port == 9092 and inside
    if Address(str(ip), port) not in CONFIGURED:
        assert allowed(str(ip), port, f"{base}/{bits}:9092") is expected
        mapped = str(IPv6Address((0xFFFF << 32) | int(ip)))
        assert allowed(mapped, port, f"{base}/{bits}:9092") is expected


@given(first=PORTS, last=PORTS, port=PORTS)
def test_a_range_of_ports_has_both_ends(first: int, last: int, port: int) -> None:
    first, last = sorted((first, last))
    assert allowed("a", port, f"a:{first}-{last}") is (first <= port <= last)


NO_RULES = ":9092,a:,a:0,a:65536,a:9-8,a b,10.0.0.1/8,fd00::/8,a/8,*,b*,*.*.a,[a]:1,a:-1,a:1-"


@pytest.mark.parametrize("text", ["", *NO_RULES.split(",")])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="allows no addresses"):
        AddressRule.parse(text)
