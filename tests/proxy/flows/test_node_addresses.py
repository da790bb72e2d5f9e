"""The table of addresses against every declaration: none is missing, none is made up."""

import re
from collections.abc import Iterator
from typing import Any, cast

from kwire.codec.fields import ArrayOf, Nullable, StructClass, StructOf
from kwire.messages.registry import all_messages, message
from kwire.proxy.flows.node_addresses import ADDRESS_FIELDS, may_carry_address

SUSPICIOUS = re.compile(r"(^|_)(host|hosts|port|ports|address(es)?|end_?points?|listeners?)(_|$)")

NO_ADDRESSES = {
    r"\w+Acls(Request|Response) .*host(_filter)?": "hosts that an ACL allows or denies",
    r"AccessControlEntryRecord host": "a host that an ACL allows or denies",
    r".* (.*\.)?client_host": "where a member of a group came from: nobody calls it back",
    r"EnvelopeRequest client_host_address": "where a client came from: for ACLs and quotas",
    r"DescribeCluster\w+ endpoint_type": "whether brokers or controllers are asked for",
    r"StreamsGroup\w+ .*endpoint.*": "of applications, to each other (KIP-1071): no node's",
    r"UpdateMetadataRequest live_brokers.endpoints.listener": "the listener's name",
}
"""What is named like an address and is none, with the reason."""


def fields(kind: StructClass, path: str = "") -> Iterator[tuple[str, bool]]:
    """The path of every field, and whether it is a struct or an array of them."""
    for name, field in kind.fields.items():
        node = field.type.inner if isinstance(field.type, Nullable) else field.type
        node = node.element if isinstance(node, ArrayOf) else node
        yield f"{path}{name}", isinstance(node, StructOf)
        if isinstance(node, StructOf):
            yield from fields(cast(Any, node).cls, f"{path}{name}.")


def listed() -> set[str]:
    """Return the fields of the table: hosts, ports, and the structs that hold them."""
    found = set()
    for field in ADDRESS_FIELDS:
        inside = f"{field.path}." if field.path else ""
        steps = field.path.split(".") if field.path else []
        found |= {f"{field.message} {'.'.join(steps[: n + 1])}" for n in range(len(steps))}
        found |= {f"{field.message} {inside}{name}" for name in (field.host, field.port)}
    return found


def test_every_field_named_like_an_address_is_in_the_table_or_has_a_reason_not_to_be() -> None:
    suspicious = {
        f"{kind.__name__} {path}"
        for kind in all_messages()
        for path, _ in fields(kind)
        if SUSPICIOUS.search(path.rpartition(".")[2])
    }
    excused = {
        suspiciou
        for suspiciou in suspicious
        for form in NO_ADDRESSES
        if re.fullmatch(form, suspiciou)
    }
    assert excused & listed() == set()
    assert suspicious - listed() - excused == set()
    unused = [form for form in NO_ADDRESSES if not any(re.fullmatch(form, o) for o in suspicious)]
    assert unused == []


def test_every_row_of_the_table_is_declared() -> None:
    for row in ADDRESS_FIELDS:
        kind = message(row.message)
        paths = dict(fields(kind))
        inside = f"{row.path}." if row.path else ""
        assert {f"{inside}{row.host}", f"{inside}{row.port}"} <= paths.keys(), row
        steps = row.path.split(".") if row.path else []
        assert all(paths[".".join(steps[: n + 1])] for n in range(len(steps))), row
        assert any(path.endswith(row.node_id) for path in paths), row
        assert any(may_carry_address(kind, version) for version in kind.versions), row
