"""The groups of options of `kwire acls`."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.cli.options import flag, repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class AclResources:
    """The options that name resources."""

    topics: list[str] = repeated("--topic", metavar="NAME", help="`*` for all. Repeatable.")
    groups: list[str] = repeated("--group", metavar="NAME", help="`*` for all. Repeatable.")
    cluster: bool = flag("--cluster", help="The cluster as a whole.")
    transactional_ids: list[str] = repeated(
        "--transactional-id", metavar="ID", help="`*` for all. Repeatable."
    )
    tokens: list[str] = repeated(
        "--delegation-token", metavar="ID", help="A token's id. Repeatable."
    )
    users: list[str] = repeated(
        "--user-principal", metavar="USER", help="A user whose tokens are meant. Repeatable."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AclGrantees:
    """The options that say who is allowed or denied, and from which hosts."""

    allow: list[str] = repeated(
        "--allow-principal", metavar="User:NAME", help="`User:*` for all. Repeatable."
    )
    deny: list[str] = repeated(
        "--deny-principal", metavar="User:NAME", help="Add or match DENY. Repeatable."
    )
    allow_hosts: list[str] = repeated(
        "--allow-host", metavar="IP", help="By default any. Repeatable."
    )
    deny_hosts: list[str] = repeated(
        "--deny-host", metavar="IP", help="By default any. Repeatable."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AclGrants:
    """The options that say which operations are meant, one by one or those of a kind of client."""

    operations: list[str] = repeated("--operation", metavar="NAME", help="Read, … Repeatable.")
    producer: bool = flag(
        "--producer", help="WRITE, DESCRIBE, CREATE on topics; transactional ids."
    )
    consumer: bool = flag("--consumer", help="READ, DESCRIBE on topics; READ on groups.")
    idempotent: bool = flag(
        "--idempotent", help="IDEMPOTENT_WRITE, before Kafka 2.8 for producers."
    )

    @property
    def of_clients(self) -> bool:
        """True if operations are named by a kind of client."""
        return self.producer or self.consumer or self.idempotent
