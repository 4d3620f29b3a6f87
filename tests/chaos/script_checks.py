"""What each script of `actor` must leave behind, however often its process was killed and it was repeated."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from events.chain import genesis
from events.record import Event
from events.redis_log import send
from service.audit.ratings import Checked, faults
from service.audit.verify import verify
from service.container import Service
from service.games.registry import GAMES
from service.match.due_times import FINAL_KINDS, KINDS
from service.repository.accounts import digest_of
from service.repository.rating_streams import entries
from service.usecases.finding import Wanted, open_page
from service.usecases.match_lists import own_page, public_page
from tests.chaos.actor_bots import check_hosted


def only_match(service: Service, *, is_finished: bool) -> list[Event]:
    """The events of the only match; a finished match is verified with all draws and decisions."""
    ((key,),) = send(service.log_client, ("KEYS", "match:*:events"))
    match_id = key.decode().split(":")[2]
    game = GAMES["monkeys_on_the_moon"].info
    line, _ = genesis(match_id, game.id, game.ruleset)
    stored = service.ports.log.read(match_id).events
    if is_finished:
        verify([line, *stored], GAMES)
    return [msgspec.json.decode(entry, type=Event) for entry in stored]


def _of_matches(check: Callable[[Service], None], service: Service, _folder: Path) -> None:
    check(service)


def check_played(service: Service) -> None:
    events = only_match(service, is_finished=True)
    people = Counter((event.type, event.by) for event in events if event.by in {"seat:1", "player:pl_a"})
    assert people == {
        ("match_created", "player:pl_a"): 1,
        ("seat_taken", "player:pl_a"): 2,  # the bot's as well
        ("action", "seat:1"): 2,
        ("resigned", "seat:1"): 1,
    }
    assert [event.type for event in events[-2:]] == ["match_scored", "seed_revealed"]
    found = {
        status_list: len(public_page(service.ports, status_list, None, 9)[0])
        for status_list in ("open", "running", "finished")
    }
    assert found == {"open": 0, "running": 0, "finished": 1}
    assert service.ports.log.next_due(KINDS) is None


def check_timed(service: Service) -> None:
    kinds = Counter(event.type for event in only_match(service, is_finished=False))
    assert (kinds["clock_extended"], kinds["default_action"]) == (1, 1)
    assert service.ports.log.next_due(KINDS) is not None


def check_expired(service: Service) -> None:
    kinds = [event.type for event in only_match(service, is_finished=True)]
    assert kinds == ["match_created", "seat_taken", "match_aborted", "seed_revealed"]
    assert [len(public_page(service.ports, name, None, 9)[0]) for name in ("open", "aborted")] == [0, 1]
    assert service.ports.index.held_seats("pl_a") == ()
    assert service.ports.log.next_due(KINDS) is None


def check_seats(service: Service) -> None:
    kinds = Counter(event.type for event in only_match(service, is_finished=True) if event.by != "bot:greedy")
    assert kinds == {
        "match_created": 1,
        "seat_taken": 3,
        "seat_freed": 1,
        "match_started": 1,
        "seat_handed_over": 2,
        "abort_asked": 2,
        "match_aborted": 1,
        "seed_revealed": 1,
    }
    assert [len(public_page(service.ports, name, None, 9)[0]) for name in ("open", "running", "aborted")] == [0, 0, 1]
    for player in ("pl_a", "pl_b"):
        assert service.ports.index.held_seats(player) == ()
    assert list(service.ports.news.since("pl_b", 0)) == []  # the creator freed the own seat
    assert service.ports.log.next_due(KINDS) is None


def check_invited(service: Service) -> None:
    kinds = Counter(event.type for event in only_match(service, is_finished=False))
    assert kinds == {"match_created": 1, "seat_taken": 2, "match_started": 1}
    for player in ("pl_b", "pl_c"):
        assert len(own_page(service.ports, player, "active", None, 9).matches) == 1
        assert service.ports.index.held_seats(player) == ()


def check_rematch(service: Service) -> None:
    keys = send(service.log_client, ("KEYS", "match:*:events"))[0]
    found = [service.ports.history.newest(key.decode().split(":")[2])[0] for key in keys]
    assert sorted(match.status for match in found) == ["finished", "running"]
    (new,) = (match for match in found if match.status == "running")
    assert [holder and holder.player for holder in new.seats] == ["pl_b", "random", "pl_a"]
    assert public_page(service.ports, "open", None, 9) == ((), None)
    assert open_page(service.ports, Wanted(game=new.created.game), None, 9) == ((), None)
    for player in ("pl_a", "pl_b"):
        assert [match.id for match in own_page(service.ports, player, "active", None, 9).matches] == [new.id]
        assert len(own_page(service.ports, player, "public", None, 9).matches) == 2


def check_seeks(service: Service) -> None:
    kinds = Counter(event.type for event in only_match(service, is_finished=False))
    assert kinds == {"match_created": 1, "seat_taken": 2, "match_started": 1}
    assert service.ports.seeks.waiting() == ()
    assert service.ports.seeks.pairings() == []
    for player in ("pl_a", "pl_b"):
        assert len(own_page(service.ports, player, "active", None, 9).matches) == 1


def check_rated(service: Service) -> None:
    game = "monkeys_on_the_moon"
    matches = [key.decode().split(":")[2] for key in keys(service, "match:*:events")]
    rated = list(entries(service.ports.log, game))
    assert sorted(entry.rated.match for entry in rated) == sorted(matches)
    checked = Checked()
    assert list(faults(service.ports, game, checked)) == []
    assert checked == Checked(entries=2, players=2)
    assert service.ports.ratings.known(game, (), ()).head == rated[-1].head
    assert service.ports.log.next_due([*KINDS, *FINAL_KINDS]) is None


def client_memory(folder: Path, name: str) -> Any:
    return msgspec.json.decode((folder / name).read_bytes())


def keys(service: Service, *patterns: str) -> list[bytes]:
    return [key for pattern in patterns for key in send(service.log_client, ("KEYS", pattern))[0]]


def check_tokens(service: Service, folder: Path) -> None:
    accounts = service.ports.accounts
    player, first, _ = client_memory(folder, "account")
    recovered = digest_of(client_memory(folder, "recovered"))
    assert accounts.tokens(player).keys() == {recovered}
    assert accounts.by_token(recovered) is not None
    others = [first, *(client_memory(folder, name) for name in ("second", "third"))]
    assert [accounts.by_token(digest_of(token)) for token in others] == [None] * 3
    # Processes of an older release find no other token either, except those of a sign-up that was not answered.
    links = [
        key
        for key in keys(service, "token:*", "grant:*")
        if send(service.log_client, ("GET", key)) == [player.encode()]
    ]
    assert links == [f"token:{recovered}".encode()]


def check_erased(service: Service, folder: Path) -> None:
    ports = service.ports
    player, token, _ = client_memory(folder, "account")
    assert ports.accounts.by_token(digest_of(token)) is None
    assert ports.accounts.players([player]) == {}
    assert (ports.accounts.erasing(), list(ports.accounts.erased())) == ({}, [player])
    assert ports.seeks.of(player) is None
    links = [
        key
        for key in keys(service, "token:*", "grant:*")
        if send(service.log_client, ("GET", key)) == [player.encode()]
    ]
    assert links == []
    matches = [key.decode().split(":")[2] for key in keys(service, "match:*:events")]
    found = [
        Counter(msgspec.json.decode(one, type=Event).type for one in ports.log.read(match).events) for match in matches
    ]
    assert sorted((kinds["resigned"], kinds["match_aborted"]) for kinds in found) == [(0, 1), (1, 0), (1, 0)]


def check_notified(service: Service, folder: Path) -> None:
    only_match(service, is_finished=False)
    kept = service.ports.webhooks.deliveries("pl_a")
    assert {one.status for one in kept} == {"delivered"}
    received = (folder / "received").read_text().split()
    assert set(received) == {one.notice for one in kept}
    assert "started" in {one.rpartition("-")[2] for one in received}
    # Deliveries are attempted together, so one crash may repeat each that was not stored, but once.
    assert max(Counter(received).values()) <= 2
    assert service.ports.log.scheduled("delivery") == ()


MATCH_CHECKS: Final = {
    "play": check_played,
    "time": check_timed,
    "open": check_expired,
    "seats": check_seats,
    "again": check_rematch,
    "seek": check_seeks,
    "rate": check_rated,
    "invite": check_invited,
}
CHECKS: Final[Mapping[str, Callable[[Service, Path], None]]] = {
    **{script: partial(_of_matches, check) for script, check in MATCH_CHECKS.items()},
    "tokens": check_tokens,
    "erasure": check_erased,
    "notify": check_notified,
    "host": check_hosted,
}
