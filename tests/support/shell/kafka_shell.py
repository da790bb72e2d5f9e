"""Kafka's own MetadataShell, and its output with the changes that shell.md tells of."""

import os
import re
import subprocess
from pathlib import Path

from real_kafka import artifact, java

_SCRAM = re.compile(r"ScramCredentialData\(salt=.*, (iterations=\d+)\)")
_TIME = re.compile(r"(time [-\d]+T[:\d]+)(\.\d+)?Z\[UTC\]")


def kafkas_tree(file: Path) -> list[str]:
    """Run `tree /image` on a copy of a checkpoint or segment; return what kwire prints for it."""
    jars = os.pathsep.join(map(str, artifact("org.apache.kafka:kafka-shell:4.3.1")))
    command = [str(java()), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars]
    command += ["org.apache.kafka.shell.MetadataShell", "--snapshot", str(file), "tree", "/image"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return as_kwire_prints(run.stdout)


def as_kwire_prints(text: str) -> list[str]:
    """Return the lines of Kafka's tree as kwire prints them."""
    text = _SCRAM.sub(
        r"ScramCredentialData(salt=[redacted], storedKey=[redacted], serverKey=[redacted], \1)",
        text,
    )
    # Java leaves zeros out at the end of a fraction.
    text = _TIME.sub(lambda time: f"{time[1]}.{(time[2] or '.')[1:]:0<3}Z", text)
    text = re.sub(r"Optional\[(\d[^]]*-IV\d+)\]", r"\1", text)
    # Kafka's shell drops the default client id from the name, and then finds no quota.
    quota = "  clientId_user(alice):\n    consumer_byte_rate:\n      2048.0\n"
    return re.sub(r"^  user\(alice\):\n(?= {0,2}\S)", quota, text, flags=re.MULTILINE).splitlines()
