"""Documents that people wrote by hand: every mistake has its file and its line."""

import json

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
        (
            "version: 1\ntopics:\n- {name: a, partitions: 1, replicationFactor: 32768}",
            r"line 3: topics\[0\].replicationFactor: this number is too great",
        ),
        (
            "version: 1\ntopics:\n- {name: a, partitions: 2147483648}",
            r"line 3: topics\[0\].partitions: this number is too great",
        ),
        (
            "version: 1\ntopics:\n- {name: a, partitions: 99999999999999999999}",
            r"line 3: topics\[0\].partitions: this number is too great",
        ),
        (
            "version: 1\ntopics:\n- {name: a, partitions: -1}",
            r"line 3: topics\[0\].partitions: this number must not be negative",
        ),
        (
            "version: 1\nfeatures: {metadata.version: 32768}",
            "line 2: features.metadata.version: this number is too great",
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
            r"line 1: configs\[0\].configs.a: this must be a text: write it in quotes",
        ),
        ('{"version": 1,\n "acls": [],\n "topcis": []}', "line 3: topcis: there is no such key"),
        (
            "version: 1\ntopics:\n- {name: a, partitions: 1}\n- {name: a, partitions: 2}",
            r"line 4: topics\[1\]: 'a' is there twice, keep one of them",
        ),
        (
            "version: 1\ntopics:\n- name: a\n  partitions: 2\n  assignments: [[1]]",
            r"line 3: topics\[0\]: a has 2 partitions and assignments of 1",
        ),
        (
            "version: 1\nconfigs:\n- {type: broker, name: null, configs: {}}",
            r"line 3: configs\[0\].type: 'broker' is none of .*; did you mean 'brokers'\?",
        ),
        (
            "version: 1\nscramCredentials:\n- {user: a, mechanism: PLAIN, iterations: 4096}",
            r"line 3: scramCredentials\[0\].mechanism: 'PLAIN' is none of SCRAM-SHA-256,",
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
    assert len(str(error.value).splitlines()) == 21
    assert str(error.value).endswith("nightly.yaml: 980 more mistakes")


ACL = {
    "principal": "User:alice",
    "permission": "ALLOW",
    "operation": "READ",
    "resourceType": "TOPIC",
    "resourceName": "orders",
    "patternType": "LITERAL",
    "host": "*",
}


@pytest.mark.parametrize(
    ("key", "word", "reason"),
    [
        ("operation", "REED", "'REED' is none of ALL, READ, .*; did you mean 'READ'"),
        ("operation", "ANY", "'ANY' is none of ALL, READ"),
        ("permission", "allow", "'allow' is none of DENY, ALLOW"),
        ("patternType", "MATCH", "'MATCH' is none of LITERAL, PREFIXED"),
        ("resourceType", "TOPICS", "'TOPICS' is none of TOPIC, GROUP, .*; did you mean 'TOPIC'"),
    ],
)
def test_a_word_that_no_acl_has_is_a_mistake(key: str, word: str, reason: str) -> None:
    text = json.dumps({"version": 1, "acls": [{**ACL, key: word}]})
    with pytest.raises(BadFile, match=rf"^it: line 1: acls\[0\].{key}: {reason}"):
        parse_document(text, "it")
    assert parse_document(json.dumps({"version": 1, "acls": [{**ACL, key: "77"}]}), "it").acls


ALICE = "version: 1\nscramCredentials:\n- {user: alice, mechanism: SCRAM-SHA-256, iterations: 4096"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (", salt: aaaa}", "salt and saltedPassword go together"),
        (", salt: aaaa, saltedPassword: aaaa}", "saltedPassword of SCRAM-SHA-256 is 32 bytes"),
        (", salt: '', saltedPassword: aaaa}", "this must be bytes in base64"),
        (", salt: aaaa, saltedPassword: hunter2}", "this must be bytes in base64"),
        (", storedKey: aaaa}", "there is no such key here"),
    ],
)
def test_a_salted_password_that_cannot_be_one_is_a_mistake(more: str, reason: str) -> None:
    with pytest.raises(BadFile, match=rf"^it: line 3: .*{reason}") as error:
        parse_document(ALICE + more, "it")
    assert "hunter2" not in str(error.value)


def test_the_depth_of_a_document_is_allowed() -> None:
    assert BOUNDS.depth > 5
    text = "version: 1\ntopics: [{name: a, partitions: 1, assignments: [[1, 2]]}]"
    assert parse_document(text, "it").has_assignments
