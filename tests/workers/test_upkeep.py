"""Worker processes take over the open matches of an older release, and end those that wait for too long."""

from service.match.new_match import NewMatch
from service.usecases.match_lifecycle import create
from tests.waiting import until
from tests.workers.world import GAME, World
from workers.upkeep import Upkeep


def test_open_matches_without_due_times_are_found(world: World) -> None:
    ports = world.service.ports
    match = create(ports, "pl_a", NewMatch(GAME, 2, private=True, format_number=1), "old").match
    ports.log.rearm(match.id, match.head.version, {"open": None})
    assert ports.log.scheduled("open") == ()
    upkeep = Upkeep(ports)
    upkeep.start()
    until(lambda: [due.match for due in ports.log.scheduled("open")] == [match.id], 10, "the match is found")
    upkeep.stop()


def test_a_worker_process_ends_a_match_that_waits_too_long(world: World) -> None:
    match = create(world.service.ports, "pl_a", NewMatch(GAME, 2, open_ms=1_000), "short").match
    world.worker("people")
    until(lambda: world.newest(match).status == "aborted", 30, "the match expires")
    assert [event.type for event in world.events(match)] == ["match_created", "match_aborted", "seed_revealed"]
    world.verified(world.newest(match))
