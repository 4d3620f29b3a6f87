"""Parts of raw requests. This module imports none of our code, so that a process that only sends requests starts quickly."""

from typing import Final

TOKEN: Final = f"moon_{'A' * 43}0DofJ8"
"""A valid token: the last six characters are the checksum of those before."""
GET: Final = b"GET /v1/stones HTTP/1.1\r\n"
POST: Final = f"POST /v1/stones HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
HOST: Final = b"Host: moon\r\n"
JSON: Final = b"Content-Type: application/json\r\n"
CLOSE: Final = b"Connection: close\r\n"
