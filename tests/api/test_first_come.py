"""First come, first served, on a real gunicorn with two workers: several players grab the same tile at the same time."""

import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx
import pytest
from redis import Redis

from service import settings
from service.container import Service, build
from service.match.new_match import NewMatch
from service.usecases import accounts, match_lifecycle
from tests.api.live import Server, serving

SEATS: Final = 8
"""Two tables of four seats; at each table all four want the same tile."""


@pytest.fixture(scope="module")
def environ(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    Redis.from_url(valkey_log_url).flushall()
    return {
        "MOONSTONE_LOG_URL": valkey_log_url,
        "MOONSTONE_QUEUE_URL": valkey_queue_url,
        "MOONSTONE_DATA_DIR": str(tmp_path_factory.mktemp("store")),
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
    }


@pytest.fixture(scope="module")
def service(environ: Mapping[str, str]) -> Iterator[Service]:
    service = build(settings.read(environ), listen=False)
    yield service
    service.close()


@pytest.fixture(scope="module")
def server(environ: Mapping[str, str]) -> Iterator[Server]:
    with serving(environ) as running:
        yield running


def test_of_eight_concurrent_grabs_one_at_each_table_gets_the_tile_and_the_others_learn_its_owner(
    server: Server, service: Service
) -> None:
    players = [accounts.sign_up(service.ports, f"Player {seat}") for seat in range(SEATS)]
    wanted = NewMatch(game="four_monkeys", seats=SEATS, options={"countdown_seconds": 0})
    match_id = match_lifecycle.create(service.ports, players[0][0].id, wanted, "create").match.id
    for seat, (player, _) in enumerate(players):
        match_lifecycle.join(service.ports, player.id, match_id, f"seat-{seat}")
    path = f"http://127.0.0.1:{server.port}/v1/matches/{match_id}"
    clients = [httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=20) for _, token in players]
    ready = threading.Barrier(SEATS)
    answers: list[Any] = [None] * SEATS

    def act(seat: int, action: Mapping[str, Any]) -> None:
        ready.wait()
        answers[seat] = clients[seat].post(f"{path}/actions", json={"action": action})

    for _ in range(6):
        table = clients[0].get(path).json()["observation"]
        areas = {seat: area for area in table["areas"] for seat in area["seats"]}
        threads = []
        for seat, client in enumerate(clients):
            hand = client.get(path).json()["observation"]["seats"][seat]["hand"]
            stack = areas[seat]["stacks"][0]
            action = {"type": "grab", "stack": stack["stack"], "combo": stack["top"], "cards": hand[:1]}
            threads.append(threading.Thread(target=act, args=(seat, action)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        after = clients[0].get(path).json()["observation"]
        for area, now in zip(table["areas"], after["areas"], strict=True):
            served = [seat for seat in area["seats"] if answers[seat].status_code == httpx.codes.CREATED]
            assert len(served) == 1
            tops = {stack["stack"]: stack["top"] for stack in now["stacks"]}
            combo, number = area["stacks"][0]["top"], area["stacks"][0]["stack"]
            for seat in set(area["seats"]) - set(served):
                problem = answers[seat].json()
                assert (answers[seat].status_code, problem["code"]) == (httpx.codes.CONFLICT, "illegal-action")
                facts = {"combo": combo, "holder": served[0], "stack": number}
                reason = "tile-gone" if number in tops else "stack-gone"
                assert problem["reason"] == reason
                assert problem["facts"] == facts | ({"now": tops[number]} if number in tops else {})
                assert problem["decisions"]
    for client in clients:
        client.close()
