"""Requests about topics by clients that have a controller mutation quota (KIP-599).

The rates are so low that no quota recovers during the session: a throttle time tells the rate and
the debt, whatever the clock does meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kwire.codec.declaration import Request
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from tests.support.controller.live.admin_session import Step

THEME = "mutation quota: "
SEEN = 0.5
"""Seconds after which Kafka's controller has published a change of a quota."""
CLOCK_MS = 60_000
"""Throttle times of two sessions differ by less: they were not asked at the same moment."""
STRAIGHT, NEXT = f"{THEME}straight", f"{THEME}the next request on that connection"
STRAIGHT_MS = 500
"""Milliseconds for which the sender of STRAIGHT is throttled."""
UNLIMITED = "User:nobody limits me"

_DEFAULT = None
_Pairs = list[tuple[str | None, str | None]]


def script() -> Iterator[Step]:
    """Return the steps of this theme; at the end the quotas of its users are left."""
    for number, step in enumerate(_precedence()):
        yield replace(step, name=f"{step.name} ({number})")
    yield from _versions()
    yield from _what_counts()
    yield from _straight()


def _alter(name: str, *limits: tuple[dict[str, str | None], float | None]) -> Iterator[Step]:
    """Yield a step for each quota."""
    for number, (names, rate) in enumerate(limits):
        op = OpData(key="controller_mutation_rate", value=rate or 0.0, remove=rate is None)
        entity = [EntityData(entity_type=key, entity_name=value) for key, value in names.items()]
        request = AlterClientQuotasRequest(entries=[EntryData(entity=entity, ops=[op])])
        yield Step(name=f"{THEME}{name}, {number}", request=request)


def _entity(user: str | None = "", client_id: str | None = "") -> dict[str, str | None]:
    """Return an entity; "" for one without that part, None for the default."""
    parts = {"user": user, "client-id": client_id}
    return {type_: name for type_, name in parts.items() if name != ""}


def _step(name: str, user: str, request: Request, **changes: Any) -> Step:
    principal = user if ":" in user else f"User:{user}"
    return Step(name=f"{THEME}{name}", request=request, principal=principal, **changes)


def _topics(sizes: Mapping[str, int]) -> list[CreatableTopic]:
    return [
        CreatableTopic(name=name, num_partitions=size, replication_factor=1)
        for name, size in sizes.items()
    ]


def _create(
    name: str, user: str, sizes: Mapping[str, int], *, version: int = 7, dry: bool = False
) -> Step:
    request = CreateTopicsRequest(timeout_ms=60_000, topics=_topics(sizes), validate_only=dry)
    return _step(name, user, request, version=version)


def _probe(user: str, client_id: str | None, occasion: str = "") -> Step:
    """Return a step of which the throttle time tells how many probes had the same quota, which."""
    request = CreateTopicsRequest(
        timeout_ms=60_000, topics=_topics({"probe": 100}), validate_only=True
    )
    name = f"probe of {user} with {client_id}{occasion}"
    return _step(name, user, request, version=5, client_id=client_id, pause=SEEN * bool(occasion))


def _precedence() -> Iterator[Step]:
    pairs = {
        (_DEFAULT, ""): 0.01,
        ("", _DEFAULT): 0.02,
        (_DEFAULT, _DEFAULT): 0.03,
        ("A", ""): 0.04,
        ("A", "client1"): 0.05,
        ("B", ""): 0.06,
        ("B", "client1"): 0.07,
        ("B", _DEFAULT): 0.08,
        ("C", ""): 0.1,
        ("", "client1"): 0.09,
        (_DEFAULT, "client9"): 0.11,
    }
    yield from _alter("eleven quotas", *((_entity(*pair), rate) for pair, rate in pairs.items()))
    yield _probe("A", "client1", ", the first one")
    for user in ("A", "B", "C", "D", "E"):
        for client_id in ("client1", "client2", "client9", "", None):
            yield _probe(user, client_id)
    yield _probe("Group:A", "client2")
    yield _probe("A:B", "client2")
    pairs_by_turn: tuple[_Pairs, ...] = (
        [(_DEFAULT, _DEFAULT)],
        [(_DEFAULT, ""), ("B", _DEFAULT)],
        [("", _DEFAULT)],
    )
    for gone in pairs_by_turn:
        yield from _alter(f"without {gone}", *((_entity(*pair), None) for pair in gone))
        yield _probe("B", "client2", f" without {gone}")
        for user in ("D", "F"):
            for client_id in ("client1", "client4", "client9"):
                yield _probe(user, client_id)
    yield from _alter("a higher rate", (_entity("A"), 0.2), (_entity("A", "client1"), None))
    yield _probe("A", "client2", " at a higher rate")
    yield _probe("A", "client1")
    rest = pairs.keys() - {pair for gone in pairs_by_turn for pair in gone}
    yield from _alter("no quotas", *((_entity(*pair), None) for pair in sorted(rest, key=str)))
    yield _probe("A", "client1", " without a quota")


def _versions() -> Iterator[Step]:
    versions = {"create": range(2, 8), "delete": range(1, 7), "grow": range(4)}
    users = [f"{verb} v{version}" for verb, every in versions.items() for version in every]
    limits = dict.fromkeys((*users, "dry", "judged"), 0.001) | {"whole": 100.0}
    yield from _alter(
        "a quota for each user", *((_entity(user), rate) for user, rate in limits.items())
    )
    for verb in ("delete", "grow"):
        for version in versions[verb]:
            sizes = {f"{verb}-{version}-{letter}": 1 for letter in "abc"}
            yield _create(f"topics to {verb} at v{version}", UNLIMITED, sizes)
    for version in versions["create"]:
        user = f"create v{version}"
        sizes = {f"create-{version}-{letter}": 2 for letter in "abc"}
        yield _create(user, user, sizes, version=version)
        yield _create(f"{user} again", user, {f"create-{version}-d": 2}, version=version)
    for version in versions["delete"]:
        user = f"delete v{version}"
        for name in (f"delete-{version}-a", f"delete-{version}-b"):
            request = DeleteTopicsRequest(timeout_ms=60_000, topic_names=(name,))
            if version == 6:
                request = _delete(name)
            yield _step(f"{user} of {name}", user, request, version=version)
    for version in versions["grow"]:
        user = f"grow v{version}"
        # Java takes them in this order: that of its HashSet.
        sizes = {f"grow-{version}-{letter}": 3 for letter in "cba"}
        yield _grow(user, user, sizes, version=version)
        yield _grow(f"{user} again", user, {f"grow-{version}-a": 4}, version=version)


def _delete(name: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(timeout_ms=60_000, topics=[DeleteTopicState(name=name)])


def _grow(
    name: str,
    user: str,
    sizes: Mapping[str, int],
    *,
    version: int = 3,
    assigned: Sequence[tuple[int, ...]] = (),
    dry: bool = False,
) -> Step:
    assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in assigned]
    topics = [
        CreatePartitionsTopic(name=topic, count=size, assignments=assignments or None)
        for topic, size in sizes.items()
    ]
    request = CreatePartitionsRequest(timeout_ms=60_000, topics=topics, validate_only=dry)
    return _step(name, user, request, version=version)


def _what_counts() -> Iterator[Step]:
    configs = [
        CreatableTopicConfig(name=name, value="1") for name in ("retention.ms", "segment.ms")
    ]
    for name, topic in {
        "the metadata topic": CreatableTopic(name="__cluster_metadata", num_partitions=9),
        "a wrong name": CreatableTopic(name="a/b", num_partitions=9),
        "too many replicas": CreatableTopic(name="x", num_partitions=9, replication_factor=99),
        "no partitions": CreatableTopic(name="x", num_partitions=0, replication_factor=1),
        "an unknown key": CreatableTopic(
            name="x",
            num_partitions=9,
            replication_factor=1,
            configs=[CreatableTopicConfig(name="nonsense", value="1")],
        ),
        "too many partitions": CreatableTopic(
            name="x", num_partitions=10_001, replication_factor=1
        ),
    }.items():
        request = CreateTopicsRequest(timeout_ms=60_000, topics=[topic])
        yield _step(f"create {name}", "judged", request)
    yield _grow("grow an unknown topic", "judged", {"unknown": 9})
    yield _grow("grow to as many", "judged", {"grow-0-b": 3})
    yield _grow("grow to less", "judged", {"grow-0-b": 1})
    two = {"grow-0-c": 4}
    yield _grow("grow with an assignment too many", "judged", two, assigned=[(1,)] * 2)
    yield _step("delete an unknown topic", "judged", _delete("unknown"))
    yield _grow("grow with an unknown broker", "judged", two, assigned=[(77,)])
    yield _create("after all these", "judged", {"judged": 1})
    yield _create("validate only", "dry", {"dry-a": 1, "dry-b": 1}, dry=True)
    yield _grow("validate only growth", "dry", two, dry=True)
    large = CreatableTopic(name="large", num_partitions=9999, replication_factor=1, configs=configs)
    for version in (5, 7):
        request = CreateTopicsRequest(timeout_ms=60_000, topics=[large])
        yield _step(f"too many records at v{version}", "whole", request, version=version)


def _straight() -> Iterator[Step]:
    # 110 at once and 10 a second: of 115, 5 are owed.
    yield from _alter("a quota of this client", (_entity(client_id="kwire"), 10.0))
    request = CreateTopicsRequest(timeout_ms=60_000, topics=_topics({"straight": 115}))
    yield Step(name=STRAIGHT, request=request.replace(validate_only=True), version=5, pause=SEEN)
    yield Step(name=NEXT, request=DescribeClusterRequest())
    yield from _alter("no quota of this client", (_entity(client_id="kwire"), None))
