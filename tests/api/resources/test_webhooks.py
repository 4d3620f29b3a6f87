"""Webhooks over HTTP: create, list, change, delete, renew the secret, test, and the list of deliveries."""

import pytest
from msgspec.structs import replace

from service.repository.signing import OVERLAP_MS
from service.repository.webhooks import NOTIFIED, Attempt
from service.usecases.webhooks import MAX_WEBHOOKS
from tests.api.checked import UNLIMITED, Client
from tests.api.conftest import Container, problem, settings

URL = "https://moon.example/hook"
PATH = "/v1/me/webhooks"


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def token(client: Client) -> str:
    return client.sign_up()


def test_the_secret_is_shown_once_and_nothing_of_it_is_stored(client: Client, token: str) -> None:
    made = client.do(PATH, {"url": URL}, token)
    assert made["secret"].startswith("whsec_")
    answer = client.get(PATH, token)
    assert made["secret"] not in answer.get_data(as_text=True)
    (listed,) = answer.get_json()["webhooks"]
    assert {**listed, "secret": made["secret"]} == made
    assert (listed["events"], listed["status"], listed["previous_secret_until"]) == (list(NOTIFIED), "active", None)
    assert made["secret"].removeprefix("whsec_") not in repr(client.container.ports.webhooks.__dict__)


def test_a_repeated_creation_gives_the_same_webhook(client: Client, token: str) -> None:
    asked = {"url": URL, "events": ["finished"]}
    made = client.do(PATH, asked, token, idempotency_key="once")
    assert client.do(PATH, asked, token, idempotency_key="once") == made
    path = f"{PATH}/{made['id']}"
    client.send("PATCH", path, {"events": ["started"]}, token=token)
    assert client.do(PATH, asked, token, idempotency_key="once") == made | {"events": ["started"]}
    other = client.post(PATH, {"url": URL}, token, idempotency_key="once")
    assert problem(other).code == "idempotency-key-reused"
    assert [one["id"] for one in client.ask(PATH, token)["webhooks"]] == [made["id"]]
    client.send("DELETE", path, token=token)
    assert problem(client.post(PATH, asked, token, idempotency_key="once")).code == "idempotency-key-reused"
    assert client.do(PATH, asked, client.sign_up(), idempotency_key="once")["id"] != made["id"]
    assert client.do(PATH, asked, token)["id"] != client.do(PATH, asked, token)["id"]


def test_a_new_secret_differs_and_the_previous_one_is_valid_for_a_day(client: Client, token: str) -> None:
    made = client.do(PATH, {"url": URL}, token)
    renewed = client.do(f"{PATH}/{made['id']}/secret", {}, token)
    assert renewed["secret"] != made["secret"]
    assert 0 <= renewed["previous_secret_until"] - client.container.ports.now() - OVERLAP_MS + 60_000 <= 60_000
    assert client.ask(PATH, token)["webhooks"][0]["previous_secret_until"] == renewed["previous_secret_until"]
    assert client.do(f"{PATH}/{made['id']}/secret", {}, token)["secret"] != renewed["secret"]


def test_a_renewal_that_is_repeated_gives_the_same_secret(client: Client, token: str) -> None:
    made = client.do(PATH, {"url": URL}, token)
    first, again = (client.do(f"{PATH}/{made['id']}/secret", {}, token, idempotency_key="once") for _ in range(2))
    assert again == first
    newest = client.do(f"{PATH}/{made['id']}/secret", {}, token, idempotency_key="twice")
    assert newest["secret"] != first["secret"]
    assert client.do(f"{PATH}/{made['id']}/secret", {}, token, idempotency_key="once") == newest


def test_a_webhook_is_changed_suspended_and_made_active_again(client: Client, token: str) -> None:
    path = f"{PATH}/{client.do(PATH, {'url': URL, 'events': ['finished']}, token)['id']}"

    def change(**body: object) -> tuple[str, list[str], str, str | None]:
        seen = client.send("PATCH", path, body, token=token).get_json()
        return seen["url"], seen["events"], seen["status"], seen["reason"]

    assert change() == (URL, ["finished"], "active", None)
    assert change(active=False) == (URL, ["finished"], "suspended", "paused")
    assert change(events=["started", "your_turn"]) == (URL, ["started", "your_turn"], "suspended", "paused")
    assert problem(client.post(f"{path}/test", {}, token)).code == "webhook-not-active"
    assert change(active=True) == (URL, ["started", "your_turn"], "active", None)
    change(active=False)
    other = "https://moon.example/other"
    assert change(url=other) == (other, ["started", "your_turn"], "active", None)
    assert client.send("DELETE", path, token=token).status_code == 204
    assert problem(client.send("DELETE", path, token=token)).code == "webhook-not-found"
    assert client.ask(PATH, token)["webhooks"] == []


@pytest.mark.parametrize(
    "url",
    [
        "http://moon.example/",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://169.254.169.254/latest",
        "https://[::ffff:10.0.0.1]/",
        "https://user:pass@moon.example/",
        "https://moon.example:22/",
        "https://moon.example/#a",
        "moon.example",
    ],
)
def test_a_url_that_must_not_be_called_is_refused_with_a_sentence(client: Client, token: str, url: str) -> None:
    made = client.do(PATH, {"url": URL}, token)["id"]
    for answer in (
        client.post(PATH, {"url": url}, token),
        client.send("PATCH", f"{PATH}/{made}", {"url": url}, token=token),
    ):
        refused = problem(answer)
        assert (refused.status, refused.code) == (422, "invalid-request")
        (error,) = refused.document["errors"]
        assert error["pointer"] == "#/url"
        assert error["detail"].startswith("Must ")
    assert [one["url"] for one in client.ask(PATH, token)["webhooks"]] == [URL]


@pytest.mark.parametrize("is_allowed", [True, False])
def test_this_machine_may_be_called_if_the_operator_allows_it(is_allowed: bool) -> None:
    client = Client(Container(settings(**UNLIMITED, loopback_calls=is_allowed)))
    token = client.sign_up()

    def detail(url: str) -> str | None:
        answer = client.post(PATH, {"url": url}, token)
        return None if answer.status_code == 201 else problem(answer).document["errors"][0]["detail"]

    setting = "its operator starts it with MOONSTONE_LOOPBACK_CALLS=1."
    for url in ("http://localhost:8000/", "https://127.0.0.1:8000/"):
        assert (detail(url) or setting).endswith(setting)
        assert (detail(url) is None) == is_allowed
    assert (detail("http://localhost:80/") or "").endswith("8443, or from 1024." if is_allowed else "https://.")
    assert (detail("https://10.0.0.1/") or "").endswith("not public.")


def test_only_the_player_sees_a_webhook(client: Client, token: str) -> None:
    path = f"{PATH}/{client.do(PATH, {'url': URL}, token)['id']}"
    other = client.sign_up()
    assert client.ask(PATH, other)["webhooks"] == []
    answers = (
        client.send("PATCH", path, {}, token=other),
        client.post(f"{path}/secret", {}, other),
        client.post(f"{path}/test", {}, other),
        client.get(f"{path}/deliveries", other),
        client.post(f"{path}/deliveries/x", {}, other),
        client.send("DELETE", path, token=other),
    )
    assert {problem(answer).code for answer in answers} == {"webhook-not-found"}
    assert len(client.ask(PATH, token)["webhooks"]) == 1


def test_a_player_has_at_most_ten_webhooks(client: Client, token: str) -> None:
    made = [client.do(PATH, {"url": URL}, token)["id"] for _ in range(MAX_WEBHOOKS)]
    assert problem(client.post(PATH, {"url": URL}, token)).code == "too-many-webhooks"
    client.send("DELETE", f"{PATH}/{made[0]}", token=token)
    client.do(PATH, {"url": URL}, token)


def test_changes_count_as_changes_of_the_account() -> None:
    client = Client(Container(settings(**{**UNLIMITED, "account_changes_by_token": 3})))
    token = client.sign_up()
    path = f"{PATH}/{client.do(PATH, {'url': URL}, token)['id']}"
    client.do(f"{path}/test", {}, token)
    client.do(f"{path}/secret", {}, token)
    for answer in (client.post(PATH, {"url": URL}, token), client.send("PATCH", path, {}, token=token)):
        assert problem(answer).code == "rate-limited"


def test_the_deliveries_of_a_webhook_are_listed_in_pages_and_sent_again(client: Client, token: str) -> None:
    ports, player = client.container.ports, client.ask("/v1/me", token)["id"]
    path = f"{PATH}/{client.do(PATH, {'url': URL}, token)['id']}"
    other = f"{PATH}/{client.do(PATH, {'url': URL}, token)['id']}"
    sent = {client.do(f"{path}/test", {}, token)["notice"] for _ in range(5)}
    client.do(f"{other}/test", {}, token)
    found, query = [], "?limit=2"
    while True:
        page = client.ask(f"{path}/deliveries{query}", token)
        found += page["deliveries"]
        if page["next"] is None:
            break
        query = f"?limit=2&cursor={page['next']}"
    assert sorted(one["notice"] for one in found) == sorted(sent)
    assert {(one["type"], one["match"], one["status"], one["attempts"]) for one in found} == {
        ("test", None, "pending", 0)
    }
    taken = next(one for one in ports.webhooks.take(player, ports.now(), 1, 99) if one.notice == found[0]["notice"])
    last = Attempt(ports.now(), 12, status=500)
    ports.webhooks.settle(player, taken, replace(taken, status="failed", attempts=9, last=last, next_at=None))
    seen = client.ask(f"{path}/deliveries?limit=1", token)["deliveries"][0]
    assert (seen["status"], seen["answer"], seen["failure"], seen["ms"], seen["next_at"]) == (
        "failed",
        500,
        None,
        12,
        None,
    )
    again = client.do(f"{path}/deliveries/{taken.notice}", {}, token)
    assert (again["status"], again["attempts"]) == ("pending", 0)
    assert again["next_at"] is not None
    assert problem(client.post(f"{path}/deliveries/none", {}, token)).code == "delivery-not-found"
    assert problem(client.get(f"{path}/deliveries?cursor=abc", token)).code == "invalid-parameter"


def test_an_erased_player_has_no_webhooks(client: Client, token: str) -> None:
    ports, player = client.container.ports, client.ask("/v1/me", token)["id"]
    made = client.do(PATH, {"url": URL}, token)["id"]
    client.do(f"{PATH}/{made}/test", {}, token)
    exported = client.get("/v1/me/export", token).get_data(as_text=True)
    assert URL in exported
    assert "whsec_" not in exported
    client.send("DELETE", "/v1/me", token=token)
    assert (ports.webhooks.of((player,)), list(ports.webhooks.deliveries(player))) == ({}, [])
