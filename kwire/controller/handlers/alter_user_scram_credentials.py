"""AlterUserScramCredentials (KIP-554, KIP-900)."""

from __future__ import annotations

from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.result import ControllerContext, ControllerResult, versioned
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.scram import MECHANISMS, ScramUser
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.net.scram_keys import LEAST_ITERATIONS, MOST_ITERATIONS, scram_keys

ScramChange = ScramCredentialDeletion | ScramCredentialUpsertion


def handle(
    request: AlterUserScramCredentialsRequest, context: ControllerContext
) -> ControllerResult:
    """Store and remove credentials of users (Java: ScramControlManager.alterCredentials).

    For each user, deletions first, until there is an error:

    1. A second change of the same user: DUPLICATE_RESOURCE, and none is made.
    2. metadata.version below 3.5-IV2: UNSUPPORTED_VERSION.
    3. An empty name: UNACCEPTABLE_CREDENTIAL.
    4. An unknown mechanism: UNSUPPORTED_SASL_MECHANISM.
    5. Deletion of an absent credential: RESOURCE_NOT_FOUND.
    6. Less than 4,096 or more than 16,384 iterations: UNACCEPTABLE_CREDENTIAL.

    For the others:

    7. An empty password: UNKNOWN_SERVER_ERROR, as Java's key takes no empty one.
    8. One record; of the password it has the keys that verify it.
    """
    errors: dict[str, ApiError] = {}
    changes: dict[str, ScramChange] = {}
    requested: list[ScramChange] = [*request.deletions, *request.upsertions]
    for change in requested:
        if change.name in errors:
            continue
        try:
            # 1.
            if changes.pop(change.name, None) is not None:
                text = "A user's credentials cannot be altered twice in one request."
                raise ApiError(ErrorCode.DUPLICATE_RESOURCE, text)
            _check(change, context)
        except ApiError as error:
            errors[change.name] = error
        else:
            changes[change.name] = change
    # 7.
    for name in [name for name, change in changes.items() if _is_empty(change)]:
        del changes[name]
        text = "The password must not be empty."
        errors[name] = ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    records = [versioned(_record(change)) for change in changes.values()]
    check_records(records)
    results = [AlterUserScramCredentialsResult(user=name, error_message=None) for name in changes]
    results += [
        AlterUserScramCredentialsResult(
            user=name, error_code=error.code, error_message=error.message
        )
        for name, error in errors.items()
    ]
    return ControllerResult(
        records=tuple(records), response=AlterUserScramCredentialsResponse(results=results)
    )


def _check(change: ScramChange, context: ControllerContext) -> None:
    # 2.
    if not context.metadata_version.supports_scram:
        text = f"metadata.version {context.metadata_version.name} does not support SCRAM."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 3.
    if not change.name:
        raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "The name of a user must not be empty.")
    # 4.
    if change.mechanism not in MECHANISMS:
        text = f"Mechanism {change.mechanism} is not a SCRAM mechanism."
        raise ApiError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, text)
    # 5.
    if isinstance(change, ScramCredentialDeletion):
        if ScramUser(change.mechanism, change.name) not in context.image.scram.credentials:
            text = "The user has no such credential."
            raise ApiError(ErrorCode.RESOURCE_NOT_FOUND, text)
        return
    # 6.
    if not LEAST_ITERATIONS <= change.iterations <= MOST_ITERATIONS:
        text = f"{LEAST_ITERATIONS} to {MOST_ITERATIONS} iterations are allowed."
        raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, text)


def _is_empty(change: ScramChange) -> bool:
    return isinstance(change, ScramCredentialUpsertion) and not change.salted_password


def _record(change: ScramChange) -> RemoveUserScramCredentialRecord | UserScramCredentialRecord:
    # 8.
    if isinstance(change, ScramCredentialDeletion):
        return RemoveUserScramCredentialRecord(name=change.name, mechanism=change.mechanism)
    keys = scram_keys(MECHANISMS[change.mechanism], change.salted_password)
    return UserScramCredentialRecord(
        name=change.name,
        mechanism=change.mechanism,
        salt=change.salt,
        stored_key=keys.stored_key,
        server_key=keys.server_key,
        iterations=change.iterations,
    )
