"""Delegation tokens (kafka.zk.migration.ZkDelegationTokenMigrationClient)."""

from __future__ import annotations

from kwire.image.delegation_tokens import DelegationToken
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper.operations import Delete, SetData
from kwire.zookeeper.paths import parent_of
from kwire.zookeeper.znodes import DelegationTokenZnode

UPDATE_DELEGATION_TOKEN = "UpdateDelegationToken"
DELETE_DELEGATION_TOKEN = "DeleteDelegationToken"

_FOLDERS = (parent_of(DelegationTokenZnode.parent), DelegationTokenZnode.parent)


def write_token(id: str, token: DelegationToken) -> ZnodeWrite:
    """Return the write of a token, new or renewed."""
    znode = DelegationTokenZnode(
        token_id=id,
        owner=token.owner,
        requester=token.requester,
        renewers=token.renewers,
        issue_timestamp=token.issue_timestamp,
        max_timestamp=token.max_timestamp,
        expiry_timestamp=token.expiration_timestamp,
    )
    return ZnodeWrite(
        type=UPDATE_DELEGATION_TOKEN,
        description=f"Updated DelegationToken for {id}",
        operations=(SetData(DelegationTokenZnode.path(id), znode.encode()),),
        folders=_FOLDERS,
    )


def delete_token(id: str) -> ZnodeWrite:
    """Return the write that deletes a token."""
    return ZnodeWrite(
        type=DELETE_DELEGATION_TOKEN,
        description=f"Deleted DelegationToken for {id}",
        operations=(Delete(DelegationTokenZnode.path(id)),),
    )
