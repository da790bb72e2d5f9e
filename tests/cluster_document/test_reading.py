"""Documents that people wrote by hand: every mistake has its file and its line."""

import pytest

from kwire.cluster_document.reading import BOUNDS, parse_document
from kwire.text.yaml_file import BadFile

TOPICS = """\
version: 1
topics:
- name: orders
  partitions: 3
  replicationFactor: 3
  configs: {retention.ms: 60000, cleanup.policy: compact}
- {name: no, partitions: 1}
"""


def test_a_document_written_by_hand_needs_no_quotes() -> None:
    document = parse_document(TOPICS, "topics.yaml")
    assert document.topics is not None
    orders, no = document.topics
    assert orders.partitions == 3
    assert orders.configs == {"retention.ms": "60000", "cleanup.policy": "compact"}
    assert (no.name, no.configs, no.replication_factor) == ("no", None, None)
    assert document.acls is None


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("topics: []", "this is no document of `kwire export`"),
        ("- version", "this is no document of `kwire export`"),
        ("", "this is no document of `kwire export`"),
        ("version: 2\nnodes: 1", "version 2 of the document is not known, only 1"),
        ("version: 1\ntopcis: []", "line 2: topcis: there is no such key here"),
        ("version: 1\ntopics:\n- name: a", r"line 3: topics\[0\].partitions: this key is needed"),
        (
            "version: 1\ntopics:\n- name: a\n  partitions: many",
            r"line 4: topics\[0\].partitions: this must be a whole number",
        ),
        ("version: 1\ntopics: 3", "line 2: topics: this must be a list"),
        ("version: 1\nversion: 1", "line 2: 'version' is there twice"),
        ("version: 1\ntopics: [*a]", "line 2: anchors are not taken"),
        ("version: 1\nquotas: &a []", "line 2: anchors are not taken"),
        ("version: 1\n---\nversion: 1", "line 2: one file is one document|line 3: one file"),
        ("version: 1\n? [a]\n: b", "line 2: a key is a text"),
        ("version: 1\ntopics: [\n  ]]", "this is no YAML: .*line 3, column 4"),
        ("version: 1\na: " + "[" * 100_000, "line 2: the YAML is nested too deep"),
        ('{"version": 1,\n "topics": }', "line 2: this is no JSON"),
        ('{"version": 1, "version": 1}', "'version' is there twice in one object"),
        ('{"version": ' + "[" * 100_000, "the JSON is nested too deep"),
        (
            '{"version": 1, "configs": [{"type": "groups", "name": "g", "configs": {"a": 1}}]}',
            r"configs\[0\].configs.a: this must be a text: write it in quotes",
        ),
    ],
)
def test_a_mistake_is_told_with_file_and_place(text: str, mistake: str) -> None:
    with pytest.raises(BadFile, match=f"^nightly.yaml: ({mistake})") as error:
        parse_document(text, "nightly.yaml")
    assert len(str(error.value)) < 300


def test_many_mistakes_are_told_in_few_lines() -> None:
    topics = "".join("\n- {name: a, partitions: x}" for _ in range(1000))
    with pytest.raises(BadFile) as error:
        parse_document(f"version: 1\ntopics:{topics}", "nightly.yaml")
    assert len(str(error.value).splitlines()) == 6
    assert str(error.value).endswith("nightly.yaml: 995 more mistakes")


def test_the_depth_of_a_document_is_allowed() -> None:
    assert BOUNDS.depth > 5
    text = "version: 1\ntopics: [{name: a, partitions: 1, assignments: [[1, 2]]}]"
    assert parse_document(text, "it").has_assignments
