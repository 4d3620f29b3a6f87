"""Tests the comparison of worlds: it must find leaks that are built in on purpose."""

import logging
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace as alter
from redis import Redis

from service.container import Service
from service.games.registry import GAMES
from service.match import redaction, rulings
from service.subscriptions import situation
from service.views import match_views
from tests.api.rows import told_alike
from tests.api.stage import Stage, environment, served
from tests.api.worlds import pairs
from tests.length import LONG
from tests.service.games import broken_sight
from tests.service.games.tables import TABLES
from tests.service.games.toy.game import TOY


class Leak(NamedTuple):
    """A function of the service and what stands in its place, or faults in the toy's rules."""

    place: Any = None
    name: str = ""
    fault: Callable[..., Any] | None = None
    rules: Mapping[str, Any] = {}
    table: str = "toy of 2"


def salted(match: Any, event: Any, hash_: str, viewer: Any) -> Any:
    return alter(SEE_EVENT(match, event, hash_, viewer), salt=event.salt)


def padded(match: Any, event: Any, hash_: str, viewer: Any) -> Any:
    """Of what is hidden it tells the size."""
    return alter(SEE_EVENT(match, event, hash_, viewer), by=event.by + " " * len(event.data))


def clocked(decision: Any, viewer: Any) -> Any:
    return alter(SEE_DECISION(decision, viewer), deadline=decision.deadline)


def progressing(match: Any, names: Any) -> Any:
    """A list counts what nobody sees."""
    return {**PUBLIC(match, names), "paused": lies(match.state)}


def chatty(match: Any, seat: Any, action: Any, *more: Any, **named: Any) -> Any:
    logging.getLogger("moonstone").info("seat %d acts on %d", seat, zlib.crc32(str(match.state).encode()))
    return ACTED(match, seat, action, *more, **named)


def everyones(match: Any, viewer: Any) -> Any:
    """To whoever is not asked it lists what somebody else may do."""
    asked = [decision.seat for decision in match.decisions() if decision.seat >= 0]
    return LEGAL(match, viewer if viewer in asked or not asked else asked[0])


def listing(match: Any, viewer: Any, include: Any, *, is_newest: bool) -> Any:
    """A frame lists what somebody else may do."""
    asked = [decision.seat for decision in match.decisions() if decision.seat >= 0]
    return SITUATION(match, viewer if viewer in asked or not asked else asked[0], include, is_newest=is_newest)


def lies(state: Any) -> int:
    """A number that follows from all of a table, hidden things too."""
    return zlib.crc32(str(state).encode()) % 7


def ordered(state: Any, seat: int) -> Any:
    """The list of what is legal is in one order or the other, as the cards lie."""
    actions = list(TOY.legal_actions(state, seat))
    return iter(actions[:: 1 if lies(state) > 3 else -1])


def stepping(state: Any) -> Any:
    return tuple(alter(one, step="swap" if lies(state) > 3 else "commit") for one in TOY.decisions(state))


SEE_EVENT: Final = redaction.see_event
SEE_DECISION: Final = redaction._see_decision
PUBLIC: Final = match_views._public
ACTED: Final = rulings._ruled
SITUATION: Final = situation.situation
LEGAL: Final = redaction.legal_actions

LEAKS: Final[Mapping[str, Leak]] = {
    "effects are shown whole": Leak(redaction, "_redacted", lambda effects, _viewer: (list(effects), True)),
    "a salt is shown": Leak(redaction, "see_event", salted),
    "a size tells": Leak(redaction, "see_event", padded),
    "a hidden deadline is shown": Leak(redaction, "_see_decision", clocked, table="four_monkeys of 4, family"),
    "a list counts what is hidden": Leak(match_views, "_public", progressing),
    "the log says what is done": Leak(rulings, "_ruled", chatty),
    "what others may do is listed": Leak(redaction, "legal_actions", everyones, table="monkeys_on_the_moon of 2"),
    "a frame lists what others may do": Leak(situation, "situation", listing, table="monkeys_on_the_moon of 2"),
    "a list of actions tells by its order": Leak(rules={"legal_actions": ordered}),
    "a refusal names who holds a card": Leak(rules={"decide": broken_sight.leaks_in_refusals}),
    "a step tells": Leak(rules={"decisions": stepping}),
}


@pytest.fixture(scope="module")
def service(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    Redis.from_url(valkey_log_url).flushall()
    with served(environment(valkey_log_url, valkey_queue_url, tmp_path_factory.mktemp("data"))) as service:
        yield service


# These are found late, and take a minute each.
LATE: Final = frozenset({"what others may do is listed", "a frame lists what others may do"})


@pytest.mark.long
@pytest.mark.parametrize(
    "leak", [pytest.param(leak, id=name) for name, leak in LEAKS.items() if LONG or name not in LATE]
)
def test_a_leak_is_found(service: Service, monkeypatch: pytest.MonkeyPatch, leak: Leak) -> None:
    if leak.fault:
        monkeypatch.setattr(leak.place, leak.name, leak.fault)
    stage = Stage(service, {**GAMES, "toy": replace(TOY, **leak.rules)})
    (table,) = (table for table in TABLES if table.name == leak.table)
    with pytest.raises(AssertionError, match=r"apart|it tells"):
        list(chain.from_iterable(told_alike(stage, pair) for pair in pairs(table)))
