"""The operator's settings: environment variables, all in one table, which the README repeats."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from service.addresses import HOST, is_host, is_origin, is_server

PREFIX: Final = "MOONSTONE_"

Audience: TypeAlias = Literal["machine", "all", "none"]
"""Who may read the metrics: programs of the same machine, everyone, or nobody."""


class BadSetting(Exception):
    """A variable has an invalid value; the text names the variable and never contains a URL."""


FILES: Final = frozenset({"data_dir"})
"""Settings that are paths. A path may contain bytes that are not UTF-8."""


def is_text(value: str) -> bool:
    """Whether a string from the system is valid text: Python decodes bytes that are not UTF-8 to lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The variables of the table below, parsed. URLs may contain passwords, so they are not part of the repr."""

    log_url: str | None = field(repr=False)
    queue_url: str | None = field(repr=False)
    host: str
    port: int
    data_dir: Path
    workers: int
    bot_workers: int
    api_workers: int
    store_id: str | None
    cors_origins: tuple[str, ...]
    allowed_hosts: tuple[str, ...]
    requests_by_token: int
    moves_by_token: int
    requests_by_address: int
    sign_ups_by_address: int
    account_changes_by_token: int
    recoveries_by_address: int
    creations_by_token: int
    creations_by_address: int
    bot_matches_by_address: int
    bot_matches_waiting: int
    audits_by_caller: int
    open_hours: int
    proxies: int
    metrics: Audience
    metrics_port: int | None
    loopback_calls: bool
    allow_volatile: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """One setting. `default` is text as in the environment. `parse` raises a ValueError that names a valid value."""

    name: str
    default: str
    meaning: str
    parse: Callable[[str], Any]

    @property
    def setting(self) -> str:
        return self.name.removeprefix(PREFIX).lower()


def _text(value: str) -> str:
    if not value:
        raise ValueError("a value")
    return value


def _optional(value: str) -> str | None:
    return value or None


def _host(value: str) -> str:
    if not is_host(value):
        raise ValueError("an address or a name of this machine, without a port, such as 127.0.0.1 or ::1")
    return value


def _list(value: str, fits: Callable[[str], object], wanted: str) -> tuple[str, ...]:
    """The items between commas. A value of only commas and spaces is invalid, because no item would mean the default."""
    items = tuple(item for part in value.split(",") if (item := part.strip()))
    if value and not (items and all(map(fits, items))):
        raise ValueError(f"{wanted}, with commas between them")
    return items


def _whole(low: int, high: int) -> Callable[[str], int]:
    digits = re.compile("[0-9]{1,20}")  # int() raises another error for more than 4300 digits

    def parse(value: str) -> int:
        if not (digits.fullmatch(value) and low <= int(value) <= high):
            raise ValueError(f"a whole number from {low} to {high}")
        return int(value)

    return parse


_limit: Final = _whole(1, 1_000_000)


def _port(value: str) -> int | None:
    return _whole(1, 65535)(value) if value else None


def _audience(value: str) -> str:
    if value not in get_args(Audience):
        raise ValueError(f"one of {', '.join(get_args(Audience))}")
    return value


def _flag(value: str) -> bool:
    if value not in {"0", "1"}:
        raise ValueError("0 or 1")
    return value == "1"


def _server(*more_schemes: str) -> Callable[[str], str | None]:
    schemes = ("redis", "rediss", "unix", *more_schemes)

    def parse(value: str) -> str | None:
        if value and not is_server(value, schemes):
            raise ValueError(
                "a URL such as redis://host:6379/0, with special characters in a password percent-encoded, and no options "
                "but ?db= and those of rediss:// for certificates"
            )
        return value or None

    return parse


def _hosts(value: str) -> tuple[str, ...]:
    return _list(value, re.compile(HOST).fullmatch, "names without a port, such as moon.example")


def _origins(value: str) -> tuple[str, ...]:
    return _list(value, lambda item: item == "*" or is_origin(item), "* or origins such as https://example.org")


VARIABLES: Final = (
    Variable(
        "MOONSTONE_LOG_URL",
        "",
        "Valkey or Redis for matches, players and the index (for a cluster: cluster:// and one of its servers); "
        "`moonstone serve` starts one if this is empty",
        _server("cluster"),
    ),
    Variable(
        "MOONSTONE_QUEUE_URL",
        "",
        "Valkey or Redis for the job queue, whose data may be lost; `moonstone serve` starts one if this is empty",
        _server(),
    ),
    Variable("MOONSTONE_HOST", "127.0.0.1", "address that the API listens on", _host),
    Variable("MOONSTONE_PORT", "8080", "port that the API listens on; 0 takes a free one", _whole(0, 65535)),
    Variable(
        "MOONSTONE_DATA_DIR", "./data", "folder of the embedded servers and of the store's id", lambda v: Path(_text(v))
    ),
    Variable("MOONSTONE_WORKERS", "2", "worker processes; at least two, so that one may fail", _whole(2, 64)),
    Variable(
        "MOONSTONE_BOT_WORKERS",
        "1",
        "additional worker processes, at a lower priority, for matches of bots alone",
        _whole(1, 64),
    ),
    Variable("MOONSTONE_API_WORKERS", "2", "API processes", _whole(1, 64)),
    Variable(
        "MOONSTONE_STORE_ID", "", "id that the store must have; by default the one saved in the data folder", _optional
    ),
    Variable("MOONSTONE_CORS_ORIGINS", "", "origins whose pages may call the API, or *", _origins),
    Variable(
        "MOONSTONE_ALLOWED_HOSTS",
        "",
        "names allowed in the Host header; any if empty, and always any for /healthz and /readyz",
        _hosts,
    ),
    Variable(
        "MOONSTONE_REQUESTS_BY_TOKEN",
        "300",
        "requests in ten seconds with the tokens of one player; actions do not count",
        _limit,
    ),
    Variable(
        "MOONSTONE_MOVES_BY_TOKEN",
        "100",
        "actions in ten seconds with the tokens of one player; other requests do not count",
        _limit,
    ),
    Variable(
        "MOONSTONE_REQUESTS_BY_ADDRESS",
        "100",
        "requests in ten seconds without a valid token from one address",
        _limit,
    ),
    Variable("MOONSTONE_SIGN_UPS_BY_ADDRESS", "30", "new players in ten minutes from one address", _limit),
    Variable(
        "MOONSTONE_ACCOUNT_CHANGES_BY_TOKEN",
        "30",
        "changes of name, tokens and recovery code in ten minutes with the tokens of one player; for exports the limit is a sixth of this",
        _limit,
    ),
    Variable(
        "MOONSTONE_RECOVERIES_BY_ADDRESS",
        "10",
        "recoveries, and wrong codes, in ten minutes from one address; as many wrong codes for one player",
        _limit,
    ),
    Variable("MOONSTONE_CREATIONS_BY_TOKEN", "60", "new matches in a minute with the tokens of one player", _limit),
    Variable("MOONSTONE_CREATIONS_BY_ADDRESS", "120", "new matches in a minute from one address", _limit),
    Variable(
        "MOONSTONE_BOT_MATCHES_BY_ADDRESS",
        "60",
        "matches of bots alone started in ten minutes from one address; each costs seconds of work",
        _limit,
    ),
    Variable(
        "MOONSTONE_BOT_MATCHES_WAITING",
        "100",
        "matches of bots alone that may wait for a worker; at this number no more are started",
        _limit,
    ),
    Variable(
        "MOONSTONE_AUDITS_BY_CALLER",
        "10",
        "audits in a minute by one player, or from one address without a token; each replays a match",
        _limit,
    ),
    Variable(
        "MOONSTONE_OPEN_HOURS", "24", "hours that a new match may wait for players; then it is aborted", _whole(1, 720)
    ),
    Variable(
        "MOONSTONE_PROXIES",
        "0",
        "number of reverse proxies in a row in front of the API; the client's address is taken from X-Forwarded-For",
        _whole(0, 8),
    ),
    Variable(
        "MOONSTONE_METRICS",
        "machine",
        "who may read /metrics: programs of the same `machine` (not through a proxy), `all`, or `none`",
        _audience,
    ),
    Variable(
        "MOONSTONE_METRICS_PORT",
        "",
        "port on MOONSTONE_HOST for the metrics of `moonstone workers`, which has no API; none if empty",
        _port,
    ),
    Variable("MOONSTONE_LOOPBACK_CALLS", "0", "1 allows calls of this machine itself, for development", _flag),
    Variable(
        "MOONSTONE_ALLOW_VOLATILE", "0", "1 allows a log that could lose acknowledged data; only for tests", _flag
    ),
)


def read(environ: Mapping[str, str]) -> Settings:
    """The settings in an environment; an empty variable counts as not set.

    Raises:
        BadSetting: a value is invalid, or a variable with our prefix is not in the table.
    """
    unknown = sorted(name for name in environ if name.startswith(PREFIX) and name not in {v.name for v in VARIABLES})
    if unknown:
        raise BadSetting(f"there is no setting {unknown[0]}; there are {', '.join(v.name for v in VARIABLES)}")
    found: dict[str, Any] = {}
    for variable in VARIABLES:
        value = environ.get(variable.name) or variable.default
        if variable.setting not in FILES and not is_text(value):
            raise BadSetting(f"{variable.name} must be text in UTF-8")
        try:
            found[variable.setting] = variable.parse(value)
        except ValueError as expected:
            raise BadSetting(f"{variable.name} must be {expected}") from None
    return Settings(**found)


def servers(settings: Settings) -> tuple[str, str]:
    """The URLs of the log and of the queue, for a command that does not start its own servers.

    Raises:
        BadSetting: one is missing.
    """
    if settings.log_url is None or settings.queue_url is None:
        missing = "MOONSTONE_LOG_URL" if settings.log_url is None else "MOONSTONE_QUEUE_URL"
        raise BadSetting(f"{missing} must name a server; only `moonstone serve` starts its own")
    return settings.log_url, settings.queue_url
