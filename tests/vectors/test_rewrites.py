"""Messages in another version: which fields Kafka leaves out and which it refuses to lose."""

from collections import Counter

import pytest

import vectors

pytestmark = pytest.mark.java


@pytest.mark.parametrize(("release", "count"), [("4.3.1", 24_944), ("3.9.1", 29_328)])
def test_every_pair_is_written_in_all_other_versions(release: str, count: int) -> None:
    versions: dict[str, set[int]] = {}
    seen: Counter[tuple[str, int, int]] = Counter()
    refused = 0
    for rewrite in vectors.rewrites(release):
        versions.setdefault(rewrite.name, set()).add(rewrite.version)
        seen[rewrite.name, rewrite.version, rewrite.other_version] += 1
        refused += rewrite.encoded is None
        assert (rewrite.encoded is None) == (rewrite.error is not None)
    assert set(seen.values()) == {8}
    assert len(seen) == sum(len(some) * (len(some) - 1) for some in versions.values())
    assert seen.total() == count
    assert count / 10 < refused < count / 3


def test_ack_when_committed_of_add_raft_voter_cannot_get_lost() -> None:
    # Version 0 has no such field: true, its default, may be left out, false may not.
    outcomes = {
        (rewrite.data[-2:].hex(), rewrite.error)
        for rewrite in vectors.rewrites("4.3.1")
        if rewrite.name == "AddRaftVoterRequest" and rewrite.version == 1 and not rewrite.data[-1]
    }
    refused = "UnsupportedVersionException: Attempted to write a non-default ackWhenCommitted at "
    assert outcomes == {("0100", None), ("0000", refused + "version 0")}


def test_the_defaults_fit_into_every_version() -> None:
    defaults = {
        (v.name, v.version): v.data for v in vectors.messages("4.3.1") if v.profile == "DEFAULTS"
    }
    for rewrite in vectors.rewrites("4.3.1"):
        if rewrite.data == defaults[rewrite.name, rewrite.version]:
            assert rewrite.encoded == defaults[rewrite.name, rewrite.other_version]
