"""Registrations of controllers, as tests of several handlers need them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    Feature,
    Listener,
)
from kwire.messages.metadata_versions import (
    FEATURES,
    METADATA_VERSION,
)

UPGRADE, SAFE, UNSAFE = 1, 2, 3

BAD_ADDRESSES: list[list[dict[str, Any]]] = [
    [{"name": ""}],
    [{"name": " \x01"}],
    [{"host": ""}],
    [{"host": "\t"}],
    [{"port": 0}],
    [{}, {"port": 1}],
    [{"name": "internal"}, {"name": "INTERNAL"}, {}],
]
"""The changes that make listeners of a good one that Kafka refuses."""

BAD_LISTENERS = [
    *BAD_ADDRESSES,
    *([{"security_protocol": number}] for number in (-1, 4, 9, 32767)),
]
"""Those of registrations, which have security protocols."""


def register(lab: Any, id: int, **levels: tuple[int, int]) -> int:
    ranges = {METADATA_VERSION: (7, 30)} | {
        name: (0, feature.latest) for name, feature in FEATURES.items()
    }
    request = ControllerRegistrationRequest(
        controller_id=id,
        incarnation_id=UUID(int=id),
        zk_migration_ready=True,
        listeners=[
            Listener(name="CONTROLLER", host=f"c{id}", port=9000 + id),
            Listener(name="INTERNAL", host="inside", port=1),
        ],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in (ranges | levels).items()
        ],
    )
    code: int = lab.ask(request).error_code
    return code


def update(lab: Any, name: str, level: int, kind: int = UPGRADE, **more: Any) -> tuple[int, str]:
    key = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
    response = lab.ask(UpdateFeaturesRequest(feature_updates=[key]).replace(**more))
    return response.error_code, response.error_message or ""
