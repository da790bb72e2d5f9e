"""Requests about log levels, at the leader and at a follower (KIP-412, KIP-919)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest
from tests.support.controller.live.admin_session import Session, Step
from tests.support.controller.live.config_script import (
    APPEND,
    BROKER_LOGGER,
    DELETE,
    SET,
    SUBTRACT,
    TOPIC,
    alter,
    describe,
)

ROOT, UNKNOWN = "root", "no.such.Logger"

CHANGES: dict[str, tuple[tuple[str, int, str | None], ...]] = {
    **{
        f"{name} to {level!r}": ((name, SET, level),)
        for name in (ROOT, UNKNOWN)
        for level in ("WARN", "TRACE", "FATAL", "warn", "OFF", "ALL", "CHATTY", "", None)
    },
    "root to ERROR, then DEBUG": ((ROOT, SET, "ERROR"), (ROOT, SET, "DEBUG")),
    "root and an unknown one": ((ROOT, SET, "ERROR"), (UNKNOWN, SET, "ERROR")),
    "ROOT": (("ROOT", SET, "ERROR"),),
    "a nameless one": (("", SET, "ERROR"),),
    **{
        f"{name}, operation {operation}": ((name, operation, "INFO"),)
        for name in (ROOT, UNKNOWN)
        for operation in (DELETE, APPEND, SUBTRACT, 9)
    },
    "nothing": (),
    "root to INFO": ((ROOT, SET, "INFO"),),
}


def script(session: Session) -> Iterator[Step]:
    """Change levels, rightly and wrongly; after each change ask for that of the root."""
    follower_id = next(id for id in session.addresses if id != session.leader_id)
    for id, where in ((session.leader_id, "the leader"), (follower_id, "a follower")):
        is_follower = id == follower_id

        def at(step: Step, name: str, is_follower: bool = is_follower) -> Step:
            return replace(step, name=name, follower=is_follower)

        for name, changes in CHANGES.items():
            yield at(alter("", BROKER_LOGGER, str(id), *changes), f"level of {name} at {where}")
            asked = describe("", BROKER_LOGGER, str(id), ROOT)
            yield at(asked, f"root after {name} at {where}")
        level = alter("", BROKER_LOGGER, str(id), (ROOT, SET, "ERROR")).request
        assert isinstance(level, IncrementalAlterConfigsRequest)
        bad = alter("", 99, "x", ("retention.ms", SET, "9")).request
        assert isinstance(bad, IncrementalAlterConfigsRequest)
        for name, request in {
            "to validate": level.replace(validate_only=True),
            "twice": level.replace(resources=level.resources * 2),
            "beside what is refused": level.replace(resources=level.resources + bad.resources),
        }.items():
            yield at(Step(name="", request=request), f"levels {name} at {where}")
            yield at(describe("", BROKER_LOGGER, str(id), ROOT), f"root after {name} at {where}")
        for other in ("77", "x", "", f"+{id}"):
            yield at(
                alter("", BROKER_LOGGER, other, (ROOT, SET, "INFO")),
                f"levels of {other.replace(str(id), 'it')!r} at {where}",
            )
        absent = alter("", TOPIC, "absent", ("retention.ms", SET, "9"))
        yield at(absent, f"a topic instead of levels at {where}")
