"""The permissions of the sender of one request, as handlers ask for them."""

from __future__ import annotations

from typing import Protocol

from kwire.messages.access_control import AclOperation, AclResourceType


class Access(Protocol):
    """Tells what the sender of a request may do."""

    def permits(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        """Return True if the operation on that resource is allowed."""
        ...


class FullAccess:
    """The access of everybody, where no authorizer is configured."""

    def permits(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        """Return True."""
        return True


FULL_ACCESS = FullAccess()
