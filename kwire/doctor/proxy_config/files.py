"""Check the files that a configuration names: who may change them, who may read their secrets."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote

from kwire.doctor.finding import FindingKind, FindingVerdict
from kwire.doctor.proxy_config.weakness import (
    KeyedListener,
    Weakness,
    clusters,
    listeners,
    weakness,
)
from kwire.errors import LocalError
from kwire.net.security import read_security
from kwire.net.tls import ClientTls, ServerTls
from kwire.permissions import Exposure, exposure_to_change, exposure_to_readers
from kwire.proxy.data_path.given_addresses import GivenAddresses
from kwire.proxy.filters.rules import load_rules
from kwire.proxy.filters.script import BadScript
from kwire.proxy.service.config import ClusterConfig, ProxyConfig, RecordConfig
from kwire.proxy.service.feed import read_token
from kwire.text.untrusted import read_text

CHANGEABLE = FindingKind(
    id="files/changeable",
    verdict=FindingVerdict.PROBLEM,
    meaning="Another user can change a file that directs the traffic, runs in the proxy, or says"
    " whom it trusts.",
    advice="run `chmod go-w FILE`",
    source="sshd_config(5), StrictModes",
)
READABLE = FindingKind(
    id="files/readable",
    verdict=FindingVerdict.PROBLEM,
    meaning="Every user of the machine can read a token, a private key, a file with a password, or"
    " recordings.",
    advice="run `chmod o-r FILE`",
    source="docs/explanation/threat-model.md",
)
UNUSABLE = FindingKind(
    id="files/unusable",
    verdict=FindingVerdict.PROBLEM,
    meaning="A file cannot be used, and the proxy would not start.",
    advice="mend the file, and check again",
    source="docs/operators/service.md",
)
KINDS = (CHANGEABLE, READABLE, UNUSABLE)

_TLS_FILES = ("certificate", "key", "clients", "authorities")


def _nothing(_: Path) -> None:
    """Read no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFile:
    """A file that a key of the configuration names.

    read: what reads it at the start; raises LocalError if the proxy would not start with this file.
    """

    key: str
    path: Path
    is_secret: bool = False
    read: Callable[[Path], object] = _nothing


def check(config: ProxyConfig, file: Path) -> Iterator[Weakness]:
    """Report files that others may change or read, and those that cannot be used.

    file: that of the configuration. Scripts are compiled, and not run.
    """
    named = [NamedFile(key="the file", path=file)]
    for key, cluster in clusters(config):
        named += _of_cluster(key, cluster)
    for keyed in listeners(config):
        named += _of_listener(keyed)
    for named_file in named:
        yield from _check(named_file)
    for key, cluster in clusters(config):
        if cluster.record is not None and cluster.record.path is not None:
            yield from _recordings(f"{key}.record", cluster.record, cluster.record.path)


def _recordings(key: str, record: RecordConfig, folder: Path) -> Iterator[Weakness]:
    """Report recordings that every user can read: those to come, and those of a folder."""
    if record.mode & stat.S_IROTH:
        sentence = "every user of this machine can read the recordings"
        yield weakness(
            READABLE, f"{key}.mode", f"{record.mode:04o}", sentence, advice="remove `mode`"
        )
    if number := sum(exposure_to_readers(path) is not None for path in folder.glob("*.avro")):
        noun = "recording" if number == 1 else "recordings"
        sentence = f"every user of this machine can read {number} {noun} in {folder}"
        yield weakness(
            READABLE,
            f"{key}.path",
            folder,
            sentence,
            advice=f"run `chmod o-rwx {quote(str(folder))}`",
        )


def _check(file: NamedFile) -> Iterator[Weakness]:
    if exposure := exposure_to_change(file.path):
        yield _permission(CHANGEABLE, file, exposure)
        return  # it is not read then
    if file.is_secret and (exposure := exposure_to_readers(file.path)):
        yield _permission(READABLE, file, exposure)
    try:
        file.read(file.path)
    except LocalError as error:
        yield weakness(UNUSABLE, file.key, file.path, str(error))


def _permission(kind: FindingKind, file: NamedFile, exposure: Exposure) -> Weakness:
    remedy = exposure.remedy
    advice = f"run `{remedy}`" if remedy.startswith("chmod ") else remedy
    return weakness(kind, file.key, file.path, exposure.reason, advice=advice)


def _of_cluster(key: str, cluster: ClusterConfig) -> Iterator[NamedFile]:
    for number, script in enumerate(cluster.scripts, 1):
        yield NamedFile(key=f"{key}.scripts[{number}]", path=script, read=_compile)
    if cluster.rules is not None:
        yield NamedFile(key=f"{key}.rules", path=cluster.rules, read=load_rules)
    if cluster.address_file is not None:
        path = cluster.address_file
        yield NamedFile(
            key=f"{key}.address_file", path=path, read=lambda path: GivenAddresses(path).read()
        )
    if cluster.feed is not None and cluster.feed.token is not None:
        token = cluster.feed.token
        yield NamedFile(key=f"{key}.feed.token", path=token, is_secret=True, read=read_token)
    for name in ("serve", "record"):
        part = getattr(cluster, name)
        if part is not None and part.client_config is not None:
            yield from _of_properties(f"{key}.{name}.client_config", part.client_config)
    if cluster.record is not None and cluster.record.path is not None:
        path = cluster.record.path
        yield NamedFile(key=f"{key}.record.path", path=path, is_secret=not path.is_dir())


def _of_properties(key: str, path: Path) -> Iterator[NamedFile]:
    """Yield a file of client properties, and the stores that it names."""
    yield NamedFile(key=key, path=path, is_secret=True, read=read_security)
    try:
        tls = read_security(path).tls
    except LocalError:
        return
    stores = () if tls is None else (tls.truststore, tls.keystore)
    for store in stores:
        if store is not None and store.path is not None:
            is_secret = store.name == "keystore"
            yield NamedFile(key=key, path=store.path, is_secret=is_secret)


def _of_listener(keyed: KeyedListener) -> Iterator[NamedFile]:
    listener = keyed.listener.listener
    for side, tls in (("tls", listener.tls), ("upstream_tls", listener.upstream_tls)):
        if tls is None:
            continue
        paths = {name: getattr(tls, name, None) for name in _TLS_FILES}
        read: Callable[[Path], object] = partial(_make_context, tls)
        for name, path in paths.items():
            if path is not None:
                key = f"{keyed.key}.{side}.{name}"
                yield NamedFile(key=key, path=path, is_secret=name == "key", read=read)
                read = _nothing  # they are read together


def _make_context(tls: ServerTls | ClientTls, _: Path) -> None:
    tls.context()


def _compile(path: Path) -> None:
    text = read_text(path, BadScript)
    try:
        compile(text, str(path), "exec")
    except (SyntaxError, ValueError) as error:
        raise BadScript(f"{path} is no Python: {error}") from error
