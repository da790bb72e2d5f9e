"""The decisions of the authorizer, after Kafka's StandardAuthorizerTest."""

from random import Random
from uuid import UUID

import pytest

from kwire.controller.authorization.hosts import host_text
from kwire.controller.authorization.standard_authorizer import (
    CLASS_NAME,
    StandardAuthorizer,
    standard_authorizer,
)
from kwire.errors import InvalidValue
from kwire.image.acls import AclsImage
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord

ALICE, BOB, SUPER = "User:alice", "User:bob", "User:super"
READ, WRITE, ALTER = AclOperation.READ, AclOperation.WRITE, AclOperation.ALTER
DESCRIBE, DESCRIBE_CONFIGS = AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS
ALTER_CONFIGS, ALL, CREATE = AclOperation.ALTER_CONFIGS, AclOperation.ALL, AclOperation.CREATE
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY


class Rules:
    """An image of ACLs about topics, and questions to it."""

    def __init__(self, *, allow_by_default: bool = False) -> None:
        self.acls = AclsImage()
        self.authorizer = StandardAuthorizer(
            super_users=frozenset({SUPER}), allow_by_default=allow_by_default
        )

    def add(
        self,
        permission: AclPermission,
        operation: AclOperation,
        name: str,
        principal: str = ALICE,
        *,
        host: str = "*",
        prefixed: bool = False,
    ) -> UUID:
        id = UUID(int=len(self.acls.by_id) + 1)
        record = AccessControlEntryRecord(
            id=id,
            resource_type=AclResourceType.TOPIC,
            resource_name=name,
            pattern_type=PatternType.PREFIXED if prefixed else PatternType.LITERAL,
            principal=principal,
            host=host,
            operation=operation,
            permission_type=permission,
        )
        self.acls = self.acls.put(record)
        return id

    def remove(self, id: UUID) -> None:
        self.acls = self.acls.remove(RemoveAccessControlEntryRecord(id=id))

    def permits(
        self,
        operation: AclOperation,
        name: str,
        principal: str = ALICE,
        host: str = "127.0.0.1",
    ) -> bool:
        access = self.authorizer.access(self.acls, principal, host)
        return access.permits(operation, AclResourceType.TOPIC, name)


def test_a_denial_counts_more_than_any_permission() -> None:
    rules = Rules()
    rules.add(ALLOW, ALL, "foo")
    rules.add(DENY, READ, "fo", prefixed=True)

    assert not rules.permits(READ, "foo")
    assert rules.permits(WRITE, "foo")


def test_names_prefixes_and_the_wildcard_cover_a_resource() -> None:
    rules = Rules()
    rules.add(ALLOW, READ, "foo")
    rules.add(ALLOW, WRITE, "ba", prefixed=True)
    rules.add(ALLOW, ALTER, "*")

    assert [rules.permits(READ, name) for name in ("foo", "foobar", "fo")] == [True, False, False]
    assert [rules.permits(WRITE, name) for name in ("bar", "ba", "b")] == [True, True, False]
    assert [rules.permits(ALTER, name) for name in ("foo", "", "*")] == [True, True, True]


def test_the_wildcard_does_not_cover_names_that_begin_with_it() -> None:
    rules = Rules()
    rules.add(ALLOW, READ, "*")

    assert [rules.permits(READ, name) for name in ("*", "*a", "a*")] == [True, False, True]


def test_a_prefix_of_one_star_is_no_wildcard() -> None:
    rules = Rules()
    rules.add(ALLOW, READ, "*", prefixed=True)

    assert [rules.permits(READ, name) for name in ("foo", "*foo")] == [False, True]


@pytest.mark.parametrize("operation", [READ, WRITE, AclOperation.DELETE, ALTER, ALL])
def test_permissions_to_use_a_resource_allow_to_describe_it(operation: AclOperation) -> None:
    rules = Rules()
    rules.add(ALLOW, operation, "foo")

    assert rules.permits(DESCRIBE, "foo")
    assert rules.permits(DESCRIBE_CONFIGS, "foo") == (operation == ALL)


def test_alter_configs_allows_to_describe_them_but_its_denial_denies_nothing_else() -> None:
    rules = Rules()
    rules.add(ALLOW, ALTER_CONFIGS, "foo")
    rules.add(DENY, READ, "bar")
    rules.add(ALLOW, DESCRIBE, "bar")

    assert rules.permits(DESCRIBE_CONFIGS, "foo")
    assert not rules.permits(DESCRIBE, "foo")
    assert rules.permits(DESCRIBE, "bar")


def test_the_wildcard_principal_is_everybody_of_any_type() -> None:
    rules = Rules()
    rules.add(ALLOW, READ, "foo", "User:*")
    rules.add(ALLOW, READ, "bar", "Group:*")

    assert rules.permits(READ, "foo", BOB)
    assert rules.permits(READ, "foo", "Group:a")
    assert not rules.permits(READ, "bar", "Group:a")


def test_without_acls_for_a_resource_the_default_decides() -> None:
    rules = Rules(allow_by_default=True)
    rules.add(ALLOW, READ, "foo", BOB)

    assert not rules.permits(READ, "foo")
    assert rules.permits(READ, "bar")
    assert not Rules().permits(READ, "bar")


def test_super_users_need_no_permission() -> None:
    rules = Rules()
    rules.add(DENY, ALL, "*", "User:*")

    assert rules.permits(READ, "foo", SUPER)
    assert not rules.permits(READ, "foo")


@pytest.mark.parametrize(
    ("acl_host", "host", "matches"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("0:0:0:0:0:0:0:1", "::1", True),
        ("::1", "::1", False),  # Kafka compares with the long form only
        ("10.1.0.0/16", "10.1.2.3", True),
        ("10.1.0.0/16", "10.2.2.3", False),
        ("fd00::/8", "fd12::1", True),
        ("fd00::/8", "10.0.0.1", False),
        ("10.0.0.0/99", "10.0.0.1", False),
    ],
)
def test_hosts_are_addresses_or_ranges(acl_host: str, host: str, matches: bool) -> None:
    rules = Rules()
    rules.add(ALLOW, READ, "foo", host=acl_host)

    assert rules.permits(READ, "foo", host=host) == matches


def test_hosts_are_written_as_java_does() -> None:
    hosts = ["::1", "fe80::1%eth0", "::ffff:1.2.3.4", "1.2.3.4", "a name", "2001:db8::ff00:42"]

    assert [host_text(host) for host in hosts] == [
        "0:0:0:0:0:0:0:1",
        "fe80:0:0:0:0:0:0:1%eth0",
        "1.2.3.4",
        "1.2.3.4",
        "a name",
        "2001:db8:0:0:0:0:ff00:42",
    ]


def test_what_is_removed_has_no_effect_any_more() -> None:
    rules = Rules(allow_by_default=True)
    ids = [rules.add(DENY, READ, "fo", prefixed=True), rules.add(DENY, READ, "foo")]
    ids.append(rules.add(DENY, READ, "*", BOB))
    assert not rules.permits(READ, "foo")

    for id in ids:
        rules.remove(id)

    assert rules.permits(READ, "foo")
    assert rules.acls == AclsImage()


def test_the_index_stays_what_the_acls_are() -> None:
    random = Random(1)
    rules, ids = Rules(), set[UUID]()
    for _ in range(500):
        if ids and random.random() < 0.45:
            id = random.choice(sorted(ids))
            ids.remove(id)
            rules.remove(id)
        else:
            name = "abcdef"[: random.randint(1, 4)]
            principal = random.choice((ALICE, BOB))
            rules.acls = rules.acls.put(
                AccessControlEntryRecord(
                    id=(id := UUID(int=random.getrandbits(64) + 1)),
                    resource_type=random.randint(2, 3),
                    resource_name=name,
                    pattern_type=random.randint(3, 4),
                    principal=principal,
                    host="*",
                    operation=READ,
                    permission_type=ALLOW,
                )
            )
            ids.add(id)
    again = AclsImage()
    for written in rules.acls.records():
        assert isinstance(written.record, AccessControlEntryRecord)
        again = again.put(written.record)
    assert again == rules.acls
    assert len(again.by_id) == len(ids) > 20


def test_the_settings_are_those_of_server_properties() -> None:
    pairs = {
        "authorizer.class.name": CLASS_NAME,
        "super.users": " User:a ;User:CN=b,O=c;;",
        "allow.everyone.if.no.acl.found": " True ",
    }

    authorizer = standard_authorizer(pairs)

    assert authorizer == StandardAuthorizer(
        super_users=frozenset({"User:a", "User:CN=b,O=c"}), allow_by_default=True
    )
    assert standard_authorizer({"super.users": "User:a"}) is None


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ({"authorizer.class.name": "my.Authorizer"}, "only org.apache.kafka.metadata"),
        ({"authorizer.class.name": CLASS_NAME, "super.users": "alice"}, "'alice' is not type:name"),
    ],
)
def test_other_settings_are_refused(pairs: dict[str, str], text: str) -> None:
    with pytest.raises(InvalidValue, match=text):
        standard_authorizer(pairs)
