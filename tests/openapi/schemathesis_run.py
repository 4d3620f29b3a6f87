"""Schemathesis against the running service: every operation, every check, stateful links, with a valid token."""

import itertools
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx
import msgspec
import yaml

from service import settings
from service.adapters.valkey import Valkey
from service.automation.bot_turns import advance
from service.automation.rating import rate
from service.container import build
from service.match.events import MatchClock
from service.match.model import ABSENCE_MS, Match
from service.match.new_match import NewMatch
from service.repository.ports import Ports
from service.usecases import accounts
from service.usecases.match_lifecycle import create, join, leave
from service.usecases.mid_match import replace_absent
from tests.length import LENGTH, LONG
from tests.openapi.tools import HERE, REFERENCE, ROOT

MIN_SUCCESSES: Final = 10 if LONG else 1
"""Number of successes that each operation must have."""
CONFIG: Final = HERE / "schemathesis.toml"
CHAINS: Final = f"[phases.stateful.generation]\nmax-examples = {max(30, 2 * LENGTH) if LONG else 10}\n"
"""The part of the configuration that has the number of chains of linked requests."""
MOST_RUNS: Final = 4
"""How often at most operations are tried that have not succeeded yet, in the short form."""
LIMITS: Final = tuple(
    variable.name for variable in settings.VARIABLES if re.search("_BY_(TOKEN|ADDRESS|CALLER)$", variable.name)
)
"""All settings of rate limits: schemathesis sends more requests than any client."""

PREPARED: Final = 4 * MIN_SUCCESSES
"""Number of prepared matches for each operation that needs two weeks of absence."""

World: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    failed: bool
    text: str
    answers: Counter[str]
    """Number of answers by `<operation> <status> <media type>`."""

    def __add__(self, other: "Report") -> "Report":
        return Report(self.failed or other.failed, self.text + other.text, self.answers + other.answers)

    def succeeded(self) -> Counter[str]:
        """Number of successes by operation."""
        return Counter(
            {
                name: sum(n for answer, n in self.answers.items() if answer.startswith(f"{name} 2"))
                for name in operations()
            }
        )

    def gaps(self) -> list[str]:
        """Operations with too few successes, successful answers that never occurred, and operations and checks that were left out."""
        rare = [f"{name} succeeded {count} times" for name, count in self.succeeded().items() if count < MIN_SUCCESSES]
        never = [f"{answer} never occurred" for answer in sorted(answers_of_success() - self.answers.keys())]
        whole = f"  Tested: {len(operations())}\n" in self.text
        return rare + never + ([] if whole else ["operations were left out"]) + switched_off()


@cache
def operations() -> Mapping[str, Any]:
    """The operations of the reference by id."""
    paths = yaml.load(REFERENCE.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["paths"]
    return {one["operationId"]: one for methods in paths.values() for one in methods.values() if "operationId" in one}


def switched_off() -> list[str]:
    """Keys of schemathesis.toml that could switch something off: of a check, it may only set the expected statuses."""
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    sections = [config, *config["operations"]]
    keys = {key for one in sections for key in one} - {"checks", "operations", "warnings", "include-operation-id"}
    of_checks = {key for one in sections for check in one.get("checks", {}).values() for key in check}
    return sorted(f"schemathesis.toml sets {key}" for key in keys | (of_checks - {"expected-statuses"}))


def answers_of_success() -> set[str]:
    """`<operation> <status> <media type>` of all successful answers in the reference."""
    return {
        f"{name} {status} {form}".rstrip()
        for name, operation in operations().items()
        for status, answer in operation["responses"].items()
        if status.startswith("2")
        for form in answer.get("content", {"": None})
    }


@contextmanager
def serving(folder: Path) -> Iterator[World]:
    """A running service: its address, a player's token, a finished match, and the games."""
    with Valkey.start(folder / "log", durable=True) as log, Valkey.start(folder / "queue", durable=False) as queue:
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(folder / "store"),
            **dict.fromkeys(LIMITS, "1000000"),
        }
        finished, token = _play_one(environ)
        with subprocess.Popen(
            [sys.executable, "-m", "tests.openapi.server"],
            cwd=ROOT,
            env=os.environ | environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout
            try:
                url = f"http://127.0.0.1:{int(process.stdout.readline())}"
                headers = {"Authorization": f"Bearer {token}"}
                me = httpx.get(f"{url}/v1/me", headers=headers, timeout=60).raise_for_status().json()["id"]
                games = [game["id"] for game in httpx.get(f"{url}/v1/games", timeout=60).json()["games"]]
                yield {
                    "run": 0,  # other media types come first in each run: some operations have one case in a run
                    "url": url,
                    "token": token,
                    "me": me,
                    "finished": finished.id,
                    "finished_version": finished.head.version,
                    "games": games,
                    **_absences(environ, me),
                }
            finally:
                process.terminate()


def _play_one(environ: Mapping[str, str]) -> tuple[Match, str]:
    """A finished match between bots, and the token of its creator."""
    service = build(settings.read(environ), listen=False)
    ada, token = accounts.sign_up(service.ports, "Ada")
    match = create(service.ports, ada.id, NewMatch(game="ape_town", seats=2, bots=("random",) * 2), "create").match
    while advance(service.ports, match.id, moves=1000):
        pass
    match, _ = service.ports.history.newest(match.id)
    _rate_one(service.ports)
    service.close()
    return match, token


def _rate_one(ports: Ports) -> None:
    """Let two players resign in a match of Ape Town, and rate it."""
    rated = NewMatch(game="ape_town", seats=2, rated=True, clock=MatchClock(turn_seconds=60))
    match_id = create(ports, "pl_a", rated, "rated").match.id
    for player in ("pl_a", "pl_b"):
        join(ports, player, match_id, "sit")
    for player in ("pl_a", "pl_b"):
        leave(ports, player, match_id, "resign")
    while advance(ports, match_id, moves=1000):
        pass
    rate(ports, match_id)


def _absences(environ: Mapping[str, str], player: str) -> dict[str, list[tuple[str, int]]]:
    """Matches of the player whose other seat has been absent for two weeks, and matches in which it was absent itself."""
    service = build(settings.read(environ), listen=False)
    now = service.ports.now
    past = replace(service.ports, now=lambda: now() - ABSENCE_MS)
    found: dict[str, list[tuple[str, int]]] = {"replace_absent": [], "take_back": []}
    for number in itertools.count():
        operation = next((name for name, matches in found.items() if len(matches) < PREPARED), None)
        if operation is None:
            break
        match = create(past, "pl_host", NewMatch(game="ape_town", seats=2), f"absence {number}").match
        for one in (player, "pl_other"):
            join(past, one, match.id, "sit")
        match, _ = past.history.newest(match.id)
        (decision,) = match.decisions()
        if operation == "replace_absent" and decision.seat != match.seat_of(player):
            found[operation].append((match.id, decision.seat))
        elif operation == "take_back" and decision.seat == match.seat_of(player):
            replace_absent(service.ports, "pl_other", match.id, "replace", seat=decision.seat)
            while advance(service.ports, match.id):
                pass
            found[operation].append((match.id, decision.seat))
    service.close()
    return found


def run(world: World, examples: int, seed: int, *, seconds: float) -> Report:
    """Run all of schemathesis, then again the operations with too few successes; each run takes at most `seconds`."""
    phases = "examples,coverage,fuzzing,stateful" if LONG else "fuzzing,stateful"
    report = _once(world, "--phases", phases, "--max-examples", str(examples), seed=seed, seconds=seconds)
    for again in range(1, max(MIN_SUCCESSES, MOST_RUNS)):
        rare = {one.partition(" ")[0] for one in report.gaps()}
        if report.failed or not rare:
            break
        chosen = [part for name in sorted(rare) for part in ("--include-operation-id", name)]
        # The phase coverage sends hundreds of requests to an operation, so the short form first tries without it.
        phases = "coverage,fuzzing" if LONG or again > 1 else "fuzzing"
        few = ("--phases", phases, "--max-examples", "10")
        report += _once(world | {"run": again}, *few, *chosen, seed=seed + again, seconds=seconds)
    return report


def _once(world: World, *arguments: str, seed: int, seconds: float) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        answers, config = Path(folder) / "answers.json", Path(folder) / "schemathesis.toml"
        config.write_text(f"{CONFIG.read_text(encoding='utf-8')}\n{CHAINS}", encoding="utf-8")
        environ = {
            "SCHEMATHESIS_WORLD": msgspec.json.encode(world).decode(),
            "SCHEMATHESIS_ANSWERS": str(answers),
            "SCHEMATHESIS_HOOKS": "tests.openapi.schemathesis_hooks",
            "PYTHONPATH": str(ROOT),
            # Hypothesis stores the characters of UTF-8 there. To find them takes a process a second.
            "HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis"),
        }
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"),
                *(f"{world['url']}/openapi.json", "--url", world["url"]),
                *(
                    "--checks",
                    "all",
                    "--request-timeout",
                    "60",
                    "--generation-database",
                    "none",
                    "--no-color",
                    "--continue-on-failure",
                    "--seed",
                    str(seed),
                    *arguments,
                ),
            ],
            cwd=folder,
            env=os.environ | environ,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        counted = msgspec.json.decode(answers.read_bytes(), type=dict[str, int]) if answers.exists() else {}
    return Report(done.returncode != 0, done.stdout + done.stderr, Counter(counted))
