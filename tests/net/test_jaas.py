"""Sections of JAAS files, as javax.security.auth.login.Configuration reads them."""

from __future__ import annotations

import pytest

from kwire.net.jaas import login_section
from kwire.text.properties import WrongProperty

FILE = """
// The listener of the broker: Client { not this; };
KafkaServer {
    org.apache.kafka.common.security.plain.PlainLoginModule required user_Client="x{};";
};
/* Client { nor;
   this; }; */
Client {
    org.apache.zookeeper.server.auth.DigestLoginModule required
    username = "ka fka"  // who
    password="s3cr\\"et;{/*";
    other.Module optional username=second;
};
Empty{};
Tight{a.b.Module required username=me password='p w';};
"""


@pytest.mark.parametrize(
    ("section", "name", "options"),
    [
        ("Client", "DigestLoginModule", {"username": "ka fka", "password": 's3cr"et;{/*'}),
        ("KafkaServer", "PlainLoginModule", {"user_Client": "x{};"}),
        ("Tight", "Module", {"username": "me", "password": "p w"}),
        ("Empty", "", {}),
    ],
)
def test_a_section_is_found_among_others(section: str, name: str, options: dict[str, str]) -> None:
    module = login_section(FILE, section, "a.property")
    assert module is not None
    assert (module.name, module.options) == (name, options)
    assert "s3cr" not in repr(module)


def test_a_section_that_is_not_there_is_none() -> None:
    assert login_section(FILE, "client", "a.property") is None
    assert login_section("", "Client", "a.property") is None
    assert login_section("Client { a.Module required", "Client", "a.property") is None


def test_a_missing_quotation_mark_tells_no_secret() -> None:
    with pytest.raises(WrongProperty) as refused:
        login_section('Client { a.Module required password="s3cret; };', "Client", "a.property")
    assert str(refused.value) == "a.property has a quotation mark without its other one"
