"""Breaks of `migration/kip-866`."""

from breaking import Break, answers_end, changes, sets
from breaking.metadata_log import changes_records
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.registry import api_key


def _offer_leader_and_isr(response: ApiVersionsResponse) -> None:
    key = api_key("LeaderAndIsr")
    response.api_keys.append(ApiVersion(api_key=key, min_version=0, max_version=7))


def _migrate(record: RegisterBrokerRecord) -> None:
    record.is_migrating_zk_broker = True


BREAKS: dict[int, Break] = {
    1: changes(ApiVersionsRequest, sets("zk_migration_ready", True)),
    2: changes_records(RegisterBrokerRecord, _migrate),
    3: changes(ApiVersionsRequest, _offer_leader_and_isr),
    4: answers_end(),
}
