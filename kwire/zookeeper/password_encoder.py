"""Passwords in the configuration of brokers, as ZooKeeper has them (KIP-226).

Java: org.apache.kafka.security.EncryptingPasswordEncoder. ZooKeeper has them encrypted with the
secret of password.encoder.secret, the metadata log as they are.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from kwire.zookeeper.password_cipher import (
    OTHER_SECRET,
    PasswordCipher,
    PasswordNotDecoded,
    require_ciphers,
)

PASSWORD_KEYS = (
    "sasl.jaas.config",
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.password",
    "ssl.truststore.certificates",
    "ssl.truststore.password",
)
"""The keys of brokers that are of type PASSWORD and can be changed while they run."""

SALT_BYTES = 256
LARGEST_ITERATIONS = 10_000_000
LARGEST_KEY_LENGTH = 4096

_DIGESTS = {
    "PBKDF2WithHmacSHA1": "sha1",
    "PBKDF2WithHmacSHA224": "sha224",
    "PBKDF2WithHmacSHA256": "sha256",
    "PBKDF2WithHmacSHA384": "sha384",
    "PBKDF2WithHmacSHA512": "sha512",
}


def is_password_key(name: str) -> bool:
    """Return True for keys that ZooKeeper has encoded, with and without a listener's prefix.

    Java: DynamicBrokerConfig.isPasswordConfig.
    """
    return name.endswith(PASSWORD_KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordEncoder:
    """Encodes and decodes passwords with the settings of a node (password.encoder.*).

    secret: without one, Kafka's controller writes and reads passwords as they are. The others are
    for encoding: what a password was encoded with stands beside it.
    """

    secret: str | None = field(default=None, repr=False)
    key_factory_algorithm: str = "PBKDF2WithHmacSHA512"
    cipher_algorithm: str = "AES/CBC/PKCS5Padding"
    key_length: int = 128
    iterations: int = 4096

    def decode(self, encoded: str) -> str:
        """Return the password. Raises PasswordNotDecoded, which does not say the password."""
        if self.secret is None:
            return encoded
        require_ciphers()
        encoding = _encoding(encoded)
        cipher = PasswordCipher.of(encoding.algorithm)
        decrypted = cipher.decrypt(encoding.encrypted, encoding.key(self.secret), encoding.vector)
        try:
            password = decrypted.decode()
        except UnicodeDecodeError:
            raise PasswordNotDecoded(OTHER_SECRET) from None
        if _length(password) != encoding.length:
            raise PasswordNotDecoded(OTHER_SECRET)
        return password

    def encode(self, password: str, random_bytes: Callable[[int], bytes]) -> str:
        """Return the text for ZooKeeper; random_bytes makes the salt and the vector.

        Raises PasswordNotDecoded for an algorithm that is not known.
        """
        if self.secret is None:
            return password
        require_ciphers()
        cipher = PasswordCipher.of(self.cipher_algorithm)
        vector, salt = random_bytes(cipher.vector_bytes), random_bytes(SALT_BYTES)
        factory = self.key_factory_algorithm
        key = _key(self.secret, salt, factory, self.iterations, self.key_length)
        # The order in which Java's HashMap has these keys.
        fields = {
            "initializationVector": _text(vector),
            "keyLength": self.key_length,
            "salt": _text(salt),
            "keyFactoryAlgorithm": factory,
            "cipherAlgorithm": self.cipher_algorithm,
            **cipher.parameters,
            "iterations": self.iterations,
            "passwordLength": _length(password),
            "encryptedPassword": _text(cipher.encrypt(password.encode(), key, vector)),
        }
        return ",".join(f"{name}:{value}" for name, value in fields.items())

    def decode_configs(self, configs: Mapping[str, str], owner: str) -> dict[str, str]:
        """Return a configuration with decoded passwords.

        Raises PasswordNotDecoded, which names the key and its owner.
        """
        decoded = dict(configs)
        for name in filter(is_password_key, configs):
            try:
                decoded[name] = self.decode(configs[name])
            except PasswordNotDecoded as error:
                raise PasswordNotDecoded(f"{name} of {owner} cannot be decoded: {error}") from error
        return decoded

    def encode_configs(
        self, configs: Mapping[str, str], random_bytes: Callable[[int], bytes]
    ) -> dict[str, str]:
        """Return a configuration with encoded passwords. Raises PasswordNotDecoded."""
        return {
            name: self.encode(value, random_bytes) if is_password_key(name) else value
            for name, value in configs.items()
        }


class _Encoding(Struct, frozen=True, kw_only=True):
    """The fields of an encoded password."""

    length: int
    iterations: int
    key_length: int
    salt: bytes
    vector: bytes
    encrypted: bytes
    factory: str
    algorithm: str

    def key(self, secret: str) -> bytes:
        return _key(secret, self.salt, self.factory, self.iterations, self.key_length)


def _encoding(encoded: str) -> _Encoding:
    pairs = (pair.rpartition(":") for pair in encoded.split(","))
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    try:
        return _Encoding(
            length=int(fields["passwordLength"]),
            iterations=int(fields["iterations"]),
            key_length=int(fields["keyLength"]),
            salt=b64decode(fields["salt"], validate=True),
            vector=b64decode(fields["initializationVector"], validate=True),
            encrypted=b64decode(fields["encryptedPassword"], validate=True),
            factory=fields["keyFactoryAlgorithm"],
            algorithm=fields["cipherAlgorithm"],
        )
    except (KeyError, ValueError):
        # Not the error as a cause: it may have a piece of the value in it.
        raise PasswordNotDecoded("it is not what Kafka's encoder writes") from None


def _key(secret: str, salt: bytes, factory: str, iterations: int, key_length: int) -> bytes:
    digest = _DIGESTS.get(factory)
    if digest is None:
        raise PasswordNotDecoded(f"the key factory {factory[:60]!r} is not known")
    if not 0 < iterations <= LARGEST_ITERATIONS or not 8 <= key_length <= LARGEST_KEY_LENGTH:
        raise PasswordNotDecoded(f"{iterations} iterations and {key_length} bits make no key")
    return hashlib.pbkdf2_hmac(digest, secret.encode(), salt, iterations, key_length // 8)


def _length(password: str) -> int:
    """Return the length as Java counts it, in UTF-16."""
    return len(password.encode("utf-16-le", "surrogatepass")) // 2


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")
