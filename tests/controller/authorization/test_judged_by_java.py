"""Random ACLs and questions, judged by Kafka's StandardAuthorizer and by kwire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from uuid import UUID

import pytest

import vectors
from kwire.controller.authorization.standard_authorizer import StandardAuthorizer
from kwire.image.acls import AclsImage
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from tests.support.seed import SEED

pytestmark = pytest.mark.java
RELEASES = ("4.3.1", "4.4.0")

PRINCIPALS = ("User:a", "User:b", "User:*", "Group:a", "User:CN=x,O=y")
SENDERS = tuple(principal for principal in PRINCIPALS if principal != "User:*")
SUPER_USERS = ("", "User:b", "User:b;Group:a", "User:*")
ADDRESSES = ("10.0.0.1", "10.0.7.1", "192.168.1.1", "fd00::1", "fd00:0:0:1::1", "::1", "127.0.0.1")
HOSTS = ("*", "*", "10.0.0.1", "0:0:0:0:0:0:0:1", "::1", "fd00:0:0:0:0:0:0:1", "")
RANGES = (
    *("10.0.0.0/8", "10.0.0.0/24", "10.0.0.1/32", "10.0.0.9/24", "0.0.0.0/0", "10.0.0.0/33"),
    *("010.0.0.0/8", "10.0.0/24", "10.0.0.0/", "/8", "10.0.0.256/8", " 10.0.0.0/8", "10.0.0.0/08"),
    *("fd00::/64", "fd00::/8", "FD00::/16", "::/0", "::1/128", "fd00::1/129", "fd00:::/8", ":/8"),
    *(
        "::ffff:10.0.0.0/104",
        "::10.0.0.1/128",
        "fd00::/-1",
        "fd00::/+8",
        "10.0.0.1/a",
        "[fd00::]/8",
    ),
    *(
        "fd00::/8/8",
        "10.0.0.0/8/8",
        "10.0.0.0/+8",
        "10.0.0.1/31",
        "fd00::/-0",
        "fd00::/00008",
        "[fd00::/8",
    ),
)
ODD_RANGES = (
    *("fe80::1%1/64", "fe80::%1/10", "fe80::1%/64", "[fd00::1%1]/8", "fe80::1%a%b/64"),
    *("00001::/16", "::01.2.3.4/8", "fd00::/\N{ARABIC-INDIC DIGIT THREE}", "::/0000000000128"),
    *("1:2:3:4:5:6:1.2.3.4/8", "1:2:3:4:5:6:7:1.2.3.4/8", "::1.2.3.256/8", "::1.2.3/8"),
    *("1:2:3:4:5:6:7:8:9/8", "1::2::3/8", "::2:3:4:5:6:7:8/8", "12345::/8", "::0.0.0.001/96"),
    *("::ffff:a00:1/104", "0:0:0:0:0:ffff:10.0.0.1/104", "1::8/4294967296", "[fd00::]/8]"),
)
ALPHABET = "abAZ*-é𝄞"


def name(random: Random, length: int) -> str:
    return "".join(random.choice(ALPHABET[: random.choice((2, 4, 8))]) for _ in range(length))


def rule(random: Random, hosts: tuple[str, ...]) -> vectors.AclRule:
    is_wildcard = random.random() < 0.15
    return (
        random.randint(2, 4),
        "*" if is_wildcard else name(random, random.randint(1, 5)),
        random.choice((3, 4)),
        random.choice(PRINCIPALS),
        random.choice(hosts),
        random.randint(2, 15),
        random.choice((2, 3, 3, 3)),
    )


def question(random: Random, rules: list[vectors.AclRule]) -> vectors.AclQuestion:
    principal = random.choice(SENDERS)
    address = random.choice(ADDRESSES)
    wanted = name(random, random.randint(1, 6))
    if rules and random.random() < 0.7:
        wanted = random.choice(rules)[1] + name(random, random.choice((0, 0, 1, 3)))
    return principal, address, random.randint(3, 15), random.randint(2, 4), wanted


def decide(
    rules: list[vectors.AclRule],
    questions: list[vectors.AclQuestion],
    authorizer: StandardAuthorizer,
) -> list[str]:
    """Return kwire's decisions, as Java's names."""
    acls = AclsImage()
    for number, (type, resource, pattern, principal, host, operation, permission) in enumerate(
        rules, 1
    ):
        acls = acls.put(
            AccessControlEntryRecord(
                id=UUID(int=number),
                resource_type=type,
                resource_name=resource,
                pattern_type=pattern,
                principal=principal,
                host=host,
                operation=operation,
                permission_type=permission,
            )
        )
    return [
        "ALLOWED"
        if authorizer.access(acls, principal, host).permits(
            AclOperation(operation), AclResourceType(type), resource
        )
        else "DENIED"
        for principal, host, operation, type, resource in questions
    ]


@pytest.fixture(scope="module", params=RELEASES)
def judge(request: pytest.FixtureRequest) -> Iterator[vectors.AclJudge]:
    """The authorizer of a release in a process of its own."""
    with vectors.AclJudge(request.param) as process:
        yield process


def test_random_questions_get_the_answers_of_kafkas_authorizer(judge: vectors.AclJudge) -> None:
    random = Random(SEED)
    # 4.3.1 has no ranges of addresses: it compares their text
    hosts = HOSTS + RANGES if judge.release == "4.4.0" else HOSTS
    decisions: Counter[str] = Counter()
    for _ in range(120):
        count = random.choice((0, 1, 3, 10, 40, 150))
        rules = list({rule(random, hosts): None for _ in range(count)})
        questions = [question(random, rules) for _ in range(50)]
        super_users, by_default = random.choice(SUPER_USERS), random.random() < 0.3
        authorizer = StandardAuthorizer(
            super_users=frozenset(filter(None, super_users.split(";"))),
            allow_by_default=by_default,
        )
        theirs = judge(rules, questions, super_users=super_users, by_default=by_default)
        ours = decide(rules, questions, authorizer)
        assert ours == theirs, (SEED, rules, questions)
        decisions.update(theirs)
    assert set(decisions) == {"ALLOWED", "DENIED"}
    assert min(decisions.values()) > 500


def test_every_range_is_what_kafka_takes_it_for() -> None:
    addresses = [*ADDRESSES, "10.0.0.0", "10.0.0.255", "0.0.0.1", "fd00::", "1::", "fe80::1"]
    rules: list[vectors.AclRule] = [
        (2, f"t{number}", 3, "User:a", host, 3, 3)
        for number, host in enumerate(RANGES + ODD_RANGES)
    ]
    questions: list[vectors.AclQuestion] = [
        ("User:a", address, 3, 2, rule[1]) for rule in rules for address in addresses
    ]
    with vectors.AclJudge("4.4.0") as kafka:
        theirs = kafka(rules, questions)
    ours = decide(rules, questions, StandardAuthorizer())
    differing = [
        (rules[int(question[4][1:])][4], question[1], our, their)
        for question, our, their in zip(questions, ours, theirs, strict=True)
        if our != their
    ]
    assert not differing


def test_names_before_the_star_keep_kafkas_authorizer_busy_for_ever() -> None:
    """Two names that begin with a character below `*`, which groups may have, topics not."""
    rules: list[vectors.AclRule] = [(3, "!b", 3, "User:a", "*", 3, 3)]
    with vectors.AclJudge("4.4.0") as kafka:
        assert kafka(rules, [("User:a", "10.0.0.1", 3, 3, "!a")]) == ["no answer"]
        two: list[vectors.AclRule] = [(3, "!!b", 3, "User:a", "*", 3, 3)]
        assert kafka(two, [("User:a", "10.0.0.1", 3, 3, "!!a")]) == [
            "StringIndexOutOfBoundsException"
        ]
    assert decide(rules, [("User:a", "10.0.0.1", 3, 3, "!a")], StandardAuthorizer()) == ["DENIED"]


def test_a_client_whose_name_is_a_star_is_nobody_special() -> None:
    rules: list[vectors.AclRule] = [(2, "t", 3, "User:*", "*", 3, 3)]
    asked: list[vectors.AclQuestion] = [("User:*", "10.0.0.1", 3, 2, "t")]
    with vectors.AclJudge("4.4.0") as kafka:
        assert kafka(rules, asked) == ["IllegalArgumentException"]
    assert decide(rules, asked, StandardAuthorizer()) == ["ALLOWED"]


def test_a_principal_without_a_colon_breaks_kafkas_authorizer_only() -> None:
    rules: list[vectors.AclRule] = [
        (2, "t", 3, "nobody", "*", 3, 2),
        (2, "t", 3, "User:a", "*", 3, 3),
    ]
    asked: list[vectors.AclQuestion] = [("User:a", "10.0.0.1", 3, 2, "t")]
    with vectors.AclJudge("4.4.0") as kafka:
        assert kafka(rules, asked) == ["IllegalStateException"]
    assert decide(rules, asked, StandardAuthorizer()) == ["ALLOWED"]
