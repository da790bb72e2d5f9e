"""An unpacked release of Kafka, such as $KAFKA_HOME, whose jars and logging are run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kwire.testing.local_kafka.errors import JarsNotFound

_CLIENTS = re.compile(r"kafka-clients-(\d+\.\d+\.\d+.*)\.jar")
_LOGGING = {
    "log4j2.yaml": "log4j2.configurationFile",
    "log4j.properties": "log4j.configuration",
}
"""Files of Kafka 4 and 3 in config/, and the property that names them (kafka-run-class.sh)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledKafka:
    """A folder that a release unpacks to. home: absolute. version: as 4.3.1."""

    home: Path
    version: str
    jars: tuple[Path, ...]

    def logging(self, folder: str) -> list[str]:
        """Return the options of Java with which a node logs as the release's own scripts have it.

        folder: for the log files. Without them a release prints errors only.
        """
        for name, option in _LOGGING.items():
            file = self.home / "config" / name
            if file.is_file():
                return [f"-Dkafka.logs.dir={folder}", f"-D{option}={file.as_uri()}"]
        return []


def installed(home: Path) -> InstalledKafka:
    """Look at an unpacked release of Kafka. Raises JarsNotFound if the folder is none."""
    home = home.expanduser().absolute()
    jars = tuple(sorted((home / "libs").glob("*.jar")))
    versions = [match[1] for jar in jars if (match := _CLIENTS.fullmatch(jar.name))]
    if not versions:
        raise JarsNotFound(
            f"{home} is no folder of Kafka: it has no libs/kafka-clients-VERSION.jar; name the"
            " folder that a release of Kafka unpacks to, or none, to load the jars."
        )
    version = versions[0]
    server = re.compile(rf"kafka_[\d.]+-{re.escape(version)}\.jar")
    if not any(server.fullmatch(jar.name) for jar in jars):
        raise JarsNotFound(
            f"{home} has no broker, only Kafka's clients: libs lacks kafka_2.13-{version}.jar."
        )
    return InstalledKafka(home=home, version=version, jars=jars)
