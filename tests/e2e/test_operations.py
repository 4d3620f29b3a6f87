"""The logs and metrics of a service in use: every line is logfmt, no line has a secret, and the counts are right."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from service.adapters.valkey import LOG, Valkey
from tests.e2e.client import Json, Player
from tests.serving import SMALL, Serving, serving
from tests.waiting import until

PASSWORD = "swordfish-of-the-store"
NAMES = ("Zaphod Beeblebrox", "Trillian")
FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[^\s"=]+)(?: |$)')


@contextmanager
def server_with_password(folder: Path, *, durable: bool) -> Iterator[tuple[Valkey, str]]:
    """A server that requires a password, and its URL with the password."""
    with Valkey.start(folder, durable=durable) as server:
        with Redis.from_url(server.url) as client:
            client.config_set("requirepass", PASSWORD)
        yield server, server.url.replace("//", f"//:{PASSWORD}@")


class Played(NamedTuple):
    """A finished private match, and every text of it that is secret."""

    match: str
    events: tuple[Json, ...]
    replays: int
    secrets: tuple[str, ...]


def played(served: Serving) -> Played:
    players = [Player(served.url, name) for name in NAMES]
    body = {"game": "monkeys_on_the_moon", "seats": 3, "bots": ["random"], "private": True}
    created = players[0].send("POST", "/v1/matches", body)
    match, code = created["id"], created["join_code"]
    seeds = [f"client seed of {number}" for number in range(2)]
    for player, seed in zip(players, seeds, strict=True):
        player.send("POST", f"/v1/matches/{match}/seats", {"client_seed": seed, "join_code": code})
    # Secrets in wrong places: in a query, in a body that is invalid, in an invalid token.
    for path in (f"/v1/me?token={players[0].token}", f"/v1/matches/{code}", f"/{players[0].token}"):
        assert players[0].answer("GET", path).is_client_error
    assert players[0].answer("POST", f"/v1/matches/{match}/seats", {"secret": seeds[0]}).is_client_error
    wrong = httpx.get(f"{served.url}/v1/me", headers={"Authorization": f"Bearer {players[1].token}x"})
    assert wrong.status_code == httpx.codes.UNAUTHORIZED
    victims = {5: "-m workers people", 10: "-m api"}
    replays = 0
    while players[0].look(match)["status"] != "finished":
        for player in players:
            action = player.choose(match)
            if action is None:
                continue
            key = {"Idempotency-Key": f"key-{replays}"}
            for _ in range(2):
                player.send("POST", f"/v1/matches/{match}/actions", {"action": action}, **key)
            replays += 1
            if replays in victims:
                served.kill(victims[replays])
    lines = players[0].answer("GET", f"/v1/matches/{match}/export").content.splitlines()
    events = tuple(json.loads(line) for line in lines[1:])
    tokens = [player.token for player in players]
    for player in players:
        player.close()
    return Played(match, events, replays, (*tokens, code, *seeds, *NAMES, events[-1]["data"]["server_seed"], PASSWORD))


def fields(line: str) -> Mapping[str, str]:
    found = {}
    at = 0
    while at < len(line):
        field = FIELD.match(line, at)
        assert field, f"not logfmt: {line}"
        name, value = field.groups()
        found[name] = json.loads(value) if value.startswith('"') else value
        at = field.end()
    return found


def test_a_match_during_kills_is_counted_correctly_and_logged_without_a_secret(tmp_path: Path) -> None:
    lines = tmp_path / "stderr"
    with (
        server_with_password(tmp_path / "log", durable=True) as (log, log_url),
        server_with_password(tmp_path / "queue", durable=False) as (queue, queue_url),
        lines.open("wb") as stderr,
        serving(tmp_path, stderr, MOONSTONE_LOG_URL=log_url, MOONSTONE_QUEUE_URL=queue_url, **SMALL) as served,
    ):
        match = played(served)
        counts = counted(httpx.get(f"{served.url}/metrics").text, match)
        queue.kill()
        log.kill()
        until(lambda: b"the log is not available" in lines.read_bytes(), 60, "the faults are logged")

    for type_ in ("action", "match_started", "match_scored", "seed_revealed"):
        expected = sum(event["type"] == type_ for event in match.events)
        # Counting follows the append, so a kill between the two loses the count.
        assert expected - 2 <= counts[f"events_appended_total game=monkeys_on_the_moon type={type_}"] <= expected
    assert match.replays - 2 <= counts["commands_total result=replayed"]
    assert counts["chain_breaks_total"] == 0
    assert counts["streams_open"] == 0
    assert counts["overdue_seconds"] < 5
    assert counts["refusals_total code=token-invalid"] == 1
    assert counts["bot_answer_seconds_count game=monkeys_on_the_moon"] > 5
    assert counts["due_wait_seconds_count kind=job"] > 5
    acted = "request_seconds_count method=POST route=/v1/matches/<match_id>/actions status=201"
    assert counts[acted] >= 2 * match.replays - 2

    records = [fields(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert all(record.keys() >= {"at", "level", "logger", "pid", "message"} for record in records)
    assert {record["logger"] for record in records} >= {"gunicorn.error", "moonstone.access", "moonstone.supervisor"}
    access = [record for record in records if record["logger"] == "moonstone.access"]
    assert all(record.keys() >= {"request", "method", "route", "status", "ms"} for record in access)
    log_files = [lines, *tmp_path.rglob(LOG)]
    assert len(log_files) >= 3
    for file in log_files:
        text = file.read_text(encoding="utf-8")
        assert [secret for secret in match.secrets if secret in text] == []
        assert "moon_" not in text


def counted(text: str, match: Played) -> Mapping[str, float]:
    """The counts by names and labels; checks that no label contains text from a player."""
    counts = {}
    private = {match.match, *match.secrets, *(event["by"] for event in match.events)} - {"worker"}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert not private & set(sample.labels.values())
            labels = "".join(f" {name}={value}" for name, value in sorted(sample.labels.items()))
            counts[sample.name.removeprefix("moonstone_") + labels] = sample.value
    return counts
