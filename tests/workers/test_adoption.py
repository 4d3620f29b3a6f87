"""Worker processes take over the open matches of an older release, and end those that wait for too long."""

from service.match.facets import facets_of
from service.match.new_match import NewMatch
from service.usecases.finding import Wanted, open_page
from service.usecases.match_lifecycle import create
from tests.waiting import until
from tests.workers.world import GAME, World


def test_a_worker_process_takes_over_a_match_of_an_older_release(world: World) -> None:
    ports = world.service.ports
    match = create(ports, "pl_a", NewMatch(GAME, 2, format_number=1), "old").match
    hidden = create(ports, "pl_a", NewMatch(GAME, 2, private=True, format_number=1), "hidden").match
    for one in (match, hidden):
        ports.log.rearm(one.id, one.head.version, {"open": None})
    ports.index.unfile(match.id, match.created_at, facets_of(match))
    assert ports.log.scheduled("open") == ()
    world.worker("people")
    until(lambda: {due.match for due in ports.log.scheduled("open")} == {match.id, hidden.id}, 30, "both are found")
    assert [view.id for view in open_page(ports, Wanted(game=GAME), None, 9)[0]] == [match.id]


def test_a_worker_process_ends_a_match_that_waits_too_long(world: World) -> None:
    match = create(world.service.ports, "pl_a", NewMatch(GAME, 2, open_ms=1_000), "short").match
    world.worker("people")
    until(lambda: world.newest(match).status == "aborted", 30, "the match expires")
    assert [event.type for event in world.events(match)] == ["match_created", "match_aborted", "seed_revealed"]
    world.verified(world.newest(match))
