"""Summaries of joining, staying in and leaving a cluster and its quorum (KIP-631, 853, 919)."""

from __future__ import annotations

from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.summaries.parts import (
    directory,
    done,
    endpoints,
    failed,
    leader,
    with_answer,
)


def broker_registration(decoded: DecodedFlow) -> str | None:
    """Return the endpoints of a broker that registers, and its epoch.

    A broker in ZooKeeper mode registers for a migration (KIP-866).
    """
    request = decoded.request_as(BrokerRegistrationRequest)
    if request is None:
        return None
    kind = "ZooKeeper broker" if request.is_migrating_zk_broker else "broker"
    asked = f"{kind} {request.broker_id} registers at {endpoints(request.listeners)}"
    response = decoded.response_as(BrokerRegistrationResponse)
    if response is None:
        return asked
    return with_answer(
        asked, failed(response.error_code) or f"broker epoch {response.broker_epoch}"
    )


def broker_heartbeat(decoded: DecodedFlow) -> str | None:
    """Return the state a broker wants and its metadata offset, and the state it gets."""
    request = decoded.request_as(BrokerHeartbeatRequest)
    if request is None:
        return None
    wish = " wants to be fenced" if request.want_fence else ""
    wish = " wants to shut down" if request.want_shut_down else wish
    asked = f"broker {request.broker_id}{wish} at metadata {request.current_metadata_offset}"
    response = decoded.response_as(BrokerHeartbeatResponse)
    if response is None:
        return asked
    return with_answer(asked, failed(response.error_code) or _state(response))


def _state(response: BrokerHeartbeatResponse) -> str:
    states = [
        "fenced" if response.is_fenced else "unfenced",
        "caught up" if response.is_caught_up else "behind",
    ]
    return ", ".join([*states, "may shut down"] if response.should_shut_down else states)


def unregister_broker(decoded: DecodedFlow) -> str | None:
    """Return the broker that is to be forgotten."""
    request = decoded.request_as(UnregisterBrokerRequest)
    if request is None:
        return None
    answer = done(decoded.response_as(UnregisterBrokerResponse))
    return with_answer(f"forget broker {request.broker_id}", answer)


def unregister_controller(decoded: DecodedFlow) -> str | None:
    """Return the controller that is to be forgotten (KIP-1312)."""
    request = decoded.request_as(UnregisterControllerRequest)
    if request is None:
        return None
    answer = done(decoded.response_as(UnregisterControllerResponse))
    return with_answer(f"forget controller {request.controller_id}", answer)


def controller_registration(decoded: DecodedFlow) -> str | None:
    """Return the endpoints of a controller that registers with the active one."""
    request = decoded.request_as(ControllerRegistrationRequest)
    if request is None:
        return None
    answer = done(decoded.response_as(ControllerRegistrationResponse))
    ready = ", ready to migrate from ZooKeeper" if request.zk_migration_ready else ""
    asked = f"controller {request.controller_id} registers at {endpoints(request.listeners)}{ready}"
    return with_answer(asked, answer)


def add_raft_voter(decoded: DecodedFlow) -> str | None:
    """Return the observer that is to become a voter."""
    request = decoded.request_as(AddRaftVoterRequest)
    if request is None:
        return None
    voter = f"{request.voter_id}{directory(request.voter_directory_id)}"
    answer = done(decoded.response_as(AddRaftVoterResponse))
    return with_answer(f"add voter {voter} at {endpoints(request.listeners)}", answer)


def remove_raft_voter(decoded: DecodedFlow) -> str | None:
    """Return the voter that is to leave the voter set."""
    request = decoded.request_as(RemoveRaftVoterRequest)
    if request is None:
        return None
    voter = f"{request.voter_id}{directory(request.voter_directory_id)}"
    answer = done(decoded.response_as(RemoveRaftVoterResponse))
    return with_answer(f"remove voter {voter}", answer)


def update_raft_voter(decoded: DecodedFlow) -> str | None:
    """Return the endpoints and the kraft.version range that a voter wants the leader to know."""
    request = decoded.request_as(UpdateRaftVoterRequest)
    if request is None:
        return None
    feature = request.k_raft_version_feature
    versions = f"{feature.min_supported_version}-{feature.max_supported_version}"
    voter = f"{request.voter_id}{directory(request.voter_directory_id)}"
    asked = f"voter {voter} is at {endpoints(request.listeners)}, kraft.version {versions}"
    response = decoded.response_as(UpdateRaftVoterResponse)
    if response is None:
        return asked
    current = response.current_leader
    leads = f", {leader(current.leader_id, current.leader_epoch)}" if current else ""
    return with_answer(asked, (failed(response.error_code) or "done") + leads)
