"""Messages of drafts of KIP-853 decode as Kafka's generator has it; no registry knows them."""

import doctest
import re
from pathlib import Path
from zipfile import ZipFile

import pytest

import drafts
import kwire
import real_kafka
from drafts import kip_853
from kwire.codec.declaration import Message
from kwire.dissector.source import dissector_source
from kwire.messages import index
from kwire.messages.registry import UnknownMessage
from kwire.protocol import facts
from kwire.protocol.document import document_text
from tests.support.paths import DOCS, ROOT
from vectors import VectorsError

PAGE = (DOCS / "kips" / "kip-853-earlier.md").read_text()
CLASSES: dict[str, type[Message]] = {
    "first/QuorumStateData": kip_853.QuorumStateDataWithReplicaUuid,
    "later/AddVoterRecord": kip_853.AddVoterRecord,
    "later/QuorumStateData": kip_853.QuorumStateDataWithAppliedRecord,
    "later/RemoveVoterRecord": kip_853.RemoveVoterRecord,
}
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)
NAMES = ("AddVoterRecord", "RemoveVoterRecord", "ReplicaUuid", "AppliedRecord", "VoterUuid")
"""Messages and fields that only the drafts have."""


@pytest.mark.java
def test_the_drafts_are_read_and_written_as_by_classes_of_kafkas_generator() -> None:
    made = drafts.draft_vectors()
    assert {vector.name for vector in made} == CLASSES.keys()
    for vector in made:
        message = CLASSES[vector.name].decode(vector.data, vector.version)
        assert message.encode(vector.version) == vector.data
        assert kwire.to_json(message, vector.version, exact=False) == vector.json
    examples = {vector.data.hex() for vector in made if vector.version == newest(vector.name)}
    assert set(hexadecimal()) == examples


def newest(name: str) -> int:
    return CLASSES[name].versions.last


def hexadecimal() -> list[str]:
    """Return the bytes of the page's examples, one text for each message."""
    calls = re.findall(r"bytes\.fromhex\((.*?)\)", PAGE, re.S)
    return ["".join(re.findall(r'"([0-9a-f]+)"', call)) for call in calls]


@pytest.mark.parametrize("block", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_of_the_page_prints_what_stands_there(block: str) -> None:
    names = {"to_json": kwire.to_json}
    example = doctest.DocTestParser().get_doctest(block, names, "example", None, 0)
    runner = doctest.DocTestRunner()
    runner.run(example)
    assert runner.tries > 2
    assert not runner.failures


@pytest.mark.java
@pytest.mark.parametrize("reason", ["add_voter", "quorum_state"])
def test_kafkas_generator_refuses_what_the_page_says_it_does(reason: str, tmp_path: Path) -> None:
    with pytest.raises(VectorsError) as refused:
        drafts.generate(f"refused/{reason}", tmp_path)
    sentences = re.findall(r'refuses (?:it|that) with\s"(.*?)"', PAGE)
    assert len(sentences) == 2
    assert sentences[reason == "quorum_state"] in str(refused.value)


@pytest.mark.java
def test_no_class_of_kafka_has_the_name_of_a_draft() -> None:
    for jar in real_kafka.class_path(drafts.RELEASE):
        with ZipFile(jar) as archive:
            names = {Path(name).stem for name in archive.namelist()}
        assert not names & {"AddVoterRecord", "RemoveVoterRecord"}


def test_the_released_messages_have_the_fields_that_the_page_says() -> None:
    released = {fact.name: fact for fact in facts().messages if "3.9.1" in fact.releases}
    state = {field.name: field.versions for field in released["QuorumStateData"].fields}
    assert state["ClusterId"] == state["AppliedOffset"] == state["CurrentVoters"] == "0"
    assert state["VotedDirectoryId"] == "1+"
    (voters,) = (field for field in released["VotersRecord"].fields if field.name == "Voters")
    names = {field.name for field in voters.fields}
    assert names == {"VoterId", "VoterDirectoryId", "Endpoints", "KRaftVersionFeature"}
    (endpoints,) = (field for field in voters.fields if field.name == "Endpoints")
    assert {field.name for field in endpoints.fields} == {"Name", "Host", "Port"}
    keys = {name: fact.key for name, fact in released.items()}
    assert (keys["AddRaftVoterRequest"], keys["RemoveRaftVoterRequest"]) == (80, 81)


def test_no_registry_no_document_and_no_dissector_knows_a_draft() -> None:
    assert not [module for module in index.MODULES if "draft" in module]
    known = document_text() + (DOCS / "reference" / "protocol.md").read_text()
    known += (ROOT / "kwire" / "protocol" / "releases.json").read_text() + dissector_source()
    assert not [name for name in NAMES if name in known or snake(name) in known]
    for name in (*(cls.__name__ for cls in CLASSES.values()), *NAMES):
        with pytest.raises(UnknownMessage):
            kwire.message(name)


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
