"""Principals of certificates are those that Java and Kafka make of them."""

from __future__ import annotations

from random import Random

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

import vectors
from kwire.controller.authentication.principal_mapping import PrincipalMapper
from kwire.errors import BrokerError, InvalidValue
from kwire.net.distinguished_name import name_text
from tests.support.seed import SEED

OIDS = (
    NameOID.COMMON_NAME,
    NameOID.ORGANIZATION_NAME,
    NameOID.ORGANIZATIONAL_UNIT_NAME,
    NameOID.LOCALITY_NAME,
    NameOID.STATE_OR_PROVINCE_NAME,
    NameOID.STREET_ADDRESS,
    NameOID.USER_ID,
    NameOID.DOMAIN_COMPONENT,
    NameOID.EMAIL_ADDRESS,
    NameOID.SERIAL_NUMBER,
    NameOID.GIVEN_NAME,
)
PIECES = (*"abZ09 ,=+<>#;\"\\/'", "é", "𝄞", "  ", "\n", "\t")
RULES = (
    "DEFAULT",
    "RULE:^CN=(.*?),.*$/$1/",
    "RULE:^CN=(.*?),OU=(.*?)$/$1@$2/L , DEFAULT",
    "RULE:.*CN=([^,]*).*/$1/U,DEFAULT",
    "RULE:CN=(.*)/$2$1$10\\$/",
    "RULE:.*/x/",
    "RULE:(a|CN).*/$3-$1/L",
    "RULE:CN=(a)?(.*)/[$1]$2/",
    "RULE:.*\\/.*/slash/, RULE:.*b.*/b/",
)


def random_name(random: Random) -> x509.Name:
    def attribute() -> x509.NameAttribute[str]:
        text = "".join(random.choice(PIECES) for _ in range(random.randint(1, 6)))
        oid = random.choice(OIDS[: random.choice((1, 3, len(OIDS)))])
        if oid in (NameOID.EMAIL_ADDRESS, NameOID.DOMAIN_COMPONENT):
            text = text.encode("ascii", "ignore").decode() or "a"
        return x509.NameAttribute(oid, text)

    parts = []
    for _ in range(random.randint(0, 4)):
        attributes = [attribute() for _ in range(random.choice((1, 1, 1, 2)))]
        by_type = {attribute.oid: attribute for attribute in attributes}
        parts.append(x509.RelativeDistinguishedName(by_type.values()))
    return x509.Name(parts)


def mapped(name: str, rules: str) -> str:
    try:
        return PrincipalMapper.of(rules).principal(name).removeprefix("User:")
    except BrokerError:
        return "none"


@pytest.mark.java
def test_random_names_are_written_and_mapped_as_java_does() -> None:
    random = Random(SEED)
    with vectors.NameJudge("4.3.1") as judge:
        for _ in range(1500):
            name, rules = random_name(random).public_bytes(), random.choice(RULES)
            text = name_text(name)
            assert (text, mapped(text, rules)) == judge(name, rules), (SEED, name, rules)


def test_the_first_rule_that_matches_counts() -> None:
    mapper = PrincipalMapper.of("RULE:^CN=(.*?),OU=ops$/$1/L,RULE:^CN=(.*?),.*$/$1@kwire/,DEFAULT")

    names = ["CN=Alice,OU=ops", "CN=Bob,O=x", "O=y"]
    assert [mapper.principal(name) for name in names] == [
        "User:alice",
        "User:Bob@kwire",
        "User:O=y",
    ]


def test_a_name_that_no_rule_is_for_is_nobodys() -> None:
    with pytest.raises(BrokerError, match=r"no rule of ssl\.principal\.mapping\.rules is for CN=b"):
        PrincipalMapper.of("RULE:CN=a/$0/").principal("CN=b")


@pytest.mark.parametrize(
    "rules", ["RULE:a", "RULE:a/b", "nonsense", "RULE:(/x/", "DEFAULT;DEFAULT"]
)
def test_bad_rules_are_refused(rules: str) -> None:
    with pytest.raises(InvalidValue, match=r"ssl\.principal\.mapping\.rules"):
        PrincipalMapper.of(rules)
