"""Quotas as texts; the numbers as Java 17's Double.toString prints them."""

from __future__ import annotations

import pytest

from kwire.image.client_quotas import Entity
from kwire.zookeeper.quota_texts import java_double_text, quota_texts

BY_JAVA = {
    0.0: "0.0",
    1.0: "1.0",
    200.0: "200.0",
    0.001: "0.001",
    0.00099: "9.9E-4",
    1e7: "1.0E7",
    9999999.5: "9999999.5",
    12345678.25: "1.234567825E7",
    1e21: "1.0E21",
    1.5e-7: "1.5E-7",
    123456.789: "123456.789",
    0.1 + 0.2: "0.30000000000000004",
    1.7976931348623157e308: "1.7976931348623157E308",
    -2.5: "-2.5",
    float("inf"): "Infinity",
}


@pytest.mark.parametrize("value", BY_JAVA, ids=str)
def test_a_number_is_printed_as_by_java(value: float) -> None:
    assert java_double_text(value) == BY_JAVA[value]


def test_bytes_are_whole_numbers_and_percents_are_not() -> None:
    quotas = {"producer_byte_rate": 1024.0, "request_percentage": 50.0}
    assert quota_texts(Entity({("user", "a")}), quotas) == {
        "producer_byte_rate": "1024",
        "request_percentage": "50.0",
    }


def test_the_largest_whole_number_is_that_of_java() -> None:
    ip, user = Entity({("ip", "::1")}), Entity({("user", "a")})
    assert quota_texts(ip, {"connection_creation_rate": 2.0**40}) == {
        "connection_creation_rate": "2147483647"
    }
    assert quota_texts(user, {"producer_byte_rate": 2.0**63}) == {
        "producer_byte_rate": "9223372036854775807"
    }


def test_quotas_that_brokers_in_zookeeper_mode_do_not_know_are_left_out() -> None:
    quotas = {"connection_creation_rate": 1.0, "producer_byte_rate": float("nan"), "new": 1.0}
    assert quota_texts(Entity({("user", "a")}), quotas) == {}
