"""The SCRAM credentials of users and delegation tokens, from the metadata (KIP-900)."""

from __future__ import annotations

from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable
from hashlib import shake_256

from kwire.controller.authentication.scram import ScramLogin
from kwire.controller.authentication.token_index import token_hmac
from kwire.image import MetadataImage
from kwire.image.scram import MECHANISMS, ScramCredential, ScramImage, ScramUser
from kwire.net.scram_keys import LEAST_ITERATIONS, salted_password, scram_keys

_NUMBERS = {name: number for number, name in MECHANISMS.items()}
_KEY_LENGTHS = {"SCRAM-SHA-256": 32, "SCRAM-SHA-512": 64}
_SALT_LENGTH = 26
_MOST_TOKENS = 10_000


class ImageLogins:
    """Finds credentials in the current image, and makes up those of unknown names.

    A made-up credential has a salt that stays the same for the name, and the iterations of a real
    one, so that nobody learns which names exist.

    image: returns the metadata. token_bytes: returns so many random bytes, as
    `secrets.token_bytes`. token_secret: delegation.token.secret.key, None without tokens.
    """

    def __init__(
        self,
        image: Callable[[], MetadataImage],
        token_bytes: Callable[[int], bytes],
        token_secret: str | None = None,
    ) -> None:
        self._image = image
        self._token_bytes = token_bytes
        self._token_secret = token_secret
        self._own = ScramCredential(
            salt=token_bytes(_SALT_LENGTH),
            stored_key=b"",
            server_key=token_bytes(32),
            iterations=LEAST_ITERATIONS,
        )
        self._samples: tuple[ScramImage | None, dict[int, ScramCredential]] = (None, {})
        # Iterations are run once for a token: they would cost the loop milliseconds at each login.
        self._of_tokens: OrderedDict[tuple[str, str], ScramCredential] = OrderedDict()

    def user(self, mechanism: str, name: str) -> ScramLogin:
        """Return the login of a user; a made-up one if there is none."""
        number = _NUMBERS[mechanism]
        credential = self._image().scram.credentials.get(ScramUser(number, name))
        if credential is None:
            return self._made_up(mechanism, name)
        return ScramLogin(credential=credential, principal=f"User:{name}")

    def token(self, mechanism: str, id: str, now: int) -> ScramLogin:
        """Return the login of a delegation token's owner; a made-up one if it is not valid."""
        token = self._image().delegation_tokens.by_id.get(id)
        if token is None or self._token_secret is None or token.expiration_timestamp <= now:
            return self._made_up(mechanism, id)
        return ScramLogin(
            credential=self._token_credential(mechanism, id, self._token_secret),
            principal=token.owner,
            expires_at=token.expiration_timestamp,
        )

    def _token_credential(self, mechanism: str, id: str, secret: str) -> ScramCredential:
        """Return the credential of the password, which is the token's HMAC in Base64."""
        key = mechanism, id
        known = self._of_tokens.get(key)
        if known is None:
            password = b64encode(token_hmac(secret, id))
            salt = self._token_bytes(_SALT_LENGTH)
            keys = scram_keys(
                mechanism, salted_password(mechanism, password, salt, LEAST_ITERATIONS)
            )
            known = ScramCredential(
                salt=salt,
                stored_key=keys.stored_key,
                server_key=keys.server_key,
                iterations=LEAST_ITERATIONS,
            )
            self._of_tokens[key] = known
            if len(self._of_tokens) > _MOST_TOKENS:
                self._of_tokens.popitem(last=False)
        return known

    def _made_up(self, mechanism: str, name: str) -> ScramLogin:
        sample = self._sample(_NUMBERS[mechanism])
        # No proof fits a stored key that is made up.
        stream = shake_256(sample.server_key + name.encode("utf-8", "replace"))
        key_length, salt_length = _KEY_LENGTHS[mechanism], len(sample.salt)
        made_up = stream.digest(key_length + salt_length)
        credential = ScramCredential(
            salt=made_up[key_length:],
            stored_key=made_up[:key_length],
            server_key=made_up[:key_length],
            iterations=sample.iterations,
        )
        return ScramLogin(credential=credential, principal=None)

    def _sample(self, mechanism: int) -> ScramCredential:
        """Return a credential whose salt and iterations are usual here."""
        scram = self._image().scram
        if self._samples[0] is not scram:
            first: dict[int, ScramCredential] = {}
            for user in sorted(scram.credentials, reverse=True):
                first[user.mechanism] = scram.credentials[user]
            self._samples = scram, first
        return self._samples[1].get(mechanism, self._own)
