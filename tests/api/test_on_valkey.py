"""The API on real servers: nothing is lost when processes are killed."""

from collections.abc import Iterator

import pytest

from service.adapters.valkey import Valkey
from service.container import Service, build
from service.settings import read
from tests.api.checked import MANY, Client
from tests.api.conftest import problem
from tests.waiting import until


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with Valkey.start(tmp_path_factory.mktemp("log"), durable=True) as server:
        yield server


@pytest.fixture(scope="module")
def service(log: Valkey, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    environ = {
        "LOG_URL": log.url,
        "QUEUE_URL": valkey_queue_url,
        "DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "REQUESTS_BY_ADDRESS": str(MANY),
    }
    built = build(read({f"MOONSTONE_{name}": value for name, value in environ.items()}))
    yield built
    built.close()


@pytest.fixture
def client(service: Service) -> Client:
    return Client(service)


def test_a_player_signs_up_plays_and_revokes_its_token(client: Client) -> None:
    ada = client.sign_up("Ada")
    made = client.do("/v1/matches", {"game": "ape_town", "seats": 2}, ada)
    path = f"/v1/matches/{made['id']}"
    client.do(f"{path}/seats", {"client_seed": "luck"}, ada)
    ben = client.sign_up("Ben")
    names = [seat["name"] for seat in client.do(f"{path}/seats", {}, ben)["seats"]]
    assert names == ["Ada", "Ben"]
    tokens = [ada, ben]
    for number in range(6):
        seat = client.ask(path)["decisions"][0]["seat"]
        action = client.ask(f"{path}/legal-actions", tokens[seat])["actions"][0]
        first, again = (
            client.post(f"{path}/actions", {"action": action}, tokens[seat], idempotency_key=f"k{number}")
            for _ in range(2)
        )
        assert first.status_code == 201
        assert again.get_data() == first.get_data()
        assert again.headers["Idempotent-Replay"] == "true"
    assert client.ask(f"{path}/audit")["checks"][0] == {
        "check": "chain",
        "result": "passed",
        "version": None,
        "detail": None,
    }
    assert made["id"] in [match["id"] for match in client.ask("/v1/matches?status=running")["matches"]]
    client.send("DELETE", "/v1/me/tokens/current", token=ada)
    assert problem(client.get("/v1/me", ada)).code == "token-invalid"


def test_an_unreachable_log_is_reported_and_no_event_is_lost(client: Client, log: Valkey) -> None:
    ada = client.sign_up("Ada")
    match = client.do("/v1/matches", {"game": "ape_town", "seats": 2, "bots": ["random"]}, ada)
    path = f"/v1/matches/{match['id']}"
    client.get(path, ada)
    log.kill()
    for answer in (client.get(path), client.post(f"{path}/seats", {}, ada, idempotency_key="sit")):
        assert problem(answer)[:2] == (503, "store-unavailable")
        assert int(answer.headers["Retry-After"]) > 0
    assert client.ask("/healthz") == {"status": "alive"}
    assert problem(client.get("/readyz"))[:2] == (503, "not-ready")
    log.restart()
    until(lambda: client.get("/readyz").status_code == 200, 60, "the service is ready again")
    assert client.ask(path, ada) == match
    assert client.do(f"{path}/seats", {}, ada, idempotency_key="sit")["status"] == "running"
