"""`python -m tests.chaos.actor`: plays scripts on a store, each in a new child process.

Each input line is `<script> <point> <data folder>`. The child process ends at that point of `service.observability.failpoints`,
or at the end of the script, and its exit code is printed. With `kill:<milliseconds>` as the point, it gets SIGKILL this long after
the script began; with `count`, it writes how often the script passed each point to the file `passes`. A script can be repeated after a crash: its commands have fixed keys, and the choices of its clients are
stored in files.
"""

from service.adapters.uncollected import uncollected

with uncollected():
    import asyncio
    import os
    import signal
    import sys
    import time
    from collections.abc import Callable, Mapping
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import suppress
    from dataclasses import replace
    from pathlib import Path
    from typing import Any, Final, NamedTuple

    import msgspec

    from service.adapters.beat import KEY as BEAT
    from service.adapters.beat import Beat
    from service.adapters.jobs import LANES
    from service.automation.bot_turns import advance
    from service.automation.erasure import SETTLED_MS, Erasures
    from service.automation.pairing import put_together
    from service.container import Service, build
    from service.errors import Refused
    from service.match.due_times import HINT_MS
    from service.match.events import MatchClock
    from service.match.model import ABSENCE_MS, GRACE_MS, Match
    from service.match.new_match import NewMatch
    from service.match.redaction import legal_actions
    from service.observability import failpoints
    from service.repository.accounts import digest_of
    from service.repository.outgoing import Answered, Result
    from service.repository.ports import Ports
    from service.repository.webhooks import NOTIFIED
    from service.settings import read
    from service.usecases import accounts, erasure, play, recovery, webhooks
    from service.usecases.invitations import invite
    from service.usecases.match_lifecycle import create, free_seat, join, leave
    from service.usecases.mid_match import ask_abort, replace_absent, take_back
    from service.usecases.rematch import rematch
    from service.usecases.seeking import seek
    from tests.chaos.actor_bots import host_bots
    from workers import deliveries
    from workers.calls import KINDS
    from workers.lane import Claimed, Lane, Sender, Slots
    from workers.player import Player
    from workers.sweeper import LEASE_MS, Sweeper

GAME: Final = "monkeys_on_the_moon"
TURN_SECONDS: Final = 60
OUTAGE_MS: Final = 30_000
OPEN_MS: Final = 60_000
NO_CRASH: Final = "-"
COUNT: Final = "count"
KILL: Final = "kill:"
MAX_JOBS: Final = 60
"""More jobs than any match needs."""


class ClientMemory:
    """Stores the choices of a client, so that it makes the same ones after a crash of the service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        file = self.folder / name
        if not file.exists():
            file.write_bytes(msgspec.json.encode(make()))
        return msgspec.json.decode(file.read_bytes())


def _ahead(ports: Ports, ms: int) -> Ports:
    return replace(ports, now=lambda: ports.now() + ms)


def _newest(ports: Ports, match: Match) -> Match:
    return ports.history.newest(match.id)[0]


def work(ports: Ports, match: Match) -> None:
    """Run jobs until one finds nothing to play. On a slow machine a turn takes more than one job."""
    while advance(ports, match.id):
        pass
    advance(ports, match.id)


def play_match(service: Service, memory: ClientMemory) -> None:
    """One person against a bot: signs up, plays two turns, leaves; then the bot and default actions play to the end."""
    ports = service.ports
    accounts.sign_up(ports, "Ada")
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, bots=("random",)), "create").match
    join(ports, "pl_a", match.id, "join")
    for key in ("first", "second"):
        work(ports, match)
        chosen = memory.once(key, lambda: next(iter(legal_actions(_newest(ports, match), 1))))
        play.act(ports, "pl_a", match.id, play.ActionRequest(chosen), key)
    leave(ports, "pl_a", match.id, "leave")
    for _ in range(MAX_JOBS):
        # One worker claims the job that is due in the log, then another one runs it.
        Player(_ahead(ports, HINT_MS), LANES, lambda _: None)._claim_due()
        if _newest(ports, match).status == "finished":
            return
        work(ports, match)
    sys.exit("the match does not end")


def keep_time(service: Service, memory: ClientMemory) -> None:
    """Two people with a clock: no sweeper runs for a while, then one does; later a turn runs out."""
    ports = service.ports
    clock = MatchClock(turn_seconds=TURN_SECONDS)
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, clock=clock), "create").match
    join(ports, "pl_a", match.id, "sit a")
    join(ports, "pl_b", match.id, "sit b")
    # Pretend that the last beat was long ago: at the same time in every run of this script.
    _beaten(service, memory.once("quiet", lambda: ports.now() - OUTAGE_MS))
    _sweep(service, OUTAGE_MS)
    # Pretend that another sweeper has run since, so that a slow machine causes no second outage.
    _beaten(service, ports.now())
    _sweep(service, TURN_SECONDS * 1000 + 2 * OUTAGE_MS + GRACE_MS)


def wait_for_players(service: Service, _memory: ClientMemory) -> None:
    """One person waits for another until the match expires."""
    ports = service.ports
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, open_ms=OPEN_MS), "create").match
    join(ports, "pl_a", match.id, "sit a")
    _beaten(service, ports.now())
    for late_ms in (0, LEASE_MS):  # a sweeper that was killed may have claimed the match
        _sweep(service, OPEN_MS + late_ms)


def change_seats(service: Service, _memory: ClientMemory) -> None:
    """A seat is freed and taken again; then one of two people is absent, comes back, and both abort the match."""
    ports = service.ports
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2), "create").match
    join(ports, "pl_a", match.id, "sit a")
    free_seat(ports, "pl_a", match.id, "free", seat=0)
    join(ports, "pl_b", match.id, "sit b")
    match = join(ports, "pl_a", match.id, "again").match
    absent = match.decisions()[0].seat
    players = ("pl_b", "pl_a")
    replace_absent(_ahead(ports, ABSENCE_MS), players[1 - absent], match.id, "replace", seat=absent)
    if _newest(ports, match).lost_seat_of(players[absent]) is not None:
        work(ports, match)
    take_back(ports, players[absent], match.id, "return")
    for player in players:
        ask_abort(ports, player, match.id, "abort")


def ask_for_rematches(service: Service, memory: ClientMemory) -> None:
    """Two people leave a match with a bot, and each asks for a rematch after its end."""
    del memory
    ports = service.ports
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=3, bots=("random",)), "create").match
    for player in ("pl_a", "pl_b"):
        join(ports, player, match.id, "join")
    for player in ("pl_a", "pl_b"):
        leave(ports, player, match.id, "leave")
    while _newest(ports, match).status != "finished":
        work(ports, match)
    for player in ("pl_b", "pl_a"):
        rematch(ports, player, match.id)


def pair_seeks(service: Service, memory: ClientMemory) -> None:
    """Two people seek the same match; one worker pairs them, and then another worker tries it again."""
    del memory
    ports = service.ports
    for player in ("pl_a", "pl_b"):
        seek(ports, player, NewMatch(game=GAME, seats=2), "seek", 600)
        ports.seeks.see(player)
    for _ in range(2):
        put_together(ports)


def rate_matches(service: Service, memory: ClientMemory) -> None:
    """Two people leave two rated matches, and sweepers rate them."""
    del memory
    ports = service.ports
    clock = MatchClock(turn_seconds=TURN_SECONDS)
    for name in ("first", "second"):
        match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, clock=clock, rated=True), name).match
        for player in ("pl_a", "pl_b"):
            join(ports, player, match.id, "join")
        for player in ("pl_a", "pl_b"):
            leave(ports, player, match.id, "leave")
        while _newest(ports, match).status != "finished":
            work(ports, match)
    _beaten(service, ports.now())
    for leases in (2, 4, 6):  # a sweeper that crashed has claimed what it did not rate
        _sweep(service, leases * LEASE_MS)


def manage_tokens(service: Service, memory: ClientMemory) -> None:
    """A player makes a token, revokes it, makes others, revokes all but one, and then recovers the account."""
    ports = service.ports
    player_id, first, code = memory.once("account", lambda: _account(ports))
    (player,) = ports.accounts.players([player_id]).values()
    current = digest_of(first)
    memory.once("second", lambda: accounts.add_token(ports, player, scopes=("watch",))[0])
    third = memory.once("third", lambda: accounts.add_token(ports, player)[0])
    with suppress(Refused):  # the token may be revoked, or this one after the recovery
        accounts.revoke_token(ports, player, current, accounts.token_id(digest_of(third)))
    with suppress(Refused):
        accounts.revoke_others(ports, player, current)
    memory.once("recovered", lambda: recovery.recover(ports, code)[1])


def _account(ports: Ports) -> tuple[str, str, str]:
    player, token = accounts.sign_up(ports, "Ada")
    return player.id, token, recovery.renew_code(ports, player)


def erase_account(service: Service, memory: ClientMemory) -> None:
    """A player with two running matches, an open one and a seek erases the account; two workers end the rest."""
    ports = service.ports
    player, _, _ = memory.once("account", lambda: _account(ports))
    if player not in {**ports.accounts.erasing(), **ports.accounts.erased()}:
        for number in range(2):
            match = create(ports, player, NewMatch(game=GAME, seats=2, bots=("random",)), f"create {number}").match
            join(ports, player, match.id, f"join {number}")
        create(ports, player, NewMatch(game=GAME, seats=2), "open")
        seek(ports, player, NewMatch(game=GAME, seats=2), "seek", 600)
        erasure.erase(ports, player)
    for ms in (0, SETTLED_MS, 2 * SETTLED_MS):
        Erasures(_ahead(ports, ms)).step()


def use_invitations(service: Service, memory: ClientMemory) -> None:
    """The creator of a private match invites two people, who take its seats."""
    ports = service.ports
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, private=True), "create").match
    code = memory.once("code", lambda: invite(ports, "pl_a", match.id, 3_600).invitation)
    for player in ("pl_b", "pl_c"):
        join(ports, player, match.id, "sit", invitation=code)


class Receiver(NamedTuple):
    """A receiver of webhooks that accepts everything, and writes the ids to a file."""

    file: Path

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout_s: float, max_bytes: int, max_sends: int = 2
    ) -> Result:
        del url, body, timeout_s, max_bytes, max_sends
        with self.file.open("a") as file:
            file.write(f"{headers['webhook-id']}\n")
        return Answered(204, b"", 1)


def send_notices(service: Service, memory: ClientMemory) -> None:
    """A player with a webhook takes a seat; processes that make deliveries and attempts run one after the other."""
    ports = service.ports
    if not ports.webhooks.of(("pl_a",)):
        webhooks.add(ports, "pl_a", "https://moon.example/", NOTIFIED)
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2), "create").match
    for player in ("pl_a", "pl_b"):
        join(ports, player, match.id, "join")
    with ThreadPoolExecutor(1) as executor:
        for leases in range(4):  # a process that crashed has claimed what it did not finish
            sender = Sender(Receiver(memory.folder / "received"), Slots())
            lane = Lane(_ahead(ports, leases * deliveries.LEASE_MS), sender, sender, executor)
            asyncio.run(_handle_once(lane))


async def _handle_once(lane: Lane) -> None:
    for name, kind in KINDS.items():
        for due in lane.ports.log.claim(name, lane.ports.now(), kind.lease_ms, 100):
            await kind.handle(lane, Claimed(due.match, name, lane.ports.now() + kind.lease_ms))


def _sweep(service: Service, ms: int) -> None:
    """One round of a sweeper that starts this much later."""
    ports = _ahead(service.ports, ms)
    beat = Beat(service.log_client, ports.now)
    Sweeper(replace(ports, lost=beat.lost), beat).sweep()


def _beaten(service: Service, at: int) -> None:
    service.log_client.hset(BEAT, "at", at)


SCRIPTS: Final[Mapping[str, Callable[[Service, ClientMemory], None]]] = {
    "play": play_match,
    "time": keep_time,
    "open": wait_for_players,
    "seats": change_seats,
    "again": ask_for_rematches,
    "seek": pair_seeks,
    "rate": rate_matches,
    "tokens": manage_tokens,
    "erasure": erase_account,
    "invite": use_invitations,
    "notify": send_notices,
    "host": host_bots,
}


def _act(script: str, point: str, folder: str) -> int:
    began, begins = os.pipe()
    child = os.fork()
    kill_after_ms = point.removeprefix(KILL) if point.startswith(KILL) else None
    if not child:
        service = build(read({**os.environ, "MOONSTONE_DATA_DIR": folder}), listen=False)
        if point != NO_CRASH and kill_after_ms is None:
            failpoints.arm(point)
        os.write(begins, b".")
        SCRIPTS[script](service, ClientMemory(Path(folder)))
        if point == COUNT:
            (Path(folder) / "passes").write_bytes(msgspec.json.encode(failpoints._passed))
        os._exit(0)
    os.close(begins)
    os.read(began, 1)
    os.close(began)
    if kill_after_ms is not None:
        time.sleep(float(kill_after_ms) / 1000)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    for line in sys.stdin:
        print(_act(*line.split()), flush=True)


if __name__ == "__main__":
    main()
