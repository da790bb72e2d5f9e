"""The SASL mechanisms of a listener, from its configuration and the metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kwire.controller.authentication.exchanges import ServerMechanism
from kwire.controller.authentication.image_logins import ImageLogins
from kwire.controller.authentication.oauth_bearer import OAuthBearerMechanism
from kwire.controller.authentication.plain import PlainMechanism
from kwire.controller.authentication.sasl_authenticator import ListenerMechanism
from kwire.controller.authentication.scram import ScramServerMechanism
from kwire.controller.server.config.sasl import MechanismConfig, SaslConfig
from kwire.image import MetadataImage
from kwire.net.sasl import Mechanism


def listener_mechanisms(
    config: SaslConfig, image: Callable[[], MetadataImage]
) -> Mapping[str, ListenerMechanism]:
    """Return the mechanisms of a listener by name. image: returns the current metadata."""
    logins = ImageLogins(image, config.token_secret)
    return {
        name: ListenerMechanism(
            server=_server(name, mechanism, logins), session_limit_ms=mechanism.session_limit_ms
        )
        for name, mechanism in config.mechanisms.items()
    }


def _server(name: str, config: MechanismConfig, logins: ImageLogins) -> ServerMechanism:
    if name == Mechanism.PLAIN:
        return PlainMechanism(config.passwords)
    if config.validator is not None:
        return OAuthBearerMechanism(config.validator)
    return ScramServerMechanism(name, logins)
