"""`kwire tokens`: create, renew, expire and list delegation tokens (KIP-48).

The HMAC, which is the token's password, is printed when the token is created, and never again.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, option, repeated
from kwire.cli.output import Column, Output, Table, text_columns, time_values

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.tokens import DelegationTokenInfo

app = command_group(
    "Create, renew, expire and list delegation tokens. Needs SASL or a client certificate."
)

TOKEN = argument(default=None, metavar="[TOKEN_ID]", help="A token's id; its HMAC is looked up.")
HMAC_FILE = option(metavar="FILE", help="The HMAC in base64 in place of the id; - for stdin.")

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "": 1}
_PERIOD = re.compile(r"(\d{1,15})(ms|s|m|h|d|)")

TOKEN_ID = Column(key="tokenId")
EXPIRY = [Column(key="expiryDate"), Column(key="expiryDateMs", wide=True)]
TOKEN_COLUMNS = [
    TOKEN_ID,
    Column(key="owner"),
    Column(key="requester", wide=True),
    *text_columns("renewers", "issueDate"),
    Column(key="issueDateMs", wide=True),
    *EXPIRY,
    Column(key="maxDate"),
    Column(key="maxDateMs", wide=True),
]


@app.command("create")
@asks_cluster(registry.CREATE_DELEGATION_TOKEN)
def create_delegation_token(
    cluster: ClusterOptions,
    output: Output,
    owner_principal: str | None = option(metavar="User:NAME", help="By default the user who asks."),
    renewer_principal: list[str] = repeated(
        metavar="User:NAME", help="May renew it, too. Repeatable."
    ),
    max_life_time_period: str | None = option(
        metavar="PERIOD", help="7d, 12h, … By default the brokers' own."
    ),
) -> None:
    """Create a token and print its HMAC: whoever has it acts as the owner.

    \b
    kwire tokens create --max-life-time-period 7d --bootstrap-server b:9092 --command-config sasl
    """
    from kwire.admin.tokens import BY_NODE_DEFAULT

    lifetime = _period(max_life_time_period, BY_NODE_DEFAULT)
    token = cluster.run(
        lambda admin: admin.create_delegation_token(
            owner=owner_principal, renewers=renewer_principal, max_lifetime_ms=lifetime
        ),
    )
    assert token.hmac is not None  # the answer to its making has it
    hmac = {"hmac": base64.b64encode(token.hmac).decode()}
    output.show(Table("tokens", [*TOKEN_COLUMNS, Column(key="hmac")], [_values(token) | hmac]))


@app.command("list")
@asks_cluster(registry.DESCRIBE_DELEGATION_TOKEN)
def describe_delegation_token(
    cluster: ClusterOptions,
    output: Output,
    owner_principal: list[str] = repeated(metavar="User:NAME", help="By default all. Repeatable."),
) -> None:
    """List the tokens that the user may see, without their HMACs.

    \b
    kwire tokens list --bootstrap-server localhost:9092 --command-config sasl.properties
    """
    tokens = cluster.run(lambda admin: admin.describe_delegation_token(owner_principal or None))
    ordered = sorted(tokens, key=lambda token: token.expiry_timestamp)
    output.show(Table("tokens", TOKEN_COLUMNS, map(_values, ordered)), empty="no tokens")


@app.command("renew")
@asks_cluster(registry.RENEW_DELEGATION_TOKEN)
def renew_delegation_token(
    cluster: ClusterOptions,
    output: Output,
    token_id: str | None = TOKEN,
    hmac_file: Path | None = HMAC_FILE,
    renew_time_period: str | None = option(
        metavar="PERIOD", help="24h, … By default the brokers' own."
    ),
) -> None:
    """Prolong a token's life. Its maximum lifetime, set at creation, is the limit.

    \b
    kwire tokens renew TOKEN_ID --bootstrap-server localhost:9092 --command-config sasl.properties
    """
    from kwire.admin.tokens import BY_NODE_DEFAULT

    period = _period(renew_time_period, BY_NODE_DEFAULT)
    _prolong(
        cluster,
        output,
        token_id,
        hmac_file,
        lambda admin, hmac: admin.renew_delegation_token(hmac, period_ms=period),
    )


@app.command("expire")
@asks_cluster(registry.EXPIRE_DELEGATION_TOKEN)
def expire_delegation_token(
    cluster: ClusterOptions,
    output: Output,
    token_id: str | None = TOKEN,
    hmac_file: Path | None = HMAC_FILE,
    expiry_time_period: str | None = option(
        metavar="PERIOD", help="From now on. By default at once."
    ),
    yes: bool = YES,
) -> None:
    """End a token. Connections that it opened stay open.

    \b
    kwire tokens expire TOKEN_ID --yes --bootstrap-server localhost:9092 --command-config sasl
    """
    from kwire.admin.tokens import NOW

    period = _period(expiry_time_period, NOW)
    _require_token(token_id, hmac_file)
    confirm(f"End the token {token_id or 'of that HMAC'}?", yes=yes)
    _prolong(
        cluster,
        output,
        token_id,
        hmac_file,
        lambda admin, hmac: admin.expire_delegation_token(hmac, period_ms=period),
    )


def _prolong(
    cluster: ClusterOptions,
    output: Output,
    token_id: str | None,
    hmac_file: Path | None,
    change: Callable[[AdminClient, bytes], Awaitable[int]],
) -> None:
    """Change a token's end and print it."""

    _require_token(token_id, hmac_file)
    option_hmac = None if hmac_file is None else _hmac(hmac_file)

    async def run(admin: AdminClient) -> int:
        return await change(admin, option_hmac or await _found(admin, token_id or ""))

    end = cluster.run(run)
    row = {"tokenId": token_id, **time_values("expiryDate", end)}
    output.show(Table("tokens", [TOKEN_ID, *EXPIRY], [row]))


def _require_token(token_id: str | None, hmac_file: Path | None) -> None:
    if (token_id is None) == (hmac_file is None):
        raise WrongUsage("give a token's id, or --hmac-file.")


async def _found(admin: AdminClient, token_id: str) -> bytes:
    """Return the HMAC of a token. Raises CommandFailed if the user may see none of that id."""
    for token in await admin.describe_delegation_token():
        if token.token_id == token_id:
            if token.hmac is not None:
                return token.hmac
            raise CommandFailed(
                f"The metadata log does not have the HMAC of token {token_id}: give --hmac-file, or"
                " --bootstrap-server."
            )
    raise CommandFailed(f"You may see no token {token_id}: look at kwire tokens list.")


def _hmac(file: Path) -> bytes:
    from kwire.cli.secret_input import read_secret

    try:
        return base64.b64decode(read_secret(file, "HMAC", "--hmac-file"), validate=True)
    except binascii.Error:
        raise WrongUsage(f"the HMAC in {file} is no base64.") from None


def _values(token: DelegationTokenInfo) -> dict[str, Any]:
    return {
        "tokenId": token.token_id,
        "owner": token.owner,
        "requester": token.requester,
        "renewers": list(token.renewers),
        **time_values("issueDate", token.issue_timestamp),
        **time_values("expiryDate", token.expiry_timestamp),
        **time_values("maxDate", token.max_timestamp),
    }


def _period(text: str | None, default: int) -> int:
    """Return the milliseconds of `7d`, `12h` or a bare number of ms. Raises WrongUsage."""
    if text is None:
        return default
    match = _PERIOD.fullmatch(text)
    milliseconds = int(match[1]) * _UNITS[match[2]] if match else 0
    if not 0 < milliseconds < 1 << 63:
        raise WrongUsage(f"{text!r} is no period: write 7d, 12h, 30m, 45s or milliseconds.")
    return milliseconds
