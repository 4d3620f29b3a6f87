"""The identity of the store. Its id is saved in the log's server and outside it, so that an emptied or wrong server is found.

The store also holds the service's only secret, from which match ids and join codes are derived.
"""

import logging
import os
import secrets
from pathlib import Path
from typing import Any, Final

import msgspec
from redis import Redis, RedisCluster
from redis.exceptions import ConnectionError as NoConnection

from events.redis_log import send

KEY: Final = "store"
FILE: Final = "store-id"

_log = logging.getLogger("moonstone.store")


class WrongStore(Exception):
    """The log's server holds another store than ours, or no longer holds one; the text says what an operator can do."""


class Store(msgspec.Struct, frozen=True):
    id: str
    secret: bytes

    def __repr__(self) -> str:
        return f"Store({self.id})"


_decode: Final = msgspec.json.Decoder(Store).decode


def open_store(client: Redis | RedisCluster, data_dir: Path, pinned: str | None = None) -> Store:
    """The server's store; a new one is created on an empty server.

    `pinned` is the id that it must have. Without it, the id is read from the file `store-id` in `data_dir`, which is
    written if it does not exist.

    Raises:
        WrongStore: the store has another id, the server was emptied, or the file can be neither read nor written.
        LogUnavailable: the server does not answer.
    """
    file = data_dir / FILE
    known = pinned or _read(file)
    store = stored(client)
    if store is None and known is None:
        store = _new(client)
    if store is None:
        raise WrongStore(
            f"the log's server is empty, but it should hold the store {known}: it lost its data, or the URL is another "
            f"server's. Restore it; or, to begin an empty store, {_forget(file, pinned)}"
        )
    if known is not None and store.id != known:
        raise WrongStore(
            f"the log's server holds the store {store.id}, but this service belongs to {known}. Check the URL; or, to "
            f"serve that store, {_forget(file, pinned)}"
        )
    if known is None:
        _write(file, store.id)
    return store


def check_on_connect(client: Redis, store: Store) -> None:
    """Check the store's id on every new connection of a client: a server that comes back empty gets no command.

    Not possible with a cluster, where most servers do not hold the id; there `fault` checks it.
    """

    def on_connect(connection: Any) -> None:  # redis-py leaves its methods untyped
        connection.on_connect_check_health(check_health=False)
        connection.send_command("GET", KEY)
        found = _parse(connection.read_response())
        if found != store:
            _log.critical("the log's server holds %s, not %s; it is not served", found or "no store", store)
            raise NoConnection("the log's server holds another store")

    pool: Any = client.connection_pool
    pool.connection_kwargs["redis_connect_func"] = on_connect
    # Existing connections would reconnect without the check.
    pool.disconnect()
    pool.reset()


def fault(client: Redis | RedisCluster, store: Store) -> str | None:
    """Why this server must not be used (any longer); None if it may."""
    return None if stored(client) == store else "the log's server holds another store, or none"


def stored(client: Redis | RedisCluster) -> Store | None:
    """The store that a server holds."""
    (value,) = send(client, ("GET", KEY))
    return _parse(value)


def _parse(value: object) -> Store | None:
    try:
        return _decode(value) if isinstance(value, bytes) else None
    except msgspec.DecodeError:
        return None


def _new(client: Redis | RedisCluster) -> Store:
    """Create a store on a server without keys. If several processes try at once, the first one's store is used."""
    keys = client.dbsize()
    if not keys:
        store = Store(secrets.token_hex(8), secrets.token_bytes(32))
        send(client, ("SET", KEY, msgspec.json.encode(store), "NX"))
    found = stored(client)
    if found is None:
        raise WrongStore(f"the log's server holds {keys} keys but no store of ours; give it a server of its own")
    return found


def _forget(file: Path, pinned: str | None) -> str:
    return "unset MOONSTONE_STORE_ID" if pinned else f"remove the file {file}"


def _read(file: Path) -> str | None:
    """The id in the file; None if there is no file. An unreadable file is an error, so that no wrong store is used."""
    try:
        return file.read_text("ascii").strip() or None if file.exists() else None
    except UnicodeDecodeError as error:
        raise WrongStore(f"{file} holds no id of a store; restore it, or set MOONSTONE_STORE_ID") from error
    except OSError as error:
        raise _no_file(file, error) from error


def _write(file: Path, store_id: str) -> None:
    """Write the file completely or not at all, also after a power failure."""
    try:
        _write_anew(file, store_id)
    except OSError as error:
        raise _no_file(file, error) from error


def _no_file(file: Path, error: OSError) -> WrongStore:
    return WrongStore(
        f"{file} must hold the store's id, but cannot be used ({error.strerror or error}); set MOONSTONE_DATA_DIR"
    )


def _write_anew(file: Path, store_id: str) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{FILE}.{secrets.token_hex(4)}")
    with draft.open("w", encoding="ascii") as opened:
        opened.write(store_id + "\n")
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
