"""Who joins, stays in and leaves the cluster and its quorum (KIP-631, KIP-853, KIP-919)."""

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
from kwire.proxy.flows.summaries.parts import directory, done, endpoints, failed, leader, outcome


def broker_registration(decoded: DecodedFlow) -> str | None:
    """A broker enrols and gets an epoch."""
    request = decoded.request_as(BrokerRegistrationRequest)
    if request is None:
        return None
    asked = f"broker {request.broker_id} registers at {endpoints(request.listeners)}"
    response = decoded.response_as(BrokerRegistrationResponse)
    if response is None:
        return asked
    return outcome(asked, failed(response.error_code) or f"broker epoch {response.broker_epoch}")


def broker_heartbeat(decoded: DecodedFlow) -> str | None:
    """What a broker wants to be and how far it has read, what the controller takes it for."""
    request = decoded.request_as(BrokerHeartbeatRequest)
    if request is None:
        return None
    wish = " wants to be fenced" if request.want_fence else ""
    wish = " wants to shut down" if request.want_shut_down else wish
    asked = f"broker {request.broker_id}{wish} at metadata {request.current_metadata_offset}"
    response = decoded.response_as(BrokerHeartbeatResponse)
    if response is None:
        return asked
    return outcome(asked, failed(response.error_code) or _state(response))


def _state(response: BrokerHeartbeatResponse) -> str:
    states = [
        "fenced" if response.is_fenced else "unfenced",
        "caught up" if response.is_caught_up else "behind",
    ]
    return ", ".join([*states, "may shut down"] if response.should_shut_down else states)


def unregister_broker(decoded: DecodedFlow) -> str | None:
    """A broker is to be forgotten."""
    request = decoded.request_as(UnregisterBrokerRequest)
    if request is None:
        return None
    said = done(decoded.response_as(UnregisterBrokerResponse))
    return outcome(f"forget broker {request.broker_id}", said)


def unregister_controller(decoded: DecodedFlow) -> str | None:
    """Tell which controller is to be forgotten (KIP-1312)."""
    request = decoded.request_as(UnregisterControllerRequest)
    if request is None:
        return None
    said = done(decoded.response_as(UnregisterControllerResponse))
    return outcome(f"forget controller {request.controller_id}", said)


def controller_registration(decoded: DecodedFlow) -> str | None:
    """A controller tells the active one where it is."""
    request = decoded.request_as(ControllerRegistrationRequest)
    if request is None:
        return None
    said = done(decoded.response_as(ControllerRegistrationResponse))
    where = endpoints(request.listeners)
    return outcome(f"controller {request.controller_id} registers at {where}", said)


def add_raft_voter(decoded: DecodedFlow) -> str | None:
    """An observer is to become a voter."""
    request = decoded.request_as(AddRaftVoterRequest)
    if request is None:
        return None
    voter = f"{request.voter_id}{directory(request.voter_directory_id)}"
    said = done(decoded.response_as(AddRaftVoterResponse))
    return outcome(f"add voter {voter} at {endpoints(request.listeners)}", said)


def remove_raft_voter(decoded: DecodedFlow) -> str | None:
    """A voter is to leave the voter set."""
    request = decoded.request_as(RemoveRaftVoterRequest)
    if request is None:
        return None
    voter = f"{request.voter_id}{directory(request.voter_directory_id)}"
    said = done(decoded.response_as(RemoveRaftVoterResponse))
    return outcome(f"remove voter {voter}", said)


def update_raft_voter(decoded: DecodedFlow) -> str | None:
    """A voter has other endpoints or another kraft.version range than the leader knows."""
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
    return outcome(asked, (failed(response.error_code) or "done") + leads)
