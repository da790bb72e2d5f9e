"""SCRAM credentials of a new cluster, and their records, beside those of kafka-storage."""

from __future__ import annotations

import pytest

import vectors
from kwire.errors import InvalidValue
from kwire.logdir.scram import FirstCredential
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord

SALT = "salt=MWx2NHBkbnc0ZndxN25vdGN4bTB5eTFrN3E="
SALTED = "saltedpassword=mT0yyUUxnlJaC99HXgRTSYlbuqa4FSGtJCJfTMvjYCE="
PAIRS = [
    f"name=alice,password=secret,{SALT}",
    f"name=alice,password=secret,{SALT},iterations=8192",
    f"name=alice,password=secret,{SALT},iterations=4096",
    f"name=alice,password=secret,{SALT},iterations=16384",
    f"name=alice,password=ends with a space ,{SALT}",
    f"name=alice,password= begins with one,{SALT}",
    f'name="alice",password="secret",{SALT}',
    f'name=alice,password=",{SALT}',
    f"name=alice,password=a=b=c,{SALT}",
    f"name=alice,password=stra\u00dfe \u2163,{SALT}",
    f"name=alice,password=secret,{SALT},,",
    f"name=alice,name=bob,password=secret,{SALT}",
    f"name=alice,{SALT},{SALTED}",
    f"name=alice,password=secret,{SALT},{SALTED}",
    f"name=alice,{SALT.rstrip('=')},{SALTED.rstrip('=')}",
]
TAKEN = [f"{name}=[{pairs}]" for name in ("SCRAM-SHA-256", "SCRAM-SHA-512") for pairs in PAIRS]
TAKEN.append(f"  SCRAM-SHA-256=[{PAIRS[0]}] ")
REFUSED = [
    "",
    "SCRAM-SHA-512",
    "SCRAM-SHA-1=[name=alice,password=secret]",
    "scram-sha-256=[name=alice,password=secret]",
    "SCRAM-SHA-256=name=alice,password=secret",
    "SCRAM-SHA-256=[name=alice,password=secret",
    "SCRAM-SHA-256=name=alice,password=secret]",
    "SCRAM-SHA-256=[]",
    "SCRAM-SHA-256=[,]",
    "SCRAM-SHA-256=[name]",
    "SCRAM-SHA-256=[name=alice]",
    "SCRAM-SHA-256=[password=secret]",
    "SCRAM-SHA-256=[name=alice, password=secret]",
    "SCRAM-SHA-256=[name=alice,,password=secret]",
    "SCRAM-SHA-256=[Name=alice,password=secret]",
    "SCRAM-SHA-256=[name=alice,password=secret,colour=red]",
    "SCRAM-SHA-256=[name=alice,password=secret,iterations=4095]",
    "SCRAM-SHA-256=[name=alice,password=secret,iterations=16385]",
    "SCRAM-SHA-256=[name=alice,password=secret,iterations=many]",
    "SCRAM-SHA-256=[name=alice,password=secret,iterations=]",
    "SCRAM-SHA-256=[name=alice,password=secret,iterations=99999999999]",
    "SCRAM-SHA-256=[name=alice,password=secret,salt=no base64]",
    f"SCRAM-SHA-256=[name=alice,{SALTED}]",
    f"SCRAM-SHA-256=[name=alice,{SALT},saltedpassword=*]",
]


@pytest.mark.java
def test_arguments_are_taken_and_refused_and_records_written_as_kafka_storage_does() -> None:
    with vectors.ScramJudge("4.3.1") as judge:
        for argument in TAKEN:
            record = FirstCredential.parse(argument).record().record
            assert isinstance(record, UserScramCredentialRecord)
            assert record.encode(0) == judge(argument), argument
        for argument in REFUSED:
            assert judge(argument) is None, argument
            with pytest.raises(InvalidValue) as refused:
                FirstCredential.parse(argument)
            assert "secret]" not in str(refused.value).partition(": write")[0], argument


def test_a_user_without_a_name_is_refused() -> None:
    """Kafka takes it; nobody could log in so."""
    with pytest.raises(InvalidValue, match="needs a name and a password"):
        FirstCredential.parse("SCRAM-SHA-256=[name=,password=secret]")


def test_salts_are_random() -> None:
    one, other = (
        FirstCredential.parse("SCRAM-SHA-256=[name=alice,password=secret]") for _ in range(2)
    )
    assert len(one.salt) >= 20
    assert one.salt != other.salt
