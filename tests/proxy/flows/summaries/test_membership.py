"""Joining, staying in and leaving cluster and quorum in one line."""

from uuid import UUID

import pytest

from kwire.codec.declaration import Request, Response
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Listener,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kwire.messages.a70_controller_registration import Listener as ControllerListener
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a80_add_raft_voter import Listener as VoterListener
from kwire.messages.a82_update_raft_voter import (
    CurrentLeader,
    KRaftVersionFeature,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from kwire.messages.a82_update_raft_voter import Listener as VotingListener
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kwire.proxy import summarize
from tests.support.proxy.flows.dialogue_flows import rpc

DIRECTORY = UUID(int=7)


REGISTRATION = BrokerRegistrationRequest(broker_id=1, listeners=[Listener(host="b", port=9092)])

MIGRATING = BrokerRegistrationRequest(
    broker_id=1, is_migrating_zk_broker=True, listeners=[Listener(host="b", port=9092)]
)


LINES: list[tuple[Request, Response, int, str]] = [
    (
        AddRaftVoterRequest(
            voter_id=3003,
            voter_directory_id=DIRECTORY,
            listeners=[VoterListener(host="c3", port=9093)],
        ),
        AddRaftVoterResponse(),
        1,
        "add voter 3003@AAAAAAAAAAAAAAAAAAAABw at c3:9093: done",
    ),
    (
        UpdateRaftVoterRequest(
            voter_id=3002,
            listeners=[VotingListener(host="c2", port=9093)],
            k_raft_version_feature=KRaftVersionFeature(max_supported_version=1),
        ),
        UpdateRaftVoterResponse(
            error_code=6, current_leader=CurrentLeader(leader_id=3000, leader_epoch=5)
        ),
        0,
        "voter 3002 is at c2:9093, kraft.version 0-1: NOT_LEADER_OR_FOLLOWER, leader 3000 epoch 5",
    ),
    (
        REGISTRATION,
        BrokerRegistrationResponse(broker_epoch=44),
        4,
        "broker 1 registers at b:9092: broker epoch 44",
    ),
    (
        REGISTRATION,
        BrokerRegistrationResponse(error_code=101),
        4,
        "broker 1 registers at b:9092: DUPLICATE_BROKER_REGISTRATION",
    ),
    (
        MIGRATING,
        BrokerRegistrationResponse(error_code=102),
        1,
        "ZooKeeper broker 1 registers at b:9092: BROKER_ID_NOT_REGISTERED",
    ),
    (
        BrokerHeartbeatRequest(broker_id=1, current_metadata_offset=812, want_fence=True),
        BrokerHeartbeatResponse(is_fenced=True, should_shut_down=True),
        2,
        "broker 1 wants to be fenced at metadata 812: fenced, behind, may shut down",
    ),
    (
        BrokerHeartbeatRequest(broker_id=1, current_metadata_offset=812),
        BrokerHeartbeatResponse(is_fenced=False, is_caught_up=True),
        2,
        "broker 1 at metadata 812: unfenced, caught up",
    ),
    (
        UnregisterBrokerRequest(broker_id=7),
        UnregisterBrokerResponse(error_code=102),
        0,
        "forget broker 7: BROKER_ID_NOT_REGISTERED",
    ),
    (
        UnregisterControllerRequest(controller_id=3001),
        UnregisterControllerResponse(error_code=136),
        0,
        "forget controller 3001: CONTROLLER_ID_NOT_REGISTERED",
    ),
    (
        ControllerRegistrationRequest(
            controller_id=3000, listeners=[ControllerListener(host="c", port=9093)]
        ),
        ControllerRegistrationResponse(error_code=41, error_message="not me"),
        0,
        "controller 3000 registers at c:9093: NOT_CONTROLLER (not me)",
    ),
    (
        ControllerRegistrationRequest(
            controller_id=3000,
            zk_migration_ready=True,
            listeners=[ControllerListener(host="c", port=9093)],
        ),
        ControllerRegistrationResponse(),
        0,
        "controller 3000 registers at c:9093, ready to migrate from ZooKeeper: done",
    ),
]


@pytest.mark.parametrize(("request_", "response", "version", "line"), LINES)
def test_a_flow_is_told_in_one_line(
    request_: Request, response: Response, version: int, line: str
) -> None:
    assert summarize(rpc(request_, response, version)) == line
