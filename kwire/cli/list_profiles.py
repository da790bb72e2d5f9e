"""`kwire profiles`: the clusters that -P and $KWIRE_PROFILE can name."""

from __future__ import annotations

import typer

from kwire.cli.flows.options import AS_JSON
from kwire.cli.options import reads_options
from kwire.cli.profiles import Profile, profiles_path, read_profiles
from kwire.text.untrusted import harmless


@reads_options
def list_profiles(as_json: bool = AS_JSON) -> None:
    """List the profiles and their file. See docs/operators/security.md.

    \b
    kwire profiles
    kwire profiles --json
    """
    path = profiles_path()
    exists = path.is_file()
    profiles = list(read_profiles(path).values()) if exists else []
    if as_json:
        import json

        document = {"file": str(path), "profiles": [_document(profile) for profile in profiles]}
        typer.echo(json.dumps(document, indent=2))
    elif not profiles:
        typer.echo(f"No profiles: {path} {'has none' if exists else 'does not exist'}.")
    else:
        typer.echo(f"{path}:")
        width = max(len(profile.name) for profile in profiles) + 2
        for profile in profiles:
            typer.echo(harmless(f"  {profile.name:<{width}}{_line(profile)}"))


def _line(profile: Profile) -> str:
    seconds = {
        "timeout ": profile.timeout,
        "connect timeout ": profile.connect_timeout,
        "request timeout ": profile.request_timeout,
    }
    parts = {
        "servers ": profile.bootstrap_servers,
        "controllers ": profile.bootstrap_controllers,
        "config ": profile.command_config,
        **{label: None if value is None else f"{value:g} s" for label, value in seconds.items()},
        "read only": "" if profile.read_only else None,
    }
    return ", ".join(f"{label}{value}" for label, value in parts.items() if value is not None)


def _document(profile: Profile) -> dict[str, object]:
    config = profile.command_config
    return {
        "name": profile.name,
        "bootstrapServers": profile.bootstrap_servers,
        "bootstrapControllers": profile.bootstrap_controllers,
        "commandConfig": None if config is None else str(config),
        "readOnly": profile.read_only,
        "timeout": profile.timeout,
        "connectTimeout": profile.connect_timeout,
        "requestTimeout": profile.request_timeout,
    }
