"""The keys that lead from the digest of a token to its player: `token:<digest>` and `grant:<digest>`.

Older releases read only `token:`, and give every token that they find there all rights. So a token with fewer scopes,
or one that expires, is a `grant:`, which they refuse. The account itself lists the valid tokens (`account_scripts`). A
crash may leave a key of a token that is valid no more; `adopt` removes it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
from redis import Redis, RedisCluster

from events.redis_log import send
from events.redis_pool import Command
from service.adapters import account_scripts as scripts
from service.repository.accounts import Token

_KINDS: Final = ("token", "grant")
_BATCH: Final = 500
"""Keys per read when all are looked through."""

_encode: Final = msgspec.json.Encoder().encode


class Owner(NamedTuple):
    """The player of a token. `is_unlimited`: an older release finds the token too."""

    player: str
    is_unlimited: bool


def link(client: Redis | RedisCluster, player: str, digest: str, token: Token) -> None:
    """Let the digest of a listed token lead to its player, unless the token was revoked meanwhile."""
    send(client, ("SET", f"{'token' if token.is_unlimited else 'grant'}:{digest}", player))
    (is_listed,) = send(client, ("HEXISTS", scripts.account_key(player), f"token:{digest}"))
    if not is_listed:
        unlink(client, (digest,))


def unlink(client: Redis | RedisCluster, digests: Iterable[str]) -> None:
    """Let the digests of revoked tokens lead to no player."""
    send(client, *(("DEL", f"{kind}:{digest}") for digest in digests for kind in _KINDS))


def owner_commands(digest: str) -> tuple[Command, ...]:
    """The commands whose replies are the arguments of `owner_in`."""
    return tuple(("GET", f"{kind}:{digest}") for kind in _KINDS)


def owner_in(unlimited: bytes | None, granted: bytes | None) -> Owner | None:
    """The player to whom a digest leads; None if it leads to none."""
    found = unlimited or granted
    return None if found is None else Owner(found.decode(), unlimited is not None)


def adopt(client: Redis | RedisCluster) -> int:
    """List the tokens of older releases, and remove the keys of invalid ones. Returns how many were changed."""
    return sum(_adopt(client, keys) for keys in _all_keys(client))


def _all_keys(client: Redis | RedisCluster) -> Iterator[Sequence[str]]:
    """All keys of tokens, in batches."""
    for kind in _KINDS:
        batch: list[str] = []
        for key in client.scan_iter(match=f"{kind}:*", count=_BATCH):
            batch.append(key.decode())
            if len(batch) == _BATCH:
                yield batch
                batch = []
        if batch:
            yield batch


def _adopt(client: Redis | RedisCluster, keys: Sequence[str]) -> int:
    owners: list[bytes | None] = send(client, *(("GET", key) for key in keys))
    known = [(key, owner.decode()) for key, owner in zip(keys, owners, strict=True) if owner]
    listed = send(client, *(("HEXISTS", scripts.account_key(owner), f"token:{_digest(key)}") for key, owner in known))
    unlisted = [pair for pair, is_listed in zip(known, listed, strict=True) if not is_listed]
    for key, owner in unlisted:
        digest = _digest(key)
        if key.startswith("grant:") or not _is_listed_now(client, owner, digest):
            send(client, ("DEL", key))
        elif send(client, ("GET", key)) == [None]:  # it was revoked meanwhile
            send(client, ("HDEL", scripts.account_key(owner), f"token:{digest}"))
    return len(unlisted)


def _is_listed_now(client: Redis | RedisCluster, player: str, digest: str) -> bool:
    """List a token of an older release, if it is valid. Returns whether it is listed now."""
    (is_listed,) = send(client, scripts.call(scripts.ADOPT, player, digest, _encode(Token())))
    return bool(is_listed)


def _digest(key: str) -> str:
    return key.partition(":")[2]
