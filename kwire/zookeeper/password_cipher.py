"""The ciphers of password.encoder.cipher.algorithm, by Java's names (javax.crypto.Cipher)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kwire.errors import LocalError
from kwire.extras import pip_line

# Few clusters have passwords in ZooKeeper, and `cryptography` is an extra.
if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher

OTHER_SECRET = "it was encoded with another password.encoder.secret"

BLOCK_BYTES = 16
GCM_VECTOR_BYTES = 12
TAG_BYTES = 16


class PasswordNotDecoded(LocalError):
    """A password of ZooKeeper cannot be decoded; its key is named, never the password."""


@dataclass(frozen=True, slots=True)
class PasswordCipher:
    """AES in one of the modes that need a vector. padded: to whole blocks, as PKCS5Padding does."""

    mode: str
    padded: bool

    @classmethod
    def of(cls, algorithm: str) -> PasswordCipher:
        """Return the cipher of a name as AES/CBC/PKCS5Padding. Raises PasswordNotDecoded."""
        name, _, rest = algorithm.partition("/")
        mode, _, padding = rest.partition("/")
        is_known = name == "AES" and mode in ("CBC", "CFB", "CFB8", "CTR", "GCM", "OFB")
        if not is_known or padding not in ("PKCS5Padding", "NoPadding"):
            raise PasswordNotDecoded(
                f"the cipher {algorithm[:60]!r} is not one of AES that is known"
            )
        return cls(mode, padding == "PKCS5Padding" and mode not in ("CTR", "GCM"))

    @property
    def vector_bytes(self) -> int:
        """The length of the vector that Java makes."""
        return GCM_VECTOR_BYTES if self.mode == "GCM" else BLOCK_BYTES

    @property
    def parameters(self) -> dict[str, str]:
        """The fields beside the password, without the vector."""
        return {"authenticationTagLength": str(8 * TAG_BYTES)} if self.mode == "GCM" else {}

    def encrypt(self, plain: bytes, key: bytes, vector: bytes) -> bytes:
        """Return the plain text encrypted. Raises PasswordNotDecoded if the key does not fit."""
        if self.padded:
            padding = BLOCK_BYTES - len(plain) % BLOCK_BYTES
            plain += bytes([padding]) * padding
        encryptor = _checked(lambda: self._cipher(key, vector, None).encryptor())
        encrypted: bytes = _checked(lambda: encryptor.update(plain) + encryptor.finalize())
        return encrypted + (encryptor.tag if self.mode == "GCM" else b"")

    def decrypt(self, encrypted: bytes, key: bytes, vector: bytes) -> bytes:
        """Return the plain text. Raises PasswordNotDecoded if key or bytes do not fit."""
        from cryptography.exceptions import InvalidTag

        tag = None
        if self.mode == "GCM":
            encrypted, tag = encrypted[:-TAG_BYTES], encrypted[-TAG_BYTES:]
        decryptor = _checked(lambda: self._cipher(key, vector, tag).decryptor())
        try:
            plain: bytes = _checked(lambda: decryptor.update(encrypted) + decryptor.finalize())
        except InvalidTag:
            raise PasswordNotDecoded(OTHER_SECRET) from None
        return _unpadded(plain) if self.padded else plain

    def _cipher(self, key: bytes, vector: bytes, tag: bytes | None) -> Cipher[Any]:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        if self.mode == "GCM":
            return Cipher(algorithms.AES(key), modes.GCM(vector, tag))
        return Cipher(algorithms.AES(key), _mode(self.mode)(vector))


def require_ciphers() -> None:
    """Raise PasswordNotDecoded if the extra that has the ciphers is not installed."""
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        text = f"encoded passwords need cryptography: {pip_line('security')}"
        raise PasswordNotDecoded(text) from error


def _mode(name: str) -> Callable[[bytes], Any]:
    """Return the class of a mode; some move to another module in newer releases."""
    from cryptography.hazmat.primitives.ciphers import modes

    if name in ("CBC", "CTR"):
        return modes.CBC if name == "CBC" else modes.CTR
    try:
        from cryptography.hazmat.decrepit.ciphers import modes as decrepit
    except ImportError:
        return _declared(modes, name)
    return _declared(decrepit if hasattr(decrepit, name) else modes, name)


def _declared(module: Any, name: str) -> Callable[[bytes], Any]:
    mode: Callable[[bytes], Any] = getattr(module, name)
    return mode


def _checked(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except ValueError:
        # A key or a vector of a length that AES does not have, or no whole blocks.
        raise PasswordNotDecoded("its key, vector or length does not fit the cipher") from None


def _unpadded(plain: bytes) -> bytes:
    padding = plain[-1] if plain else 0
    if not 0 < padding <= BLOCK_BYTES or plain[-padding:] != bytes([padding]) * padding:
        raise PasswordNotDecoded(OTHER_SECRET)
    return plain[:-padding]
