"""Breaks of `login/effects`: a relay that has requests carried out, and ends the connection."""

from breaking import Break, closes_on, lets_in
from kwire.conform.checks.login.answers import NUMBER
from kwire.conform.checks.login.states import STATES
from kwire.messages.a30_create_acls import CreateAclsRequest

BREAKS: dict[int, Break] = {
    **dict.fromkeys(STATES, lets_in(NUMBER, answers=False)),
    16: closes_on(CreateAclsRequest),
}
