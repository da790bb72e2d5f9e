"""`kwire groups`: rows of what failed, exit codes, questions before changes, one JSON object."""

from collections.abc import Iterator
from typing import cast

import pytest

from kwire.cli.admin.move_groups import topic_choice
from kwire.cli.errors import WrongUsage
from kwire.codec.declaration import Request
from kwire.messages import a02_list_offsets as ends
from kwire.messages import a08_offset_commit as commit
from kwire.messages import a09_offset_fetch as fetch
from kwire.messages import a13_leave_group as leaving
from kwire.messages import a15_describe_groups as classic
from kwire.messages import a16_list_groups as listing
from kwire.messages import a42_delete_groups as deletion
from kwire.messages import a47_offset_delete as forgetting
from kwire.net.frames import RequestFrame
from scripted_node import Script
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command, Run
from tests.support.cli.scripted_cluster import scripted_cluster


def list_groups(request: RequestFrame) -> listing.ListGroupsResponse:
    groups = [
        listing.ListedGroup(
            group_id=name, protocol_type="consumer", group_state=state, group_type="classic"
        )
        for name, state in (("busy", "Stable"), ("idle", "Empty"))
    ]
    return listing.ListGroupsResponse(groups=groups)


def describe(request: RequestFrame) -> classic.DescribeGroupsResponse:
    """The group `busy` has a member, whose client id is hostile to terminals; `idle` has none."""
    member = classic.DescribedGroupMember(
        member_id="m-1", client_id="evil\x1b[2J", client_host="/10.0.0.1"
    )
    groups = {
        "busy": classic.DescribedGroup(group_id="busy", group_state="Stable", members=[member]),
        "idle": classic.DescribedGroup(group_id="idle", group_state="Empty"),
    }
    names = cast(classic.DescribeGroupsRequest, request.body).groups
    return classic.DescribeGroupsResponse(
        groups=[
            groups.get(name)
            or classic.DescribedGroup(group_id=name, error_code=69, error_message=f"no {name}")
            for name in names
        ]
    )


def offsets(request: RequestFrame) -> fetch.OffsetFetchResponse:
    """Every group is at 5 in orders-0."""
    partition = fetch.OffsetFetchResponsePartitions(partition_index=0, committed_offset=5)
    topics = [fetch.OffsetFetchResponseTopics(name="orders", partitions=[partition])]
    groups = cast(fetch.OffsetFetchRequest, request.body).groups
    return fetch.OffsetFetchResponse(
        groups=[
            fetch.OffsetFetchResponseGroup(group_id=group.group_id, topics=topics)
            for group in groups
        ]
    )


def end(request: RequestFrame) -> ends.ListOffsetsResponse:
    """The log goes from 2 to 8."""
    [topic] = cast(ends.ListOffsetsRequest, request.body).topics
    partition = ends.ListOffsetsPartitionResponse(
        partition_index=0, offset=2 if topic.partitions[0].timestamp == -2 else 8
    )
    topics = [ends.ListOffsetsTopicResponse(name="orders", partitions=[partition])]
    return ends.ListOffsetsResponse(topics=topics)


def commit_one(request: RequestFrame) -> commit.OffsetCommitResponse:
    partition = commit.OffsetCommitResponsePartition(partition_index=0)
    topics = [commit.OffsetCommitResponseTopic(name="orders", partitions=[partition])]
    return commit.OffsetCommitResponse(topics=topics)


def forget_one(request: RequestFrame) -> forgetting.OffsetDeleteResponse:
    partition = forgetting.OffsetDeleteResponsePartition(partition_index=0, error_code=86)
    topics = [forgetting.OffsetDeleteResponseTopic(name="orders", partitions=[partition])]
    return forgetting.OffsetDeleteResponse(topics=topics)


def delete(request: RequestFrame) -> deletion.DeleteGroupsResponse:
    names = cast(deletion.DeleteGroupsRequest, request.body).groups_names
    codes = {"busy": 68, "nobody": 69}
    return deletion.DeleteGroupsResponse(
        results=[
            deletion.DeletableGroupResult(group_id=name, error_code=codes.get(name, 0))
            for name in names
        ]
    )


def leave(request: RequestFrame) -> leaving.LeaveGroupResponse:
    members = cast(leaving.LeaveGroupRequest, request.body).members
    return leaving.LeaveGroupResponse(
        members=[leaving.MemberResponse(member_id=member.member_id) for member in members]
    )


SCRIPTS: dict[type[Request], Script] = {
    listing.ListGroupsRequest: list_groups,
    classic.DescribeGroupsRequest: describe,
    fetch.OffsetFetchRequest: offsets,
    ends.ListOffsetsRequest: end,
    commit.OffsetCommitRequest: commit_one,
    forgetting.OffsetDeleteRequest: forget_one,
    deletion.DeleteGroupsRequest: delete,
    leaving.LeaveGroupRequest: leave,
}


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    with scripted_cluster() as brokers:
        brokers.leaders = {("orders", 0): 0}
        brokers.coordinators = dict.fromkeys(("busy", "idle", "nobody"), 0)
        brokers.nodes[0].scripts.update(SCRIPTS)
        yield brokers


class GroupsCommand:
    """`groups("list")` is `kwire groups list` at the scripted cluster."""

    def __init__(self, kwire: Command, cluster: ScriptedBrokers) -> None:
        self._kwire = kwire
        self._at = ["--bootstrap-server", cluster.addresses[0]]

    def __call__(self, *arguments: str) -> Run:
        return self._kwire("groups", *arguments, *self._at)


@pytest.fixture
def groups(kwire: Command, cluster: ScriptedBrokers) -> GroupsCommand:
    return GroupsCommand(kwire, cluster)


def test_groups_are_listed_with_type_state_and_coordinator(groups: GroupsCommand) -> None:
    run = groups("list", "-o", "tsv")
    assert run.out == (
        "busy\tclassic\tconsumer\tStable\t0\t-\t-\nidle\tclassic\tconsumer\tEmpty\t0\t-\t-\n"
    )
    assert groups("list", "-o", "name").out == "busy\nidle\n"


def test_a_broker_that_does_not_list_is_a_row_and_exit_code_1(
    groups: GroupsCommand, cluster: ScriptedBrokers
) -> None:
    cluster.nodes[0].scripts[listing.ListGroupsRequest] = lambda request: (
        listing.ListGroupsResponse(error_code=30)
    )
    run = groups("list", "--json")
    [row] = run.json["groups"]
    assert (row["group"], row["coordinatorId"]) == (None, 0)
    assert row["error"] == "GROUP_AUTHORIZATION_FAILED"
    assert run.code == 1


def test_the_lag_of_a_group_stands_beside_the_error_of_another(groups: GroupsCommand) -> None:
    run = groups("describe", "idle", "nobody", "--json")
    idle, nobody = run.json["partitions"]
    assert (idle["currentOffset"], idle["logEndOffset"], idle["lag"]) == (5, 8, 3)
    assert (idle["consumerId"], idle["error"]) == (None, None)
    assert (nobody["group"], nobody["lag"]) == ("nobody", None)
    assert (nobody["error"], nobody["message"]) == ("GROUP_ID_NOT_FOUND", "no nobody")
    assert run.code == 1


def test_what_a_member_calls_itself_cannot_steer_the_terminal(groups: GroupsCommand) -> None:
    run = groups("describe", "busy", "--members")
    assert "m-1" in run.out
    assert "\x1b" not in run.out


def test_the_lag_of_all_groups_is_sorted_and_filtered(groups: GroupsCommand) -> None:
    rows = groups("lag", "--json").json["groups"]
    assert [(row["group"], row["lag"], row["maxLagPartition"]) for row in rows] == [
        ("busy", 3, "orders-0"),
        ("idle", 3, "orders-0"),
    ]
    assert {row["lagUnknown"] for row in rows} == {0}
    assert groups("lag", "--at-least", "4").out == "no groups\n"


def test_a_dry_run_shows_old_and_new_and_commits_nothing(
    groups: GroupsCommand, cluster: ScriptedBrokers
) -> None:
    run = groups("seek", "idle", "--to", "+100", "--dry-run", "--json")
    [row] = run.json["partitions"]
    assert (row["oldOffset"], row["newOffset"]) == (5, 8)
    assert row["note"] == "105 is after the end of the log"
    assert run.json["dryRun"]
    assert run.code == 0
    assert cluster.nodes[0].requests(commit.OffsetCommitRequest) == []


def test_a_group_with_members_is_not_moved_and_the_dry_run_says_so(
    groups: GroupsCommand, cluster: ScriptedBrokers
) -> None:
    refused = groups("seek", "busy", "--to", "earliest", "--yes")
    assert refused.error == "busy has 1 member: stop them first; nothing was changed."
    dry = groups("seek", "busy", "--to", "earliest", "--dry-run", "--json")
    assert dry.json["obstacle"] == "busy has 1 member: stop them first"
    assert (refused.code, dry.code) == (1, 1)
    assert cluster.nodes[0].requests(commit.OffsetCommitRequest) == []


def test_a_group_is_moved_only_after_a_yes(groups: GroupsCommand, cluster: ScriptedBrokers) -> None:
    asked = groups("seek", "idle", "--to", "earliest")
    assert asked.code == 2
    assert "Move idle in 1 of 1 partitions? Not a terminal: confirm with --yes." in asked.err
    assert cluster.nodes[0].requests(commit.OffsetCommitRequest) == []
    done = groups("seek", "idle", "--to", "earliest", "--yes", "-o", "tsv")
    assert done.out == "idle\torders\t0\t5\t2\t-\t-\t-\n"
    [request] = cluster.nodes[0].requests(commit.OffsetCommitRequest)
    [topic] = cast(commit.OffsetCommitRequest, request).topics
    assert [partition.committed_offset for partition in topic.partitions] == [2]


def test_what_a_group_cannot_forget_is_a_row_and_exit_code_1(groups: GroupsCommand) -> None:
    run = groups("forget", "busy", "--topic", "orders", "--yes", "--json")
    [row] = run.json["partitions"]
    assert (row["partition"], row["error"]) == (0, "GROUP_SUBSCRIBED_TO_TOPIC")
    assert run.code == 1
    assert groups("forget", "busy", "--topic", "clicks", "--yes").error == (
        "busy has no offsets of clicks."
    )


def test_one_group_that_is_not_deleted_makes_the_exit_code_1(groups: GroupsCommand) -> None:
    run = groups("delete", "idle", "busy", "--yes", "--json")
    assert [(row["group"], row["error"]) for row in run.json["groups"]] == [
        ("idle", None),
        ("busy", "NON_EMPTY_GROUP"),
    ]
    assert run.code == 1
    assert groups("delete", "nobody", "--yes").code == 1
    assert groups("delete", "nobody", "--if-exists", "--yes").code == 0


def test_members_are_chosen_by_id_or_all_of_them(groups: GroupsCommand) -> None:
    run = groups("evict", "busy", "--all", "--yes", "--json")
    [row] = run.json["members"]
    assert (row["memberId"], row["groupInstanceId"], row["error"]) == ("m-1", None, None)
    for wrong in ((), ("--all", "--member", "m-1")):
        refused = groups("evict", "busy", *wrong, "--yes")
        assert refused.code == 2
        assert "give --member or --instance, or --all" in refused.err


def test_offsets_are_printed_in_the_order_of_partitions(groups: GroupsCommand) -> None:
    assert groups("offsets", "idle", "-o", "tsv").out == "idle\torders\t0\t5\t-\t-\t-\t-\n"


@pytest.mark.parametrize("text", ["", ":0", "orders:", "orders:x", "orders:0,,1", "orders:-1"])
def test_a_choice_of_partitions_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(WrongUsage, match="write orders, or orders:0,1"):
        topic_choice([text])


def test_partitions_of_a_topic_are_chosen() -> None:
    assert topic_choice(["orders", "clicks:0,12"]) == {"orders": None, "clicks": (0, 12)}


def test_a_topic_that_comes_twice_means_the_partitions_of_both() -> None:
    assert topic_choice(["a:0", "a:1,0", "b:1"]) == {"a": (0, 1), "b": (1,)}
    assert topic_choice(["a", "a:1"]) == topic_choice(["a:1", "a"]) == {"a": None}


def test_a_partition_that_no_number_can_name_is_refused() -> None:
    with pytest.raises(WrongUsage, match="is no choice"):
        topic_choice([f"a:{'9' * 5000}"])


def test_a_topic_to_seek_in_that_does_not_exist_is_named(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    at = ("--bootstrap-server", cluster.addresses[0])
    run = kwire("groups", "seek", "idle", "--to", "0", "--topic", "none", "--yes", *at)
    assert (run.code, "UNKNOWN_TOPIC_OR_PARTITION" in run.error) == (1, True), run.error


def test_yaml_has_the_type_as_text(groups: GroupsCommand) -> None:
    for words in (["list"], ["lag"], ["describe"], ["describe", "--state"]):
        run = groups(*words, "-o", "yaml")
        assert (run.code, "type: classic" in run.out) == (0, True), run.err
