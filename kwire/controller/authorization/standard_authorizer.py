"""The authorizer of KRaft clusters (Java: StandardAuthorizer, StandardAuthorizerData; KIP-801)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kwire.controller.authorization.hosts import host_text, is_in_range
from kwire.errors import InvalidValue
from kwire.image.acls import WILDCARD, AclsImage, StandardAcl
from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType

CLASS_NAME = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
WILDCARD_PRINCIPAL = "User:*"

_ALLOW, _DENY, _ALL = int(AclPermission.ALLOW), int(AclPermission.DENY), int(AclOperation.ALL)

# An ALLOW of one of these allows to describe, too; a DENY denies itself only.
_IMPLIED_BY: Mapping[int, frozenset[int]] = {
    AclOperation.DESCRIBE: frozenset(
        {
            AclOperation.DESCRIBE,
            AclOperation.READ,
            AclOperation.WRITE,
            AclOperation.DELETE,
            AclOperation.ALTER,
        }
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset(
        {AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS}
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardAuthorizer:
    """The settings of the authorizer; the ACLs are in the image.

    super_users: principals as `User:name`, who may do everything. allow_by_default: True to allow
    what no ACL is about (allow.everyone.if.no.acl.found).
    """

    super_users: frozenset[str] = frozenset()
    allow_by_default: bool = False

    def is_super_user(self, principal: str) -> bool:
        """Return True if a principal may do everything."""
        return principal in self.super_users

    def access(self, acls: AclsImage, principal: str, host: str) -> AclAccess:
        """Return what a principal may do from an address."""
        return AclAccess(authorizer=self, acls=acls, principal=principal, host=host_text(host))


@dataclass(frozen=True, slots=True, kw_only=True)
class AclAccess:
    """The access of one principal from one address, by the ACLs of one image.

    host: as `host_text` returns it.
    """

    authorizer: StandardAuthorizer
    acls: AclsImage
    principal: str
    host: str

    def permits(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        """Return True if the operation on that resource is allowed.

        1. A super user may do everything.
        2. Of all ACLs for the name, its prefixes and `*`, and for the principal and `User:*`, one
           that denies decides, whichever others allow.
        3. One that allows decides next.
        4. Resources with ACLs for others only: denied; without any: allow.everyone.if.no.acl.found.
        """
        # 1.
        if self.authorizer.is_super_user(self.principal):
            return True
        is_allowed = has_acls = False
        for by_principal in self.acls.covering(resource_type, name):
            has_acls = True
            for principal in {self.principal, WILDCARD_PRINCIPAL}:
                rules = by_principal.get(principal)
                for acl in rules.values() if rules is not None else ():
                    if self._applies(acl, operation):
                        # 2.
                        if acl.permission_type != _ALLOW:
                            return False
                        is_allowed = True
        # 3., 4.
        return is_allowed or (not has_acls and self.authorizer.allow_by_default)

    def _applies(self, acl: StandardAcl, operation: int) -> bool:
        """Return True if an ACL is about the operation and this address."""
        if acl.operation not in (_ALL, operation) and (
            acl.permission_type != _ALLOW or acl.operation not in _IMPLIED_BY.get(operation, ())
        ):
            return False
        host = acl.host
        return host in (WILDCARD, self.host) or ("/" in host and is_in_range(self.host, host))


def standard_authorizer(pairs: Mapping[str, str]) -> StandardAuthorizer | None:
    """Return the authorizer of a server.properties; None without authorizer.class.name.

    Raises InvalidValue for another class, or a super user that is not `type:name`.
    """
    name = pairs.get("authorizer.class.name", "").strip()
    if not name:
        return None
    if name != CLASS_NAME:
        text = f"authorizer.class.name is {name}: only {CLASS_NAME} is supported"
        raise InvalidValue(text)
    users = [user for text in pairs.get("super.users", "").split(";") if (user := text.strip())]
    for user in users:
        type, colon, user_name = user.partition(":")
        if not (type and colon and user_name):
            raise InvalidValue(f"super.users: {user!r} is not type:name, such as User:alice")
    by_default = pairs.get("allow.everyone.if.no.acl.found", "").strip().lower() == "true"
    return StandardAuthorizer(super_users=frozenset(users), allow_by_default=by_default)
