"""The steps of a document's other sections: features, configuration, quotas, SCRAM users, ACLs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum

from kwire.admin import registry
from kwire.admin.acls import AclBinding
from kwire.admin.features import FeatureUpdate
from kwire.admin.quotas import QuotaEntity
from kwire.admin.scram import SaltedUpsertion, ScramKey, ScramMechanism
from kwire.cluster_document.apply_step import ApplyStep, NotApplied, Planned
from kwire.cluster_document.comparison import Difference
from kwire.cluster_document.document import (
    DocumentAcl,
    DocumentConfigs,
    DocumentCredential,
    DocumentQuota,
)
from kwire.cluster_document.document_words import RESOURCE_NUMBERS, scram_bytes
from kwire.cluster_document.topic_steps import config_steps
from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType, PatternType
from kwire.messages.config_resource import ConfigResource
from kwire.net.scram_keys import HASHES, LEAST_ITERATIONS, MOST_ITERATIONS


def feature_steps(
    level: int, differences: Sequence[Difference], *, allowed: bool
) -> Iterator[Planned]:
    """Yield the step that raises a feature's level. allowed: False to leave levels alone."""
    difference = _per_field(differences[0])[0]
    old = difference.old if isinstance(difference.old, int) else 0
    if level == old:
        return  # 0 is what a feature has that was never set
    if level < old:
        reason = "no level is lowered: see `kwire features downgrade`"
        yield NotApplied(difference=difference, reason=reason)
    elif not allowed:
        reason = "levels are set only with `set_features=True`: they cannot always be lowered again"
        yield NotApplied(difference=difference, reason=reason)
    else:
        yield ApplyStep(
            operation=registry.UPDATE_FEATURES,
            key=difference.name,
            argument=FeatureUpdate(level=level),
            differences=(difference,),
        )


def resource_steps(entry: DocumentConfigs, differences: Sequence[Difference]) -> Iterator[Planned]:
    """Yield the step that configures a broker, all brokers, a group or client metrics."""
    known = RESOURCE_NUMBERS.get(entry.type)
    type = int(entry.type) if known is None else known
    resource = ConfigResource(type, entry.name or "")
    yield from config_steps(resource, _per_field(*differences))


def quota_steps(quota: DocumentQuota, differences: Sequence[Difference]) -> Iterator[Planned]:
    """Yield the step that sets the quotas of an entity."""
    fields = _per_field(*differences)
    if not fields:
        return
    yield ApplyStep(
        operation=registry.ALTER_CLIENT_QUOTAS,
        key=QuotaEntity(frozenset(quota.entity.items())),
        argument={difference.field: quota.quotas[difference.field] for difference in fields},
        differences=tuple(fields),
        records=len(fields),
    )


def credential_steps(
    credential: DocumentCredential, differences: Sequence[Difference]
) -> Iterator[Planned]:
    """Yield the step that sets a credential, if the document has what that takes."""
    if reason := _unsettable(credential):
        for difference in differences:
            yield NotApplied(difference=difference, reason=reason)
        return
    assert credential.salted_password is not None, "it was looked at"
    assert credential.salt is not None, "both are there, or none"
    mechanism = ScramMechanism[credential.mechanism.replace("-", "_")]
    yield ApplyStep(
        operation=registry.ALTER_USER_SCRAM_CREDENTIALS,
        key=ScramKey(credential.user, mechanism),
        argument=SaltedUpsertion(
            user=credential.user,
            mechanism=mechanism,
            iterations=credential.iterations,
            salt=scram_bytes(credential.salt),
            salted_password=scram_bytes(credential.salted_password),
        ),
        differences=tuple(differences),
    )


def _unsettable(credential: DocumentCredential) -> str:
    if credential.mechanism not in HASHES:
        return "kwire does not know the mechanism"
    if credential.salted_password is None:
        return (
            "no credential can be made of the keys that a cluster stores: give it salt and"
            f" saltedPassword in the document, or see `kwire scram set {credential.user}`"
        )
    if not LEAST_ITERATIONS <= credential.iterations <= MOST_ITERATIONS:
        return f"Kafka takes {LEAST_ITERATIONS} to {MOST_ITERATIONS} iterations"
    return ""


def acl_steps(acl: DocumentAcl, differences: Sequence[Difference]) -> Iterator[Planned]:
    """Yield the step that adds an ACL."""
    yield ApplyStep(
        operation=registry.CREATE_ACLS,
        key=AclBinding(
            resource_type=_number(AclResourceType, acl.resource_type),
            resource_name=acl.resource_name,
            pattern_type=_number(PatternType, acl.pattern_type),
            principal=acl.principal,
            host=acl.host,
            operation=_number(AclOperation, acl.operation),
            permission=_number(AclPermission, acl.permission),
        ),
        argument=None,
        differences=tuple(differences),
    )


def _number(names: type[IntEnum], word: str) -> int:
    return int(word) if word.isdecimal() else names[word]


def _per_field(*differences: Difference) -> list[Difference]:
    """Return differences of single fields: of a whole entry one for each."""
    fields = []
    for difference in differences:
        if difference.field or not isinstance(difference.new, Mapping):
            fields.append(difference)
            continue
        fields += [
            replace(difference, field=str(key), new=value) for key, value in difference.new.items()
        ]
    return fields
