"""The ACLs of new znodes, if zookeeper.set.acl is true (ZkData.defaultAcls)."""

from __future__ import annotations

from kwire.zookeeper import Create
from kwire.zookeeper.kazoo_requests import request_of
from migrating.real_clusters.zookeeper_acls import acls_by_path, kept_acls


def test_only_what_may_be_secret_is_hidden_and_only_consumers_are_open() -> None:
    expected = acls_by_path(kept_acls())
    found = {path: request_of(Create(path), "", set_acl=True).acl for path in expected}
    creator = {("auth", ""): "sasl:kafka", ("world", "anyone"): "world:anyone"}
    named = {
        path: [f"{creator[acl.id.scheme, acl.id.id]}:{acl.perms}" for acl in acls]
        for path, acls in found.items()
    }
    assert named == expected
    assert {len(acl) for acl in expected.values()} == {1, 2}


def test_without_the_setting_everything_is_open() -> None:
    acls = request_of(Create("/config/users/alice"), "", set_acl=False).acl
    assert [(acl.id.scheme, acl.perms) for acl in acls] == [("world", 31)]
