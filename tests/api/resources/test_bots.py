"""Hosted bots over HTTP: owners manage them, players seat them, and a bot plays with its own token."""

import threading

import pytest

from tests.api.checked import Client, Json
from tests.api.conftest import problem
from tests.waiting import until

GAME = "monkeys_on_the_moon"


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def owner(client: Client) -> str:
    return client.sign_up("Ada")


def made(client: Client, owner: str, **settings: object) -> tuple[str, str]:
    """The id and the token of a new bot."""
    answer = client.do("/v1/me/bots", {"name": "Deep", **settings}, owner)
    return answer["bot"]["id"], answer["token"]


def test_an_owner_creates_changes_and_deletes_a_bot(client: Client, owner: str) -> None:
    created = client.do("/v1/me/bots", {"name": " Deep  Moon ", "games": [GAME], "about": "slow"}, owner)
    bot = created["bot"]
    assert bot == {
        "id": bot["id"], "name": "Deep Moon", "created_at": bot["created_at"], "games": [GAME], "about": "slow",
        "public": False, "seating": "owner", "max_matches": 10, "limit_ms": 10_000, "url": None,
    }  # fmt: skip
    assert client.ask("/v1/me/bots", owner)["bots"] == [bot]
    path = f"/v1/me/bots/{bot['id']}"
    changed = client.send("PATCH", path, {"name": "Deeper", "limit_ms": 2_000}, token=owner).get_json()
    assert changed == bot | {"name": "Deeper", "limit_ms": 2_000}
    assert client.send("DELETE", path, token=owner).status_code == 204
    assert client.ask("/v1/me/bots", owner)["bots"] == []
    assert problem(client.send("DELETE", path, token=owner)).code == "bot-not-found"
    assert problem(client.get("/v1/me", created["token"])).code == "token-invalid"


def test_a_repeated_creation_gives_the_same_bot(client: Client, owner: str) -> None:
    asked = {"name": "Deep", "url": "https://moon.example/"}
    first = client.do("/v1/me/bots", asked, owner, idempotency_key="once")
    path = f"/v1/me/bots/{first['bot']['id']}"
    renamed = client.send("PATCH", path, {"name": "Deeper"}, token=owner).get_json()
    assert client.do("/v1/me/bots", asked, owner, idempotency_key="once") == first | {"bot": renamed}
    assert client.ask("/v1/me", first["token"])["id"] == first["bot"]["id"]
    other = client.post("/v1/me/bots", {**asked, "name": "Other"}, owner, idempotency_key="once")
    assert problem(other).code == "idempotency-key-reused"
    assert client.do("/v1/me/bots", asked, client.sign_up(), idempotency_key="once")["bot"]["id"] != first["bot"]["id"]
    client.send("DELETE", path, token=owner)
    assert problem(client.post("/v1/me/bots", asked, owner, idempotency_key="once")).code == "idempotency-key-reused"
    assert client.ask("/v1/me/bots", owner)["bots"] == []
    assert client.do("/v1/me/bots", asked, owner)["token"] != client.do("/v1/me/bots", asked, owner)["token"]


def test_the_token_of_a_bot_plays_and_cannot_manage_its_account(client: Client, owner: str) -> None:
    bot, token = made(client, owner)
    assert client.ask("/v1/me", token)["id"] == bot
    for method, path in (("GET", "/v1/me/bots"), ("DELETE", "/v1/me"), ("POST", "/v1/me/tokens")):
        assert problem(client.send(method, path, token=token)).code == "scope-missing"
    new = client.do(f"/v1/me/bots/{bot}/token", {}, owner)["token"]
    assert problem(client.get("/v1/me", token)).code == "token-invalid"
    assert client.ask("/v1/me", new)["id"] == bot
    shown = client.ask(f"/v1/players/{bot}")
    assert (shown["kind"], shown["ratings"]) == ("hosted", [])


def test_a_match_shows_the_bot_and_its_owner(client: Client, owner: str) -> None:
    bot, _ = made(client, owner, seating="everyone")
    other = client.sign_up()
    match = client.do("/v1/matches", {"game": GAME, "seats": 2, "bots": [bot], "bot_fallback": "bot"}, other)
    assert match["bot_fallback"] == "bot"
    seat = match["seats"][0]
    assert (seat["player"], seat["name"], seat["kind"]) == (bot, "Deep", "hosted")
    assert seat["owner"] == client.ask("/v1/me", owner)["id"]
    assert match["seats"][1]["owner"] is None
    assert [one["id"] for one in client.ask("/v1/matches?bots=true")["matches"]] == [match["id"]]


def playing(client: Client, owner: str) -> tuple[str, str, Json]:
    """A running match of a person and a bot that has a decision open: the person's token, the bot's, and its task."""
    bot, token = made(client, owner)
    match = client.do("/v1/matches", {"game": GAME, "seats": 2, "bots": [bot]}, owner)["id"]
    client.do(f"/v1/matches/{match}/seats", {}, owner)
    while not (tasks := client.ask("/v1/me/tasks", token)["tasks"]):
        legal = client.ask(f"/v1/matches/{match}/legal-actions", owner)["actions"]
        client.do(f"/v1/matches/{match}/actions", {"action": legal[0]}, owner)
    return owner, token, tasks[0]


def answer(client: Client, token: str, task: Json) -> Json:
    body = {"action": task["legal_actions"][0], "decision": task["decision"]["id"]}
    sent = client.post(f"/v1/matches/{task['match']}/actions", body, token, Idempotency_Key=task["task"])
    assert sent.status_code == 201, sent.get_json()
    found: Json = sent.get_json()
    return found


def test_a_bot_plays_by_pulling_tasks_and_two_programs_answer_each_once(client: Client, owner: str) -> None:
    person, token, task = playing(client, owner)
    match = task["match"]
    assert task == client.ask("/v1/me/tasks", token)["tasks"][0]
    first, second = answer(client, token, task), answer(client, token, task)
    assert first == second
    assert client.ask(f"/v1/matches/{match}")["version"] == first["version"]
    event = client.ask(f"/v1/matches/{match}/events?after={first['version'] - 1}")["events"][0]
    assert event["by"] == f"seat:{task['seat']}"
    while True:
        tasks = client.ask("/v1/me/tasks", token)["tasks"]
        if tasks:
            assert tasks[0]["last"] == {"version": first["version"], "outcome": "accepted"}
            break
        legal = client.ask(f"/v1/matches/{match}/legal-actions", person)["actions"]
        client.do(f"/v1/matches/{match}/actions", {"action": legal[0]}, person)


def test_a_poll_waits_for_the_next_task_that_the_client_does_not_have(client: Client, owner: str) -> None:
    _, token, task = playing(client, owner)
    seen = f"/v1/me/tasks?seen={task['task']}"
    assert client.ask(seen, token)["tasks"] == []
    assert client.ask(f"{seen}&wait=0", token)["tasks"] == []
    bot = client.ask("/v1/me", token)["id"]

    def another_match() -> None:
        until(lambda: client.container.feed._waiters, 10, "a request waits")
        client.do("/v1/matches", {"game": GAME, "seats": 2, "bots": [bot, "random"]}, owner)

    thread = threading.Thread(target=another_match)
    thread.start()
    found = client.ask(f"{seen}&seen=other&wait=20", token)["tasks"]
    thread.join()
    assert [one["match"] == task["match"] for one in found] in ([False], [])


def test_a_decision_becomes_a_task_when_it_opens(client: Client, owner: str) -> None:
    bot, token = made(client, owner)
    wanted = {"game": "four_monkeys", "seats": 2, "bots": [bot, "random"], "options": {"countdown_seconds": 1}}
    client.do("/v1/matches", wanted, owner)
    assert client.ask("/v1/me/tasks", token)["tasks"] == []
    (task,) = client.ask("/v1/me/tasks?wait=20", token)["tasks"]
    late_ms = client.container.ports.now() - task["decision"]["opens_at"]
    assert 0 <= late_ms < 20_000


def test_an_owner_sees_each_task_and_the_numbers_of_each_day(client: Client, owner: str) -> None:
    _, token, task = playing(client, owner)
    bot = client.ask("/v1/me", token)["id"]
    path = f"/v1/me/bots/{bot}"
    (asked,) = client.ask(f"{path}/tasks", owner)["tasks"]
    assert (asked["task"], asked["way"], asked["outcome"], asked["played"]) == (task["task"], "pulled", None, None)
    assert client.ask(f"{path}/days", owner)["days"] == []
    receipt = answer(client, token, task)
    (ended,) = client.ask(f"{path}/tasks", owner)["tasks"]
    assert ended["outcome"] == "accepted"
    assert ended["ms"] == ended["ended_at"] - ended["asked_at"]
    assert ended["played"] == {"version": receipt["version"], "type": "action", "reason": None}
    (day,) = client.ask(f"{path}/days", owner)["days"]
    assert (day["tasks"], day["accepted"], day["reliability"]) == (1, 1, 100)
    assert day["p50_ms"] is not None
    stranger = client.sign_up()
    for name in ("tasks", "days"):
        assert problem(client.get(f"{path}/{name}", stranger)).code == "bot-not-found"


def test_tasks_are_listed_in_pages(client: Client, owner: str) -> None:
    bot, token = made(client, owner)
    for _ in range(3):
        client.do("/v1/matches", {"game": GAME, "seats": 2, "bots": [bot, "random"]}, owner)
    listed = client.ask("/v1/me/tasks", token)["tasks"]
    path = f"/v1/me/bots/{bot}/tasks"
    first = client.ask(f"{path}?limit=2", owner)
    rest = client.ask(f"{path}?limit=2&cursor={first['next']}", owner) if first["next"] else {"tasks": []}
    assert [one["task"] for one in (*first["tasks"], *rest["tasks"])] == [one["task"] for one in listed][::-1]
    assert problem(client.get(f"{path}?cursor=x", owner)).code == "invalid-parameter"


def test_everyone_sees_public_bots_beside_those_of_the_games(client: Client, owner: str) -> None:
    hidden, _ = made(client, owner)
    shown, _ = made(client, owner, public=True, about="slow", games=[GAME])
    listed = client.ask("/v1/bots")
    assert "random" in {bot["name"] for bot in listed["bots"]}
    (bot,) = listed["hosted"]
    assert (bot["id"], bot["name"], bot["owner_name"], bot["about"]) == (shown, "Deep", "Ada", "slow")
    assert bot["answers"] == {
        "tasks": 0, "accepted": 0, "declined": 0, "late": 0, "failed": 0, "reliability": None,
        "p50_ms": None, "p90_ms": None, "p99_ms": None,
    }  # fmt: skip
    assert listed["next"] is None
    client.send("PATCH", f"/v1/me/bots/{hidden}", {"public": True}, token=owner)
    pages = client.ask("/v1/bots?limit=1")
    assert (
        pages["hosted"] + client.ask(f"/v1/bots?limit=1&cursor={pages['next']}")["hosted"]
        == client.ask("/v1/bots")["hosted"]
    )
    client.send("DELETE", "/v1/me", token=owner)
    assert client.ask("/v1/bots")["hosted"] == []


@pytest.mark.parametrize(
    "url", ["http://moon.example/", "https://10.0.0.1/", "https://u:p@moon.example/", "https://moon.example:22/"]
)
def test_an_address_that_may_not_be_called_is_refused(client: Client, owner: str, url: str) -> None:
    refusal = problem(client.post("/v1/me/bots", {"name": "Deep", "url": url}, owner))
    assert refusal.code == "invalid-request"
    bot, _ = made(client, owner, url="https://moon.example/bot")
    refusal = problem(client.send("PATCH", f"/v1/me/bots/{bot}", {"url": url}, token=owner))
    assert refusal.code == "invalid-request"
    assert client.send("PATCH", f"/v1/me/bots/{bot}", {"url": None}, token=owner).get_json()["url"] is None


def test_a_secret_is_shown_at_creation_and_at_its_renewal(client: Client, owner: str) -> None:
    created = client.do("/v1/me/bots", {"name": "Deep"}, owner)
    renewed = client.do(f"/v1/me/bots/{created['bot']['id']}/secret", {}, owner)
    assert created["secret"].startswith("whsec_")
    assert renewed["secret"] != created["secret"]
    assert "whsec_" not in client.get("/v1/me/bots", owner).get_data(as_text=True)
    first, again = (
        client.do(f"/v1/me/bots/{created['bot']['id']}/secret", {}, owner, idempotency_key="once") for _ in range(2)
    )
    assert (first == again, first != renewed) == (True, True)
