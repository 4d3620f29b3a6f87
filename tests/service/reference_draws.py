"""A second implementation of the draws, written only from the published description, as a third party would."""

import hashlib
import hmac
import json
from collections.abc import Iterator, Sequence
from typing import Any


def key_of(server_seed: str, client_seeds: Sequence[str | None]) -> bytes:
    message = json.dumps(client_seeds, separators=(",", ":"), ensure_ascii=False).encode()
    return hmac.new(bytes.fromhex(server_seed), message, hashlib.sha256).digest()


def words(key: bytes, label: str, nth: int) -> Iterator[int]:
    block = 0
    while True:
        message = label.encode() + b"\x00" + nth.to_bytes(4, "big") + block.to_bytes(4, "big")
        digest = hmac.new(key, message, hashlib.sha256).digest()
        for at in range(0, 32, 8):
            yield int.from_bytes(digest[at : at + 8], "big")
        block += 1


def below(stream: Iterator[int], bound: int) -> int:
    while True:
        word = next(stream)
        if word < 2**64 - (2**64 % bound):
            return word % bound


def shuffle(key: bytes, label: str, nth: int, items: Sequence[Any]) -> list[Any]:
    shuffled, stream = list(items), words(key, label, nth)
    for last in range(len(shuffled) - 1, 0, -1):
        other = below(stream, last + 1)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return shuffled


def pick(key: bytes, label: str, nth: int, items: Sequence[Any]) -> Any:
    return items[below(words(key, label, nth), len(items))]
