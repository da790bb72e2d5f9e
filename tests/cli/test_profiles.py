"""Profiles: the file of clusters by name, and mistakes in it."""

from pathlib import Path

import pytest

from kwire.cli.errors import WrongUsage
from kwire.cli.profiles import NO_PROFILE, Profile, profiles_path, read_profile, read_profiles
from tests.support.cli.command import Command

FILE = """\
[profiles.prod]
bootstrap_controllers = "c1:9093,c2:9093"
command_config = "prod/client.properties"
read_only = true
timeout = 20

[profiles.'test 1']
bootstrap_servers = ["b1:9092", "b2:9092"]
command_config = "/etc/kwire/test.properties"
timeout = 2.5
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file of profiles, not yet written."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("KWIRE_CONFIG", str(path))
    monkeypatch.delenv("KWIRE_PROFILE", raising=False)
    return path


def test_a_profile_is_read_with_paths_relative_to_its_file(file: Path) -> None:
    file.write_text(FILE)
    assert read_profile("prod") == Profile(
        name="prod",
        bootstrap_controllers="c1:9093,c2:9093",
        command_config=file.parent / "prod/client.properties",
        read_only=True,
        timeout=20.0,
    )
    assert read_profile("test 1") == Profile(
        name="test 1",
        bootstrap_servers="b1:9092,b2:9092",
        command_config=Path("/etc/kwire/test.properties"),
        timeout=2.5,
    )


def test_of_brokers_and_controllers_those_are_asked_that_fit() -> None:
    both = Profile(bootstrap_servers="b:1", bootstrap_controllers="c:1")
    assert both.bootstrap(controllers_first=True) == (None, "c:1")
    assert both.bootstrap(controllers_first=False) == ("b:1", None)
    assert Profile(bootstrap_servers="b:1").bootstrap(controllers_first=True) == ("b:1", None)


def test_the_variable_names_a_profile_and_the_option_wins(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(FILE)
    monkeypatch.setenv("KWIRE_PROFILE", "test 1")
    assert read_profile().name == "test 1"
    assert read_profile("prod").name == "prod"


def test_without_a_profile_no_file_is_read(file: Path) -> None:
    file.write_text("no TOML")
    assert read_profile() == NO_PROFILE


def test_the_file_is_in_the_users_folder_for_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KWIRE_CONFIG", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert profiles_path() == tmp_path / "kwire" / "config.toml"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("\n[profiles.prod]\nread_onyl = true", 3, "has no key read_onyl: did you mean read_only?"),
        ("[profiles.prod]\nxyz = 1", 2, "has no key xyz: it has bootstrap_servers, bootstrap_con"),
        ("[profiles.a]\ntimeout = 1\n[profiles.prod]\ntimeout = 0", 4, "timeout of profiles.prod"),
        ("[profiles.prod]\ntimeout = true", 2, "must be a number of seconds above 0"),
        ("[profiles.prod]\ntimeout = nan", 2, "must be a number of seconds above 0"),
        ("[profiles.prod]\nread_only = 'yes'", 2, "read_only of profiles.prod must be true or fal"),
        ("[profiles.prod]\nbootstrap_servers = 9092", 2, "must be text or a list of texts"),
        ("[profiles.prod]\nbootstrap_servers = []", 2, "must be text or a list of texts"),
        ("[profiles.prod]\ncommand_config = ''", 2, "must be the path of a file"),
        ("default = 1", 1, "default is not known at the top: write [profiles.NAME]"),
        ("profiles = 1", 1, "profiles is a table"),
        ("[profiles]\nprod = 1", 2, "profiles.prod is a table"),
        ("[profiles]\nprod = { timeout = 0 }", None, "timeout of profiles.prod must be"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    file: Path, text: str, line: int | None, reason: str
) -> None:
    file.write_text(text)
    with pytest.raises(WrongUsage) as caught:
        read_profile("prod")
    where = f"{file}: " if line is None else f"{file}:{line}: "
    assert str(caught.value).startswith(where)
    assert reason in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    with pytest.raises(WrongUsage, match=r"no profile prod: .*config.toml does not exist"):
        read_profile("prod")
    file.write_text("[profiles.prod]\n = 1")
    with pytest.raises(WrongUsage, match=r"config.toml is no TOML: .*line 2"):
        read_profile("prod")
    file.write_bytes(b"\xff")
    with pytest.raises(WrongUsage, match="is no text in UTF-8"):
        read_profile("prod")
    with pytest.raises(WrongUsage, match=r"Cannot read .*: Is a directory"):
        read_profiles(file.parent)


def test_an_unknown_profile_is_named_with_its_neighbour(file: Path) -> None:
    file.write_text(FILE)
    with pytest.raises(WrongUsage, match=r"has no profile prd: did you mean prod\?"):
        read_profile("prd")
    file.write_text("")
    with pytest.raises(WrongUsage, match="has no profile prod: it has none"):
        read_profile("prod")


def test_the_command_lists_the_profiles_and_their_file(file: Path, kwire: Command) -> None:
    run = kwire("profiles")
    assert (run.code, run.out) == (0, f"No profiles: {file} does not exist.\n")
    file.write_text(FILE)
    run = kwire("profiles")
    assert run.out.splitlines()[0] == f"{file}:"
    assert "prod    controllers c1:9093,c2:9093" in run.out
    assert "read only" in run.out
    listed = kwire("profiles", "--json").json
    assert listed["file"] == str(file)
    assert listed["profiles"][1] == {
        "name": "test 1",
        "bootstrapServers": "b1:9092,b2:9092",
        "bootstrapControllers": None,
        "commandConfig": "/etc/kwire/test.properties",
        "readOnly": False,
        "timeout": 2.5,
        "connectTimeout": None,
        "requestTimeout": None,
    }


def test_the_command_names_a_mistake(file: Path, kwire: Command) -> None:
    file.write_text("[profiles.prod]\nread_onyl = true")
    run = kwire("profiles")
    assert (run.code, run.error[: len(str(file)) + 2]) == (2, f"{file}:2")
