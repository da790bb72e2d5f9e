"""Breaks of `admin/tokens`."""

from breaking import Break, answers_end, changes, gives_error, sets
from kwire.messages.a30_create_acls import AclCreationResult, CreateAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsRequest
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenRequest
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest
from kwire.messages.a40_expire_delegation_token import ExpireDelegationTokenRequest
from kwire.messages.a41_describe_delegation_token import DescribeDelegationTokenRequest

BREAKS: dict[int, Break] = {
    1: gives_error(CreateDelegationTokenRequest, 0),
    2: gives_error(RenewDelegationTokenRequest, 0),
    3: gives_error(ExpireDelegationTokenRequest, 0),
    4: gives_error(DescribeDelegationTokenRequest, 0),
    5: gives_error(DeleteAclsRequest, 0),
    6: changes(CreateAclsRequest, sets("results", [AclCreationResult(error_code=42)])),
    7: answers_end(),
}
