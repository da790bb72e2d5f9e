"""Sources have addresses, and releases since which they hold."""

import re

import pytest

from kwire.conform.check import FIRST
from kwire.conform.clients.suite import all_cases
from kwire.conform.recorded import check_since
from kwire.conform.registry import all_checks
from kwire.conform.sources import address_of, first_of, since_of
from kwire.conform.vocabulary import SentenceSource, guide, kafka, kip, rfc, schema

CHECKS = (FIRST, *all_checks())
SOURCES = [*(check.source for check in CHECKS), *(case.source for case in all_cases())]


def test_every_source_has_an_address() -> None:
    without = {str(source) for source in SOURCES if not address_of(source)}
    assert not without, "a KIP, a section of the guide or a class without a line in sources.tsv"


def test_every_document_is_of_a_release() -> None:
    releases = {str(source): since_of(source) for source in SOURCES if not source.is_habit}
    assert [name for name, text in releases.items() if not re.match(r"\d+\.\d", text)] == []


def test_every_kip_is_cited_by_a_heading() -> None:
    proposals = [source for source in SOURCES if source.title.startswith("KIP-")]
    assert proposals
    assert {source.title for source in proposals if not source.section.strip()} == set()


@pytest.mark.parametrize(
    ("source", "since", "end"),
    [
        (kip(853, "AddVoter, Handling"), "3.9", "KRaft+Controller+Membership+Changes"),
        (rfc(5802, "6. Channel Binding"), "0.10.2", "/rfc5802"),
        (guide("Network"), "0.8.0", "#protocol_network"),
        (
            schema("VoteResponse", "NodeEndpoints"),
            "3.9.1",
            "4.4.0/clients/src/main/resources/common/message/VoteResponse.json",
        ),
        (schema("FeatureLevelRecord"), "3.6.2 or before", "metadata/FeatureLevelRecord.json"),
        (schema("ListOffsetsRequest", "version 9"), "3.9.1", "/message/ListOffsetsRequest.json"),
        (
            schema("ConsumerGroupHeartbeatRequest", "version 1"),
            "4.3.1",
            "/message/ConsumerGroupHeartbeatRequest.json",
        ),
        (schema("LeaderAndIsrRequest", "listeners"), "3.6.2 or before", "LeaderAndIsrRequest.json"),
        (kafka("Topic.validate"), "", "common/internals/Topic.java"),
        (guide("a section of another suite"), "", ""),
    ],
)
def test_a_source_is_found(source: SentenceSource, since: str, end: str) -> None:
    assert since_of(source) == since
    assert address_of(source).endswith(end)


def test_a_message_that_is_gone_is_shown_in_its_last_release() -> None:
    assert "/blob/3.9.1/" in address_of(schema("LeaderAndIsrRequest"))


def test_a_habit_holds_since_the_first_release_that_passed() -> None:
    assert first_of(["4.3.1", "3.9.1"]) == "3.9.1"
    assert first_of(["4.3.1", "3.6.2"]) == "3.6.2 or before"
    habits = [check for check in CHECKS if check.source.is_habit]
    assert any(check_since(check) == "3.6.2 or before" for check in habits)
