"""SCRAM credentials of users: Describe- and AlterUserScramCredentials (KIP-554).

Controllers offer to describe them, and do not: they never answer a request for all users. Of them
the credentials are read from the metadata log.
The password never leaves this process; what is sent is salted and hashed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.errors import InvalidValue, KwireError
from kwire.messages import a50_describe_user_scram_credentials as described
from kwire.messages import a51_alter_user_scram_credentials as altered
from kwire.net.scram_keys import LEAST_ITERATIONS, MOST_ITERATIONS, salted_password

if TYPE_CHECKING:
    from kwire.image import MetadataImage

ITERATIONS = 8192
SALT_LENGTH = 32


class ScramMechanism(IntEnum):
    """The mechanisms by their numbers on the wire."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def text(self) -> str:
        """The name that SASL has for it: `SCRAM-SHA-256`."""
        return self.name.replace("_", "-")


_TEXTS = {mechanism.value: mechanism.text for mechanism in ScramMechanism}


class ScramKey(NamedTuple):
    """A user and one mechanism: what a user has at most one credential for."""

    user: str
    mechanism: int

    def __str__(self) -> str:
        return f"{mechanism_text(self.mechanism)} of {self.user}"


def mechanism_text(number: int) -> str:
    """Return the name that SASL has for a mechanism, or its number as text."""
    return _TEXTS.get(number, str(number))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramCredentialInfo:
    """A credential that a user has. mechanism: a ScramMechanism, or a number kwire has not."""

    mechanism: int
    iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramUpsertion:
    """A credential to set. salt: random; the same is sent again if an answer is lost.

    Raises InvalidValue for too few or too many iterations, or an empty name or password.
    """

    user: str
    mechanism: ScramMechanism
    password: str = field(repr=False)
    iterations: int = ITERATIONS
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(SALT_LENGTH), repr=False)

    def __post_init__(self) -> None:
        _check_credential(self.user, self.iterations)
        if not self.password:
            raise InvalidValue("a SCRAM credential needs a password that is not empty")

    @property
    def salted_password(self) -> bytes:
        """The password as it is sent: hashed with the salt, in Kafka's UTF-8 without SASLprep."""
        password = self.password.encode()
        return salted_password(self.mechanism.text, password, self.salt, self.iterations)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaltedUpsertion:
    """A credential to set whose password only its owner knows: it comes salted and hashed.

    Raises InvalidValue for too few or too many iterations, or an empty name.
    """

    user: str
    mechanism: ScramMechanism
    salted_password: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    iterations: int = ITERATIONS

    def __post_init__(self) -> None:
        _check_credential(self.user, self.iterations)


def _check_credential(user: str, iterations: int) -> None:
    if not LEAST_ITERATIONS <= iterations <= MOST_ITERATIONS:
        raise InvalidValue(
            f"{iterations} iterations: Kafka takes {LEAST_ITERATIONS} to {MOST_ITERATIONS}"
        )
    if not user:
        raise InvalidValue("a SCRAM credential needs the name of a user")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramDeletion:
    """A credential to delete."""

    user: str
    mechanism: int


ScramAlteration = ScramUpsertion | SaltedUpsertion | ScramDeletion


ScramAlterations = Mapping[ScramKey, ScramAlteration]


def _credentials(
    result: described.DescribeUserScramCredentialsResult,
) -> tuple[ScramCredentialInfo, ...]:
    # Java's order is that of a hash map of enum constants: another one at each start of the node.
    return tuple(
        ScramCredentialInfo(mechanism=info.mechanism, iterations=info.iterations)
        for info in sorted(result.credential_infos, key=lambda info: info.mechanism)
    )


def _request(users: tuple[str, ...] | None) -> described.DescribeUserScramCredentialsRequest:
    """Return the question for these users, or for all."""
    names = None if users is None else [described.UserName(name=name) for name in users]
    return described.DescribeUserScramCredentialsRequest(users=names)


def _credentials_by_user(
    response: described.DescribeUserScramCredentialsResponse,
) -> Iterator[tuple[str, tuple[ScramCredentialInfo, ...] | KwireError]]:
    raise_for_code(response.error_code, response.error_message)
    for result in response.results:
        yield result.user, refusal(result.error_code, result.error_message) or _credentials(result)


def _observed(
    image: MetadataImage, users: tuple[str, ...] | None
) -> Iterator[tuple[str, tuple[ScramCredentialInfo, ...] | KwireError]]:
    from kwire.image.answers.describe_user_scram_credentials import answer

    return _credentials_by_user(answer(_request(users), image))


def _alter(
    call: OperationCall[ScramKey, ScramAlterations],
) -> Iterator[tuple[tuple[ScramKey, ...], altered.AlterUserScramCredentialsRequest]]:
    # A controller refuses a request that names a user twice, even for two mechanisms.
    requests: list[dict[str, ScramKey]] = []
    for key in call.keys:
        free = next((request for request in requests if key.user not in request), None)
        if free is None:
            requests.append(free := {})
        free[key.user] = key
    for request in requests:
        keys = tuple(request.values())
        yield keys, _alter_request([call.arguments[key] for key in keys])


def _alter_request(
    alterations: Iterable[ScramAlteration],
) -> altered.AlterUserScramCredentialsRequest:
    request = altered.AlterUserScramCredentialsRequest()
    for alteration in alterations:
        if isinstance(alteration, ScramDeletion):
            deletion = altered.ScramCredentialDeletion(
                name=alteration.user, mechanism=alteration.mechanism
            )
            request.deletions.append(deletion)
        else:
            upsertion = altered.ScramCredentialUpsertion(
                name=alteration.user,
                mechanism=alteration.mechanism,
                iterations=alteration.iterations,
                salt=alteration.salt,
                salted_password=alteration.salted_password,
            )
            request.upsertions.append(upsertion)
    return request


def _altered(
    response: altered.AlterUserScramCredentialsResponse,
    call: OperationCall[ScramKey, ScramAlterations],
) -> Iterator[tuple[ScramKey, KwireError | None]]:
    keys = {key.user: key for key in call.keys}
    for result in response.results:
        if result.user in keys:
            yield keys[result.user], refusal(result.error_code, result.error_message)


DESCRIBE_USER_SCRAM_CREDENTIALS: Operation[str, None, tuple[ScramCredentialInfo, ...]] = Operation(
    row=registry.DESCRIBE_USER_SCRAM_CREDENTIALS,
    build=lambda call: _request(call.keys),
    parse=lambda response, call: _credentials_by_user(response),
    observe=lambda image, users, arguments: _observed(image, users) if users else (),  # not all
)
_DESCRIBE_ALL: Operation[None, None, Outcomes[str, tuple[ScramCredentialInfo, ...]]] = Operation(
    row=registry.DESCRIBE_USER_SCRAM_CREDENTIALS,
    build=lambda call: _request(None),
    parse=lambda response, call: [(None, Outcomes(dict(_credentials_by_user(response))))],
    observe=lambda image, keys, arguments: [(None, Outcomes(dict(_observed(image, None))))],
)
ALTER_USER_SCRAM_CREDENTIALS: Operation[ScramKey, ScramAlterations, None] = Operation(
    row=registry.ALTER_USER_SCRAM_CREDENTIALS, build=_alter, parse=_altered
)


async def describe_user_scram_credentials(
    driver: Driver, users: Iterable[str] | None = None, *, timeout: float | None = None
) -> Outcomes[str, tuple[ScramCredentialInfo, ...]]:
    """Return mechanism and iterations of users' credentials, by default of all users.

    A user's credentials come in the order of their mechanisms.

    Refused: RESOURCE_NOT_FOUND (91) for a user without any, DUPLICATE_RESOURCE (92),
    CLUSTER_AUTHORIZATION_FAILED (31).
    """
    if users is None:
        return await driver.ask(_DESCRIBE_ALL, None, None, timeout=timeout)
    return await driver.run(DESCRIBE_USER_SCRAM_CREDENTIALS, users, None, timeout=timeout)


async def alter_user_scram_credentials(
    driver: Driver, alterations: Iterable[ScramAlteration], *, timeout: float | None = None
) -> Outcomes[ScramKey, None]:
    """Set and delete credentials; return the outcome of each user and mechanism.

    Raises InvalidValue for two changes of one credential.

    Refused: RESOURCE_NOT_FOUND (91) for a deletion of what there is not,
    UNACCEPTABLE_CREDENTIAL (93), UNSUPPORTED_SASL_MECHANISM (33),
    CLUSTER_AUTHORIZATION_FAILED (31).
    """
    by_key: dict[ScramKey, ScramAlteration] = {}
    for alteration in alterations:
        key = ScramKey(alteration.user, alteration.mechanism)
        if key in by_key:
            raise InvalidValue(f"{key} is changed twice")
        by_key[key] = alteration
    return await driver.run(ALTER_USER_SCRAM_CREDENTIALS, by_key, by_key, timeout=timeout)
