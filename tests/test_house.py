"""The house rules that a machine can check: sizes, words, layers, docstrings, folders."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.package import is_generated
from tests.support.paths import ROOT
from tests.support.source_files import FOLDERS, source_files

pytestmark = pytest.mark.xdist_group("house")  # one process parses the files

SCREEN = 40
"""Lines of code that a function may have."""

RIDDLE = re.compile(r"(What|Whether|Where|Who|Whom|Whose|Which|When|Why|How|That)\b")
"""A docstring that opens so asks the reader to turn it round."""


def test_a_module_says_what_it_is() -> None:
    """Among the modules of the package."""
    modules = [(file, file.definitions[0]) for file in source_files("kwire")]
    assert not [file.at(module) for file, module in modules if not module.docstring]


def test_a_function_fits_on_a_screen() -> None:
    """Code counts: a contract may be long, so may options, and a comment is no burden."""
    assert not [
        f"{file.at(definition)}: {definition.lines} lines"
        for file in source_files("kwire")
        for definition in file.definitions
        if definition.lines > SCREEN
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_say_what_is_done(folder: str) -> None:
    """Everywhere, tests and examples too, but for checks, whose docstring is their sentence."""
    assert not [
        file.at(definition)
        for file in source_files(folder)
        for definition in file.definitions
        if definition.name != "_" and RIDDLE.match(definition.docstring or "")
    ]


def test_a_name_of_a_type_means_one_thing() -> None:
    """Among the classes and aliases that are written by hand; two alike need a longer name."""
    places = defaultdict(list)
    for file in source_files("kwire"):
        for definition in file.definitions:
            if definition.kind in ("class", "alias") and not is_generated(file.path):
                places[definition.name].append(file.at(definition))
    assert not {name: files for name, files in places.items() if len(files) > 1}


def test_arrows_between_rooms_point_down() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("room", ["admin", "proxy", "cli"])
def test_a_door_at_the_top_leads_into_the_package(room: str) -> None:
    door = ROOT / room
    if not door.is_symlink():  # a system without links: git leaves the target as text
        assert door.read_text() == f"kwire/{room}"
    else:
        assert str(door.readlink()) == f"kwire/{room}"


def test_nothing_imports_through_a_door() -> None:
    doors = {"admin", "proxy", "cli", "controller", "pipeline"}
    assert not [
        f"{file.path.relative_to(ROOT)}: {name}"
        for file in source_files()
        for name in file.imports
        if name.partition(".")[0] in doors
    ]


def test_no_test_module_is_imported() -> None:
    """Code that two test modules need belongs in tests/support."""
    assert not [
        f"{file.path.relative_to(ROOT)}: {name}"
        for file in source_files()
        for name in file.imports
        if name.startswith("tests.") and name.rpartition(".")[2].startswith(("test_", "conftest"))
    ]


def test_between_the_tests_lie_no_helpers() -> None:
    tests = ROOT / "tests"
    helpers = [
        str(path.relative_to(ROOT))
        for path in tests.rglob("*.py")
        if path.relative_to(tests).parts[0] != "support"
        and not path.is_relative_to(BREAKS)
        and not path.name.startswith(("test_", "conftest"))
    ]
    assert not helpers


BREAKS = ROOT / "tests" / "conform" / "breaks"
"""The break of each check: data of one test, in modules named as those of the checks."""


ROOMS_OF_TESTS = {
    "cli/watch": "the screen, the browser and the plain form of one command",
    "controller/live": "quorums of kwire's and Kafka's nodes",
    "controller/live/libraries": "what client libraries do on brokers of both",
    "controller/live/session": "requests that both get, by subject",
    "migration/live": "migrations by kwire's and Kafka's controllers",
    "portability": "all rooms, without what only POSIX has",
    "support": "what tests share",
}
"""Folders of tests that are no folder of kwire/ or fixtures/, and what they are about."""


def test_the_folders_of_the_tests_are_those_of_what_they_test() -> None:
    tests = ROOT / "tests"
    files = [path for path in tests.rglob("*.py") if not path.is_relative_to(BREAKS)]
    folders = {str(path.parent.relative_to(tests)) for path in files}
    rooms = {folder.removeprefix("support/") for folder in folders} - {"."} - set(ROOMS_OF_TESTS)
    tested = {
        room for room in rooms for top in ("kwire", "fixtures") if (ROOT / top / room).is_dir()
    }
    assert rooms == tested


YAML_READER = "kwire/text/yaml_data.py"
READS_YAML = re.compile(r"\byaml\.(\w*load\w*|compose|parse|scan|\w*Loader)|from yaml\b")


@pytest.mark.parametrize("folder", ["kwire", "fixtures"])
def test_yaml_is_read_by_one_reader(folder: str) -> None:
    """Any other might build what a few anchors stand for before it is measured."""
    assert not [
        file.path.relative_to(ROOT)
        for file in source_files(folder)
        if str(file.path.relative_to(ROOT)) != YAML_READER
        and READS_YAML.search(file.path.read_text())
    ]


LOADED = """
import sys
before = set(sys.modules)
import kwire
kwire.message("AddRaftVoterRequest")(voter_id=3).encode(version=1)
import kwire.batches
print(*sorted({name for name in set(sys.modules) - before}))
"""

CODEC = {"kwire", "construct", "cramjam", "crc32c", "msgspec", "typing_extensions"}
ROOMS_OF_THE_CODEC = {"batches", "codec", "messages", "text", "errors", "error_codes"}
ROOMS_OF_THE_CODEC |= {"lazy_names", "operating_system", "permissions"}  # of its cache on the disk


def test_the_codec_is_usable_alone() -> None:
    """`import kwire` and a message loads neither the commands' libraries nor the event loop."""
    command = [sys.executable, "-c", LOADED]
    environment = {**os.environ, "KWIRE_CACHE": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    loaded = done.stdout.split()
    assert {name.partition(".")[0] for name in loaded} <= CODEC | set(sys.stdlib_module_names)
    assert not {"asyncio", "ssl"} & set(loaded)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("kwire.")}
    assert rooms <= ROOMS_OF_THE_CODEC
