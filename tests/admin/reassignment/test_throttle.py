"""A throttle is what Kafka's tool sets, with what was there before."""

from kwire.admin.reassignment.plan import ReplicaMove
from kwire.admin.reassignment.throttle import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    RATES,
    ThrottleSetting,
    throttle_settings,
    throttled_resources,
    with_left_over,
)
from kwire.admin.topic_partition import TopicPartition
from kwire.messages.config_resource import ConfigResource, ResourceType


def move(text: str, old: tuple[int, ...], new: tuple[int, ...]) -> ReplicaMove:
    return ReplicaMove(partition=TopicPartition.parse(text), old=old, new=new)


KAFKAS = [
    move("foo-0", (1, 2, 3), (1, 2, 5)),
    move("foo-1", (4, 5, 6), (6, 7, 8)),
    move("foo-2", (1, 2), (3, 4)),
    move("foo-3", (1, 2), (5, 6)),
    move("foo-4", (1, 2), (3,)),
    move("foo-5", (1, 2), (3, 4, 5, 6)),
    move("bar-0", (2, 3, 4), (1, 2, 3)),
]
"""The moves of testMoveMap in Kafka's ReassignPartitionsUnitTest; the values below are its own."""

LEADERS = "0:1,0:2,0:3,1:4,1:5,1:6,2:1,2:2,3:1,3:2,4:1,4:2,5:1,5:2"
FOLLOWERS = "0:5,1:7,1:8,2:3,2:4,3:5,3:6,4:3,5:3,5:4,5:5,5:6"


def values(settings: list[ThrottleSetting], name: str) -> dict[str, str]:
    return {setting.key: setting.value for setting in settings if setting.name == name}


def test_replicas_and_brokers_are_those_that_kafkas_tool_throttles() -> None:
    settings = throttle_settings(KAFKAS, range(1, 9), 1000, {})
    assert values(settings, "foo") == {LEADER_REPLICAS: LEADERS, FOLLOWER_REPLICAS: FOLLOWERS}
    assert values(settings, "bar") == {LEADER_REPLICAS: "0:2,0:3,0:4", FOLLOWER_REPLICAS: "0:1"}
    brokers = [it.name for it in throttled_resources(KAFKAS, range(1, 9)) if it.type == 4]
    assert brokers == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert values(settings, "8") == dict.fromkeys(RATES, "1000")


def test_a_broker_that_is_down_is_not_throttled() -> None:
    resources = throttled_resources([move("a-0", (1, 3), (1, 2))], [1, 2])
    assert [it.name for it in resources] == ["1", "2", "a"]


def test_a_move_without_a_copy_is_not_throttled() -> None:
    assert not throttle_settings([move("a-0", (1, 2, 3), (2, 1))], [1, 2, 3], 1000, {})


def test_what_was_set_before_is_kept_beside_what_is_set() -> None:
    topic = ConfigResource(ResourceType.TOPIC, "a")
    broker = ConfigResource(ResourceType.BROKER, "1")
    before = {topic: {LEADER_REPLICAS: "7:1"}, broker: {RATES[0]: "5"}}
    settings = throttle_settings([move("a-0", (1,), (2,))], [1], 1000, before)
    leaders = next(setting for setting in settings if setting.key == LEADER_REPLICAS)
    assert (leaders.value, leaders.before, leaders.own_entries) == ("7:1,0:1", "7:1", ["0:1"])
    rates = {setting.key: setting.before for setting in settings if setting.name == "1"}
    assert rates == {RATES[0]: "5", RATES[1]: None}


def test_a_topic_that_throttles_every_replica_stays_so() -> None:
    topic = ConfigResource(ResourceType.TOPIC, "a")
    before = {topic: {LEADER_REPLICAS: "*", FOLLOWER_REPLICAS: "*"}}
    settings = throttle_settings([move("a-0", (1,), (2,))], [1, 2], 1000, before)
    assert {setting.name for setting in settings} == {"1", "2"}


def setting(key: str, value: str, before: str | None, name: str = "1") -> ThrottleSetting:
    kind = ResourceType.BROKER if key in RATES else ResourceType.TOPIC
    return ThrottleSetting(type=kind, name=name, key=key, value=value, before=before)


def test_our_own_rate_that_was_left_over_is_not_what_was_there_before() -> None:
    left = setting(RATES[0], "1000", "77")
    assert with_left_over([setting(RATES[0], "2000", "1000")], [left]) == [
        setting(RATES[0], "2000", "77")
    ]
    by_somebody = setting(RATES[0], "2000", "5")
    assert with_left_over([by_somebody], [left]) == [by_somebody]


def test_our_own_replicas_that_were_left_over_go_with_the_new_ones() -> None:
    left = setting(LEADER_REPLICAS, "9:9,0:1", "9:9")
    new = setting(LEADER_REPLICAS, "9:9,0:1,8:8,1:1", "9:9,0:1,8:8")
    (merged,) = with_left_over([new], [left])
    assert (merged.before, merged.own_entries) == ("9:9,8:8", ["0:1", "1:1"])


def test_what_was_left_over_elsewhere_is_kept() -> None:
    left, new = setting(RATES[0], "1000", None, name="3"), setting(RATES[0], "1000", None)
    assert with_left_over([new], [left]) == [left, new]
