"""Tests the comparison of worlds: it must find leaks that are built in on purpose."""

import logging
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace as alter
from redis import Redis

from service.container import Service
from service.games.registry import GAMES
from service.match import redaction, rulings
from service.subscriptions import situation
from service.views import match_views
from tests.api.rows import compare_pair
from tests.api.world_setup import WorldSetup, environment, served
from tests.api.worlds import pairs
from tests.length import LONG
from tests.service.games import broken_sight
from tests.service.games.tables import TABLES
from tests.service.games.toy.game import TOY


class Leak(NamedTuple):
    """A function of the service and its faulty replacement, or faulty rules of the toy game."""

    module: Any = None
    name: str = ""
    fault: Callable[..., Any] | None = None
    rules: Mapping[str, Any] = {}
    table: str = "toy of 2"


def with_salt(match: Any, event: Any, hash_: str, viewer: Any) -> Any:
    return alter(SEE_EVENT(match, event, hash_, viewer), salt=event.salt)


def padded(match: Any, event: Any, hash_: str, viewer: Any) -> Any:
    """Let the size of an answer depend on hidden data."""
    return alter(SEE_EVENT(match, event, hash_, viewer), by=event.by + " " * (zlib.crc32(event.data) % 7))


def with_deadline(decision: Any, viewer: Any) -> Any:
    return alter(SEE_DECISION(decision, viewer), deadline=decision.deadline)


def with_hidden_number(match: Any, names: Any) -> Any:
    """Show a number that depends on the hidden state."""
    return alter(SUMMARY(match, names), paused=digest_of_state(match.state))


def logging_state(match: Any, seat: Any, action: Any, *more: Any, **named: Any) -> Any:
    logging.getLogger("moonstone").info("seat %d acts on %d", seat, zlib.crc32(str(match.state).encode()))
    return ACTED(match, seat, action, *more, **named)


def legal_actions_of_others(match: Any, viewer: Any) -> Any:
    """Show a viewer who is not to move the legal actions of somebody else."""
    to_move = [decision.seat for decision in match.decisions() if decision.seat >= 0]
    return LEGAL(match, viewer if viewer in to_move or not to_move else to_move[0])


def frame_for_others(match: Any, viewer: Any, include: Any, *, is_newest: bool) -> Any:
    """Send a viewer who is not to move the legal actions of somebody else."""
    to_move = [decision.seat for decision in match.decisions() if decision.seat >= 0]
    return SITUATION(match, viewer if viewer in to_move or not to_move else to_move[0], include, is_newest=is_newest)


def digest_of_state(state: Any) -> int:
    """A number that depends on the whole state, including hidden parts."""
    return zlib.crc32(str(state).encode()) % 7


def order_by_hidden_cards(state: Any, seat: int) -> Any:
    """Let the order of the legal actions depend on hidden cards."""
    actions = list(TOY.legal_actions(state, seat))
    return iter(actions[:: 1 if digest_of_state(state) > 3 else -1])


def step_by_hidden_cards(state: Any) -> Any:
    return tuple(alter(one, step="swap" if digest_of_state(state) > 3 else "commit") for one in TOY.decisions(state))


SEE_EVENT: Final = redaction.see_event
SEE_DECISION: Final = redaction._see_decision
SUMMARY: Final = match_views._summary
ACTED: Final = rulings._ruled
SITUATION: Final = situation.situation
LEGAL: Final = redaction.legal_actions

LEAKS: Final[Mapping[str, Leak]] = {
    "effects are not redacted": Leak(redaction, "_redacted", lambda effects, _viewer: (list(effects), True)),
    "the salt of a hidden event is shown": Leak(redaction, "see_event", with_salt),
    "a size depends on hidden data": Leak(redaction, "see_event", padded),
    "a hidden deadline is shown": Leak(redaction, "_see_decision", with_deadline, table="four_monkeys of 4, family"),
    "a list of matches depends on hidden data": Leak(match_views, "_summary", with_hidden_number),
    "a log line depends on hidden data": Leak(rulings, "_ruled", logging_state),
    "legal actions of others are listed": Leak(
        redaction, "legal_actions", legal_actions_of_others, table="monkeys_on_the_moon of 2"
    ),
    "a frame has the legal actions of others": Leak(
        situation, "situation", frame_for_others, table="monkeys_on_the_moon of 2"
    ),
    "the order of legal actions depends on hidden cards": Leak(rules={"legal_actions": order_by_hidden_cards}),
    "a refusal names the seat that holds a card": Leak(rules={"decide": broken_sight.leaks_in_refusals}),
    "a step depends on hidden cards": Leak(rules={"decisions": step_by_hidden_cards}),
}


@pytest.fixture
def service(valkey_log_url: str, valkey_queue_url: str, tmp_path: Path) -> Iterator[Service]:
    """A service without matches: those of another test would be in the lists, and differ without any leak."""
    Redis.from_url(valkey_log_url).flushall()
    with served(environment(valkey_log_url, valkey_queue_url, tmp_path)) as service:
        yield service


# These take a minute each until they are found.
SLOW: Final = frozenset({"legal actions of others are listed", "a frame has the legal actions of others"})


@pytest.mark.long
@pytest.mark.parametrize(
    "leak", [pytest.param(leak, id=name) for name, leak in LEAKS.items() if LONG or name not in SLOW]
)
def test_a_leak_is_found(service: Service, monkeypatch: pytest.MonkeyPatch, leak: Leak) -> None:
    if leak.fault:
        monkeypatch.setattr(leak.module, leak.name, leak.fault)
    world_setup = WorldSetup(service, {**GAMES, "toy": replace(TOY, **leak.rules)})
    (table,) = (table for table in TABLES if table.name == leak.table)
    with pytest.raises(AssertionError, match=r"apart|the answer contains"):
        list(chain.from_iterable(compare_pair(world_setup, pair) for pair in pairs(table)))
