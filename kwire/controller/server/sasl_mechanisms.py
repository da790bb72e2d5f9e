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
    config: SaslConfig,
    image: Callable[[], MetadataImage],
    token_bytes: Callable[[int], bytes],
) -> Mapping[str, ListenerMechanism]:
    """Return the mechanisms of a listener by name.

    image: returns the current metadata. token_bytes: returns so many random bytes.
    """
    logins = ImageLogins(image, token_bytes, config.token_secret)
    return {
        name: ListenerMechanism(
            server=_server(name, mechanism, logins, token_bytes),
            session_limit_ms=mechanism.session_limit_ms,
        )
        for name, mechanism in config.mechanisms.items()
    }


def _server(
    name: str,
    config: MechanismConfig,
    logins: ImageLogins,
    token_bytes: Callable[[int], bytes],
) -> ServerMechanism:
    if name == Mechanism.PLAIN:
        return PlainMechanism(config.passwords)
    if config.validator is not None:
        return OAuthBearerMechanism(config.validator)
    return ScramServerMechanism(name, logins, token_bytes)
