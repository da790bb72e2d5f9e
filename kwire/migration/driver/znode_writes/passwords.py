"""Passwords of configurations on their way to ZooKeeper and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kwire.zookeeper.password_cipher import PasswordNotDecoded
from kwire.zookeeper.password_encoder import PasswordEncoder


@dataclass(frozen=True, slots=True)
class PasswordWriter:
    """An encoder with the source of its salts, such as os.urandom."""

    encoder: PasswordEncoder
    random_bytes: Callable[[int], bytes]

    def encoded(self, configs: Mapping[str, str]) -> dict[str, str]:
        """Return a configuration as ZooKeeper has it."""
        return self.encoder.encode_configs(configs, self.random_bytes)

    def decoded(self, configs: Mapping[str, str]) -> dict[str, str] | None:
        """Return a configuration as the image has it; None if a password cannot be decoded."""
        try:
            return self.encoder.decode_configs(configs, "")
        except PasswordNotDecoded:
            return None
