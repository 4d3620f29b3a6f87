"""One worker process.

The main thread plays matches, because the time limits of bots use signals. Other threads take hints from the queue and
enforce deadlines.
"""

import logging
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Literal, TypeAlias, get_args

from service.adapters.beat import Beat
from service.adapters.jobs import JOB_SECONDS
from service.automation import adoption, pairing, rating
from service.automation.erasure import Erasures
from service.container import Service, Unusable, build
from service.errors import Corrupt, Refused
from service.repository.ports import Lane, Ports
from service.settings import BadSetting, Settings
from workers import jobs
from workers.clock_check import ClockCheck
from workers.hints import HintTaker
from workers.player import Player
from workers.repeating import GoesOn, Repeating
from workers.sweeper import Sweeper
from workers.time_limits import cpu_time_limit, wall_time_limit
from workers.turns import Turns

Role: TypeAlias = Literal["all", "people", "bots"]
"""The matches that a process plays: all matches, matches with people, or matches without people."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
_LANES: Final[dict[Role, tuple[Lane, ...]]] = {"all": ("turns", "bots"), "people": ("turns",), "bots": ("bots",)}
NICENESS: Final = 5
"""Niceness of a process for matches without people: on a busy machine it gets a third of the usual CPU time."""

PAIRING_INTERVAL_S: Final = 0.25
ADOPTION_INTERVAL_S: Final = 600.0
"""While processes of an older release still run, they may store more matches."""

ERASURE_INTERVAL_S: Final = 1.0
TOKENS_INTERVAL_S: Final = 3_600.0
"""While processes of an older release still run, they may store more tokens."""
FILES_INTERVAL_S: Final = 60.0

_log = logging.getLogger("moonstone.worker")


def run(settings: Settings, role: Role = "all") -> int:
    """Work until SIGINT or SIGTERM, and return the exit code."""
    try:
        service = build(settings, listen=False)
    except (BadSetting, Unusable) as error:
        _log.critical("the worker cannot start: %s", error)
        return 1
    work(service, role)
    return 0


def work(service: Service, role: Role = "all") -> None:
    lanes = _LANES[role]
    if role == "bots":
        os.nice(NICENESS)
    turns = Turns(service.ports, lanes, bot_limit=wall_time_limit, rules_limit=partial(cpu_time_limit, JOB_SECONDS))
    player = Player(service.ports, lanes, turns.play, service.clock_watch.fault)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: player.stop())
    jobs.use(player.play)
    threads = _threads(service, lanes, player)
    for thread in threads:
        thread.start()
    try:
        player.run()
    finally:
        for thread in threads:
            thread.stop()
        service.close()


def _threads(service: Service, lanes: Sequence[Lane], player: Player) -> tuple[HintTaker | Sweeper | Repeating, ...]:
    hints = HintTaker(service.settings.queue_url or "", service.queue_client, lanes)
    if "turns" not in lanes:
        return (hints,)  # deadlines of matches without people are enforced when their turns are played
    ports = replace(service.ports, jobs=player)
    clock_fault = service.clock_watch.fault
    sweeper = Sweeper(ports, Beat(service.log_client), clock_fault=clock_fault)
    seeks_clock, erasures_clock = (
        ClockCheck(clock_fault, what) for what in ("seeks are paired", "matches of erased accounts are left")
    )
    return (
        hints,
        sweeper,
        Repeating("pairing", partial(_pair_seeks, ports, seeks_clock), PAIRING_INTERVAL_S),
        Repeating("adoption", partial(_adopt, ports), ADOPTION_INTERVAL_S),
        Repeating("erasures", partial(_erase, Erasures(ports), erasures_clock), ERASURE_INTERVAL_S),
        Repeating("tokens", lambda _: ports.accounts.adopt(), TOKENS_INTERVAL_S),
        Repeating("files", lambda _: ports.accounts.rewrite_files(), FILES_INTERVAL_S),
    )


def _pair_seeks(ports: Ports, clock: ClockCheck, _: GoesOn) -> None:
    if not clock.is_off():
        pairing.put_together(ports)


def _erase(erasures: Erasures, clock: ClockCheck, goes_on: GoesOn) -> None:
    if not clock.is_off():
        erasures.step(goes_on)


def _adopt(ports: Ports, goes_on: GoesOn) -> None:
    adopted = adoption.adopt(ports, goes_on)
    if adopted:
        _log.info("took over %d open matches of an older release", adopted)
    unrated = rating.adopt(ports, goes_on)
    if unrated:
        _log.info("%d matches that an older release scored will be rated", unrated)
    for game in ports.games:
        try:
            rating.catch_up(ports, game, goes_on)
        except (Corrupt, Refused) as error:
            _log.error("the leaderboard of %s is not up to date: %s", game, error)
