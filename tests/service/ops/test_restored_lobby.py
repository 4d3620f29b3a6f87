"""What a backup restores of the lobby: open matches with all their lists and counts, invitations, rematches; on a server and a cluster."""

from collections.abc import Callable
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from events.redis_log import connect_cluster
from service.automation.bot_turns import advance
from service.automation.pairing import put_together
from service.match.facets import facets_of
from service.match.model import Match
from service.match.new_match import NewMatch
from service.ops import maintenance
from service.repository.ports import OwnList, Ports
from service.usecases import accounts, seeking
from service.usecases.finding import Wanted, open_page
from service.usecases.held_seats import HELD_SEATS
from service.usecases.invitations import invite
from service.usecases.match_lifecycle import create, free_seat, join, leave
from service.usecases.match_lists import own_page, player_page
from service.usecases.rematch import rematch
from tests.service.arena import refused
from tests.service.ops.stores import GAME, Store, backed_up, open_store

OWN_LISTS: tuple[OwnList, ...] = ("all", "active")
FILTERS: dict[str, Any] = {
    "game": GAME,
    "seats": 3,
    "free_seats": 1,
    "clock": "turn",
    "speed": "days",
    "option": ("treachery:true",),
    "bots": False,
}


def lists(ports: Ports, *players: str) -> dict[str, object]:
    """What every list of the lobby has: by each filter and each pair of filters, and by player."""
    found: dict[str, object] = {}
    for names in (*combinations(FILTERS, 1), *combinations(FILTERS, 2)):
        wanted = Wanted(**{name: FILTERS[name] for name in names})
        found["&".join(names)] = [view.id for view in open_page(ports, wanted, None, 50)[0]]
    for player in players:
        found[f"creator {player}"] = [view.id for view in open_page(ports, Wanted(creator=player), None, 50)[0]]
        found[f"public {player}"] = sorted(view.id for view in player_page(ports, player, None, 50)[0])
        for own_list in OWN_LISTS:
            found[f"{own_list} {player}"] = [view.id for view in own_page(ports, player, own_list, None, 50).matches]
        found[f"left {player}"] = sorted(entry.match_id for entry in ports.index.matches_of(player, "left", None, 50))
        found[f"held {player}"] = sorted(entry.match_id for _, entry in ports.index.held_seats(player))
        found[f"open {player}"] = sorted(entry.match_id for entry in ports.index.open_entries(player))
    found["due"] = {(due.match, due.at) for due in ports.log.scheduled("open")}
    return found


class Lobby:
    """Players and matches of all kinds."""

    def __init__(self, ports: Ports) -> None:
        self.ada, self.ben, self.cleo = (accounts.sign_up(ports, name)[0].id for name in ("Ada", "Ben", "Cleo"))
        self.open = [
            create(ports, self.ada, NewMatch(GAME, seats, options, default_clock=True), f"open-{number}").match
            for number, (seats, options) in enumerate([(2, {}), (3, {"treachery": True}), (3, {}), (4, {})])
        ]
        for match in self.open[1:3]:
            join(ports, self.ben, match.id, "sit")
        free_seat(ports, self.ada, self.open[2].id, "free", seat=0)
        self.hidden = create(ports, self.ben, NewMatch(GAME, 2, private=True), "hidden").match
        self.code = invite(ports, self.ben, self.hidden.id, 3_600).invitation
        self.old = self._finished(ports)
        self.rematch = rematch(ports, self.ben, self.old.id).match

    def _finished(self, ports: Ports) -> Match:
        match = create(ports, self.ada, NewMatch(GAME, 2), "old").match
        for player in (self.ada, self.ben):
            join(ports, player, match.id, "sit")
        for player in (self.ada, self.ben):
            leave(ports, player, match.id, "leave")
        while advance(ports, match.id, moves=100):
            pass
        return ports.history.newest(match.id)[0]

    @property
    def players(self) -> tuple[str, ...]:
        return self.ada, self.ben, self.cleo


@pytest.mark.parametrize("target", ["server", "cluster"])
def test_a_restored_store_has_the_same_lobby(
    target: str,
    empty: Callable[[str], dict[str, str]],
    clusters: Callable[[int], str],
    stack: ExitStack,
    tmp_path: Path,
) -> None:
    store = open_store(empty("log"), stack)
    lobby = Lobby(store.ports)
    seeking.seek(store.ports, lobby.cleo, NewMatch(GAME, 2), "seek", 600)
    before = lists(store.ports, *lobby.players)
    assert before["seats&option"] == [lobby.open[1].id]
    assert before[f"held {lobby.ben}"] == sorted([lobby.open[1].id, lobby.rematch.id])
    file = backed_up(store, tmp_path)
    environ = empty("restored")
    if target == "cluster":
        with connect_cluster(clusters(3)) as client:
            client.flushall()
        environ["MOONSTONE_LOG_URL"] = clusters(3).replace("redis://", "cluster://")
    assert maintenance.restore(environ, file, store.messages.append)
    restored = open_store(environ, stack)
    assert lists(restored.ports, *lobby.players) == before
    plays_on(restored, lobby)
    assert maintenance.check(environ, store.messages.append)


def plays_on(store: Store, lobby: Lobby) -> None:
    """Everything in the restored lobby can be used."""
    ports = store.ports
    assert rematch(ports, lobby.ada, lobby.old.id).match.id == lobby.rematch.id
    assert store.newest(lobby.rematch).status == "running"
    assert join(ports, lobby.cleo, lobby.hidden.id, "sit", invitation=lobby.code).match.seat_of(lobby.cleo) == 0
    assert join(ports, lobby.ben, lobby.open[1].id, "sit").replayed
    assert ports.seeks.waiting() == ()
    for number in range(HELD_SEATS - 1):
        match = create(ports, (lobby.ada, lobby.ben)[number % 2], NewMatch(GAME, 3), f"more-{number}").match
        join(ports, lobby.cleo, match.id, "sit")
    refused("too-many-seats", join, ports, lobby.cleo, lobby.open[3].id, "sit")
    leave(ports, lobby.cleo, lobby.hidden.id, "leave")
    join(ports, lobby.cleo, lobby.open[3].id, "sit")
    for player in (lobby.ada, lobby.ben):
        seeking.seek(ports, player, NewMatch(GAME, 2), "seek", 600)
        ports.seeks.see(player)
    assert put_together(ports) == 1
    assert {ports.seeks.of(player) for player in lobby.players} == {None}
    free_seat(ports, lobby.ada, lobby.open[1].id, "free", seat=0)
    assert len(ports.news.since(lobby.ben, 0)) == 1


def test_a_check_adds_open_matches_to_the_lists_that_lost_them(
    empty: Callable[[str], dict[str, str]], stack: ExitStack
) -> None:
    store = open_store(empty("log"), stack)
    lobby = Lobby(store.ports)
    before = lists(store.ports, *lobby.players)
    for match in map(store.newest, (*lobby.open, lobby.hidden)):
        store.ports.index.unfile(match.id, match.created_at, facets_of(match))
        store.ports.log.rearm(match.id, match.head.version, {"open": None})
        store.ports.index.move(match.id, match.created_at, match.creator, None, private=match.created.private)
        for player in match.players:
            store.ports.index.release_seat(player, match.id, match.created_at)
    assert lists(store.ports, *lobby.players) != before
    assert store.check()
    assert lists(store.ports, *lobby.players) == before
