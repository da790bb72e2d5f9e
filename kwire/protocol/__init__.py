"""Protocol as data: messages, error codes, features and configurations, by release.

    facts()                       everything, as ProtocolFacts
    compare("3.9.1", "4.4.0")     the differences between two releases
    document()                    the same with kwire's sentences, as `kwire protocol json`

The facts come from the schemas and classes in Kafka's jars (fixtures/protocol_facts).
"""

from kwire.protocol.comparison import ReleaseComparison, compare
from kwire.protocol.differences import ProtocolChange, ProtocolDifference, ProtocolSection
from kwire.protocol.document import document
from kwire.protocol.model import (
    ConfigFact,
    ErrorFact,
    FeatureFact,
    FieldFact,
    MessageFact,
    ProtocolFacts,
)
from kwire.protocol.release_facts import UnknownRelease, facts

__all__ = [
    "ConfigFact",
    "ErrorFact",
    "FeatureFact",
    "FieldFact",
    "MessageFact",
    "ProtocolChange",
    "ProtocolDifference",
    "ProtocolFacts",
    "ProtocolSection",
    "ReleaseComparison",
    "UnknownRelease",
    "compare",
    "document",
    "facts",
]
