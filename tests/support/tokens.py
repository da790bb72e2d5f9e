"""JSON Web Tokens for the tests of OAUTHBEARER, signed as RFC 7515 says, and their public key."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256

AUDIENCE, ISSUER = "kafka", "https://issuer.example.org"


@dataclass(frozen=True)
class TokenIssuer:
    """An authorization server's key."""

    key: RSAPrivateKey = field(default_factory=lambda: generate_private_key(65537, 2048))

    def token(self, subject: str, lifetime: float = 3600, **claims: object) -> str:
        """A signed token that is valid for so many seconds."""
        now = time.time()
        body: dict[str, object] = {"sub": subject, "iss": ISSUER, "aud": AUDIENCE, "scope": "admin"}
        body |= {"iat": int(now), "exp": int(now + lifetime), **claims}
        signed = f"{_json({'alg': 'RS256', 'kid': 'key'})}.{_json(body)}"
        return f"{signed}.{_base64(self.key.sign(signed.encode(), PKCS1v15(), SHA256()))}"

    def write_jwks(self, path: Path) -> None:
        """Write the public key as a JSON Web Key Set (RFC 7517)."""
        numbers = self.key.public_key().public_numbers()
        modulus, exponent = numbers.n.to_bytes(256, "big"), numbers.e.to_bytes(3, "big")
        key = {"kty": "RSA", "kid": "key", "alg": "RS256", "use": "sig"}
        key |= {"n": _base64(modulus), "e": _base64(exponent)}
        path.write_text(json.dumps({"keys": [key]}))


def unsigned_token(lifetime: float | None = 3600) -> str:
    """A token with nothing but a lifetime, which no node would take."""
    claims = {} if lifetime is None else {"exp": time.time() + lifetime}
    return f"{_json({'alg': 'none'})}.{_json(claims)}."


def _json(value: object) -> str:
    return _base64(json.dumps(value).encode())


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


CLIENT, CLIENT_SECRET = "kwire", "idp-s3cret"


@contextmanager
def token_endpoint(issuer: TokenIssuer, lifetime: float = 3600) -> Iterator[str]:
    """Run an authorization server that knows CLIENT; yield the URL of its token endpoint."""
    known = "Basic " + b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()

    class Endpoint(BaseHTTPRequestHandler):
        """Answers client_credentials (RFC 6749, 4.4.3 and 5.2)."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer, status = {"error": "invalid_client"}, 401
            if self.headers["Authorization"] == known:
                answer, status = {"error": "invalid_request"}, 400
                if body.startswith(b"grant_type=client_credentials"):
                    answer, status = {"access_token": issuer.token(CLIENT, lifetime)}, 200
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/token"
        finally:
            server.shutdown()
            thread.join()
