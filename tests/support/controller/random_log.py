"""A controller that got random requests, and the log that it wrote of them."""

from __future__ import annotations

from random import Random
from typing import Any

from kwire.codec.declaration import Request
from kwire.controller.authorization.standard_authorizer import StandardAuthorizer
from kwire.controller.handlers.frames import request_frame
from kwire.controller.handlers.result import DelegationTokenConfig
from kwire.messages.metadata_versions import (
    DEFAULT,
    ELIGIBLE_LEADER_REPLICAS,
    MetadataVersion,
)
from kwire.net.frames import encode_request
from kwire.net.service import ANONYMOUS
from tests.support.controller.handlers.lab import CLUSTER, Lab
from tests.support.controller.handlers.registrations import update
from tests.support.controller.random_requests import SECRET, RandomRequests, features_at


def random_lab(level: int = DEFAULT) -> Lab:
    """Return a lab with all that handlers may ask for; its brokers have no rack, "" and "a"."""
    lab = Lab(
        level=level,
        authorizer=StandardAuthorizer(super_users=frozenset({ANONYMOUS})),
        delegation_tokens=DelegationTokenConfig(secret=SECRET),
        security_protocols={"CONTROLLER": "SASL_PLAINTEXT"},
    )
    for id, rack in enumerate((None, "", "a"), 1):
        lab.start(id, rack=rack, features=features_at(level))
    if MetadataVersion(level).partition_record > 1:  # as in a new cluster
        update(lab, ELIGIBLE_LEADER_REPLICAS, 1)
    return lab


def ask(lab: Lab, request: Request, version: int) -> Any:
    """Return the answer to a request that comes as bytes, from a client or through a broker."""
    frame = encode_request(request, version, correlation_id=1, client_id="c")[4:]
    return lab.ask(request_frame(frame).body, version, forwarded=request_is_forwarded(frame))


def request_is_forwarded(frame: bytes) -> bool:
    """Return True for some requests, the same ones each time."""
    return sum(frame) % 2 == 0


def played(seed: int, count: int, level: int = DEFAULT) -> Lab:
    """Return a lab after so many random requests, and what is due between them."""
    random = Random(seed)
    lab, requests = random_lab(level), RandomRequests(random, CLUSTER, level)
    for _ in range(count):
        ask(lab, *requests.next(lab.image))
        if random.random() < 0.1:
            lab.tick(random.choice((100, 5_000, 20_000)))
    return lab
