"""Passwords as Kafka's EncryptingPasswordEncoder of 3.9.1 encoded them (KIP-226)."""

from __future__ import annotations

import sys
from base64 import b64decode

import pytest

from kwire.configs.node_keys import KEYS
from kwire.messages.config_resource import ConfigType
from kwire.zookeeper.password_cipher import PasswordNotDecoded
from kwire.zookeeper.password_encoder import PASSWORD_KEYS, PasswordEncoder, is_password_key

SECRET = "se€cret"
PASSWORD = "päss𝄞 wörd: a, b"

BY_JAVA = {
    "PBKDF2WithHmacSHA512 AES/CBC/PKCS5Padding 128": (
        "initializationVector:sRJihHk8bP1RBCSBjMxzOA==,keyLength:128,salt:UCPtYJnvLPu9jvzHW/aP9Mb"
        "eVdNIjoe98wB8QvroIAuUSpBu/KJxpenN/8CGqzaqI7+vr1rBiGdpbpit/VmY2Ee5Gyi9HPRncajfhrrB3x4oVYd"
        "aVhe4x/fzufwcQYGAXBHnQ0+X9xHDbDkQ9qnDjDmG/IX0mN8Dg5v8BxTFCyok8del8O6sLe2N9eKQHK+2+oXlnrE"
        "tmpM48BbcYQkk0OG96cEEh9CM0TH9tH5e23EisrfVGfVYfc8Fp1x+jSeYrbed4y0yuxBWCBPVsJk1Yfo9rJMDQQD"
        "DJPTzlnIcvrSt2IrCbvF+qVQVDawQOkXsCbcFkNae+bPNPjw4Jq/ZZA==,keyFactoryAlgorithm:PBKDF2With"
        "HmacSHA512,cipherAlgorithm:AES/CBC/PKCS5Padding,iterations:4096,passwordLength:17,encryp"
        "tedPassword:wj0IFMMHbMESv07axLQvVT0rTL63dDRZVxAeZf3Zxgk="
    ),
    "PBKDF2WithHmacSHA512 AES/CBC/PKCS5Padding 256": (
        "initializationVector:YYoQkKvLUJ1SFriNmvB47w==,keyLength:256,salt:WujIn0K7gNzGGsh94F8YFUC"
        "Hwoi5NQ/lSR2nl7WwpTW2f0CMhtVIbK1mOp49OYZWjEz213Igb4k3GCrnqErO3j5c/nq73+cWn09Y5dmQ6F3Zp6w"
        "OPF4BZyHDnNhSm2l6XXmj3Dtvj6tzMqAM/8lEtmh01mxxfpoJ9G9ckqPPR/kZJhclafEIkJwe4V8EHZcLTirGdGw"
        "Z5tUT8T/Scvoellj58uIOxParqNHJUDIztpeEQnG61v7xaS7rbZuWaM28c/lb53GBfGoyDDUIHaYRYNYQBmh5MEW"
        "0ipzuWpo+IFQThkrLZGhQ0Y4HfdS7xbhlJI4NrGqOhVm2BlBi7UZzvA==,keyFactoryAlgorithm:PBKDF2With"
        "HmacSHA512,cipherAlgorithm:AES/CBC/PKCS5Padding,iterations:4096,passwordLength:17,encryp"
        "tedPassword:vcctMQhmOELZVSToY+7h+O7+7UItA+KDDLfTiy1TxCw="
    ),
    "PBKDF2WithHmacSHA1 AES/CFB/PKCS5Padding 128": (
        "initializationVector:ysbXMqjnVxGhMMZmYjiqKA==,keyLength:128,salt:qcMOKWrpazuGuKHRCDkfvNr"
        "Z0fC0et0zg2/zBG5ouzFSa8YcW3evmwWtxrOw0Pr3pANYzUxZ+Aiu/ZHbgioULa7zGlG0cQq/TpCVenuisP8wbUR"
        "VJ6yg4qK8eIRkpeptqzNM0SeN1ECpYiYbldWVTShntZDRviWpVWbsGSMQVhtXWYsKzctyIZqhdvPcaZvGnofYiNu"
        "qgPZLd+5deqVild0zjTAIrefA51fSr7jO0FmSQw0xIxNhe8Y2D40PIwbOC136NZysKf7Xl/wP2Dqog8q6exaY3l7"
        "gc+zOIAYD0uMtmHfxeTNDrenxlMiGnT8QjiIJR300AEHC2goB3kRYgg==,keyFactoryAlgorithm:PBKDF2With"
        "HmacSHA1,cipherAlgorithm:AES/CFB/PKCS5Padding,iterations:4096,passwordLength:17,encrypte"
        "dPassword:9vc8w7Jifb3v2E6z0CHTQYXFUbU16uW3m1f2cgM3Qo4="
    ),
    "PBKDF2WithHmacSHA256 AES/OFB/PKCS5Padding 192": (
        "initializationVector:XC2Ob+cyS2/IsWhwbdtOIw==,keyLength:192,salt:9HQJcV019nnpuLZg+Wl7fcN"
        "tC/xRsuNRbj4MbUGynqOr3q+4cgFAgL8ODQVGwWCIe4ZsPNcx7lHrh/DfDZpYw0JukWiKhg3yxBY4SlveHI08afj"
        "WNXq7aeYmaNJPxqA36AIX1xdZZWXGG/Zdct2df2Dz+w04p7qhmef31W5YgWv8yJTa1HoXBsjhUTbpyVSlLZD57pr"
        "PnqQWVh1Plek3XCnjv2Cy/z/D9AgmdsdXVEsZtZMrnKZ8qdrIHDayLA59QfFkEccMnaR8EvRJx6F05+4HK1IGZz1"
        "4l/AvwUDtBVtAL/cla0LTRKIiFhHC55CflNKQObgmbuWSUUaPlVGa8Q==,keyFactoryAlgorithm:PBKDF2With"
        "HmacSHA256,cipherAlgorithm:AES/OFB/PKCS5Padding,iterations:4096,passwordLength:17,encryp"
        "tedPassword:3p3Urlp/ZIlWTPfG5iigfdJTkd8lIzyNfdwSKvuqkBk="
    ),
    "PBKDF2WithHmacSHA384 AES/GCM/NoPadding 128": (
        "initializationVector:ZyFJc0enqyx2rYDd,keyLength:128,salt:QDvOzOU1Vny9q/d1aGPPwaeU33O0sRI"
        "IudJW+jIfT3TLuHnHMxxbQlhjch/otecvtY4W6pTDDyt1/3VfVih2ULi+fiyNouyiFZTHhBJ19tpES9DIHakO53R"
        "WYiKM4isXDOsOmDJx4itTME2gFcSLdGiZbvIwjFMvVZgQ5A+BSQFXYiJE1YXLM3Y4x8kjm2WX97kb+MOoDAHDOyu"
        "8ZB7MYzJ0h6avOmCeou0hjJpxv86y6cw7fGpPucrlcL1nhJXqIe3um/x7dXtYRFLLKFxD7A+Qu38SJ6TRq+hEeY1"
        "d8VNiFs7UmJ7x18mIpA0lyTR7H7FaKdr8YstU1SjUViPDAw==,keyFactoryAlgorithm:PBKDF2WithHmacSHA3"
        "84,cipherAlgorithm:AES/GCM/NoPadding,authenticationTagLength:128,iterations:4096,passwor"
        "dLength:17,encryptedPassword:prkwbDYJhKhQMCrA2Z9BPGoOr6WatNy9HdcBB+i18AwVOOrHQA=="
    ),
    "PBKDF2WithHmacSHA224 AES/CTR/NoPadding 128": (
        "initializationVector:7OY5Tj5MSHfN5bbW7/Kl/g==,keyLength:128,salt:5P0J0l2MQKqzS/2wWomujX/"
        "YYXQBjTVf9VXvQZ472dbGVBbgkBu3qa5EcDnJnwCSv1/wo7LDDjPAXwXz4ZvA9+QzlL2bu6LeUHY8QuipzA9HhoI"
        "UBtDqOUgR3ZDJz8Otem8S8w/RQM9tQnt+yXUyhf96pF6EYz1Qt37f/F12rU3gaFoFCNge957Qf/3Ky7JM7WCMNLp"
        "bpV8vJ4m31qnbY4i5teDa+IHoIjq1EqiKlXUfaH4QuaGwEvTY2foCSSnU7QBIBi5NrRdqj1BmNtFz7NtARKZS810"
        "Qboa2wpHFAy3C5bbsBpocQCLecNK+H334Rn5YiXqqM0159CJMb0FCzw==,keyFactoryAlgorithm:PBKDF2With"
        "HmacSHA224,cipherAlgorithm:AES/CTR/NoPadding,iterations:4096,passwordLength:17,encrypted"
        "Password:5lqNB7yniiQSStE+3wiV5u5lPwel"
    ),
    "PBKDF2WithHmacSHA512 AES/CFB8/NoPadding 128": (
        "initializationVector:zqFl2L0B6ayZqzzoIY4UEA==,keyLength:128,salt:kveP0f41upzJRszEejRvkK+"
        "A6y1ENvIVs28+0Ka3/n3XJxFtUrpdBmIQU/i6j1wclSoJp0qtEwhUPKMKzWGjiWfTX/8T9PulnRzVz9IOstxqyga"
        "FOMbmUZfngomE69W4/5W3mhZxzvQIHD/TqUqDJzgrMZ8ejun7L6afngGHqkS2n3hdhrz+h1ZNhkXfd8gSxdISqkd"
        "RoQf911Fd4wv8WMsL5bESnWL9SuupPq6kVHPJscfRu28oPvd8p9uhfKx7wRuS8li7aO3Z8u+5Lqs3ULNKLFKiF2J"
        "bdnwoaBvV8Bvy13PCV1o1rY4EHiUVqRGn7yYBESIKeIaj1WrvI2yUEA==,keyFactoryAlgorithm:PBKDF2With"
        "HmacSHA512,cipherAlgorithm:AES/CFB8/NoPadding,iterations:4096,passwordLength:17,encrypte"
        "dPassword:anEjB35NHF8ieEcyKEbj2ioQX2ji"
    ),
}
"""The password as Java's encoder wrote it, by algorithms and length of the key."""

ENCODED = BY_JAVA["PBKDF2WithHmacSHA512 AES/CBC/PKCS5Padding 128"]


@pytest.mark.parametrize("algorithms", BY_JAVA)
def test_a_password_of_java_is_decoded(algorithms: str) -> None:
    assert PasswordEncoder(secret=SECRET).decode(BY_JAVA[algorithms]) == PASSWORD


@pytest.mark.parametrize("algorithms", BY_JAVA)
def test_the_same_salt_and_vector_make_the_same_text(algorithms: str) -> None:
    fields = dict(pair.split(":", 1) for pair in BY_JAVA[algorithms].split(","))
    random = [b64decode(fields["initializationVector"]), b64decode(fields["salt"])]
    factory, cipher, length = algorithms.split()
    encoder = PasswordEncoder(
        secret=SECRET,
        key_factory_algorithm=factory,
        cipher_algorithm=cipher,
        key_length=int(length),
    )

    assert encoder.encode(PASSWORD, lambda count: _first(random, count)) == BY_JAVA[algorithms]


def _first(random: list[bytes], count: int) -> bytes:
    made = random.pop(0)
    assert len(made) == count
    return made


def test_another_secret_is_told_and_the_password_is_not() -> None:
    encoder = PasswordEncoder(secret="another")
    with pytest.raises(PasswordNotDecoded, match=r"ssl\.key\.password of broker 1") as raised:
        encoder.decode_configs({"ssl.key.password": ENCODED}, "broker 1")

    assert "password.encoder.secret" in str(raised.value)
    assert ENCODED[:20] not in str(raised.value)


BROKEN = {
    "nothing": "",
    "plain": "secret",
    "no length": ENCODED.replace("passwordLength", "length"),
    "another length": ENCODED.replace("passwordLength:17", "passwordLength:16"),
    "no number": ENCODED.replace("iterations:4096", "iterations:x"),
    "no base64": ENCODED.replace("salt:", "salt:-"),
    "half a block": ENCODED[:-8],
    "many iterations": ENCODED.replace("iterations:4096", "iterations:99999999999"),
    "a long key": ENCODED.replace("keyLength:128", "keyLength:99999999"),
    "a key that AES does not have": ENCODED.replace("keyLength:128", "keyLength:96"),
    "another cipher": ENCODED.replace("AES/CBC", "DESede/CBC"),
    "another factory": ENCODED.replace("HmacSHA512", "HmacMD5"),
}


@pytest.mark.parametrize("encoded", BROKEN)
def test_what_cannot_be_decoded_is_one_error(encoded: str) -> None:
    with pytest.raises(PasswordNotDecoded):
        PasswordEncoder(secret=SECRET).decode(BROKEN[encoded])


def test_the_keys_are_those_passwords_of_a_broker_that_can_change() -> None:
    keys = (key for key in KEYS.values() if key.type is ConfigType.PASSWORD and key.dynamic)
    assert sorted(key.name for key in keys) == sorted(PASSWORD_KEYS)
    assert is_password_key("listener.name.tls.ssl.keystore.password")
    assert not is_password_key("ssl.keystore.location")


def test_without_a_secret_a_password_stays_as_it_is() -> None:
    encoder = PasswordEncoder()
    assert encoder.decode(ENCODED) == ENCODED
    assert encoder.encode(PASSWORD, bytes) == PASSWORD


def test_only_passwords_of_a_configuration_are_encoded() -> None:
    configs = {"listener.name.tls.ssl.key.password": PASSWORD, "log.cleaner.threads": "2"}
    encoder = PasswordEncoder(secret=SECRET)

    encoded = encoder.encode_configs(configs, lambda count: bytes(count))

    assert encoded["log.cleaner.threads"] == "2"
    assert PASSWORD not in encoded["listener.name.tls.ssl.key.password"]
    assert encoder.decode_configs(encoded, "broker 1") == configs


def test_without_the_extra_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(PasswordNotDecoded, match=r"pip install 'kwire\[security\]'"):
        PasswordEncoder(secret=SECRET).decode(ENCODED)


def test_the_encoder_does_not_print_its_secret() -> None:
    assert SECRET not in repr(PasswordEncoder(secret=SECRET))
