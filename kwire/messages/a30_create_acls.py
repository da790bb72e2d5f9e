"""CreateAcls, API key 30."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int8, int16, int32, nullable, since, string


class AclCreation(Group):
    resource_type: int = int8
    resource_name: str = string
    resource_pattern_type: int = since(1, int8, default=3)
    principal: str = string
    host: str = string
    operation: int = int8
    permission_type: int = int8


class CreateAclsRequest(
    Request, key=30, versions="0-3", flexible="2+", listeners="broker controller"
):
    """An admin allows or denies principals operations on resources (KIP-140)."""

    creations: list[AclCreation] = array(AclCreation)


class AclCreationResult(Group):
    error_code: int = int16
    error_message: str | None = nullable(string)


class CreateAclsResponse(Response, key=30, versions="0-3", flexible="2+"):
    """The controller says for each new ACL whether it is in force (KIP-140)."""

    throttle_time_ms: int = int32
    results: list[AclCreationResult] = array(AclCreationResult)
