"""Creating, finding, joining, starting and leaving matches."""

import re
from typing import Any

import pytest

from service.usecases.match_index import IN_FLIGHT_MS
from service.usecases.match_lifecycle import OPEN_MATCHES
from tests.api.checked import Client, Json
from tests.api.conftest import Container, problem, settings

GAME = {"game": "monkeys_on_the_moon", "seats": 2}


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def ada(client: Client) -> str:
    return client.sign_up("Ada")


@pytest.fixture
def ben(client: Client) -> str:
    return client.sign_up("Ben")


def make(client: Client, token: str, **wanted: Any) -> Json:
    return client.do("/v1/matches", {**GAME, **wanted}, token)


def test_a_new_match_waits_for_players_and_has_a_location(client: Client, ada: str) -> None:
    response = client.post("/v1/matches", {**GAME, "options": {"treachery": True}, "clock": {"turn_seconds": 60}}, ada)
    match = response.get_json()
    assert response.headers["Location"] == f"/v1/matches/{match['id']}"
    assert response.headers["ETag"] == f'"1-{match["head"][:16]}"'
    assert (match["status"], match["version"], match["viewer"], match["observation"]) == ("open", 1, None, None)
    assert match["clock"] == {"turn_seconds": 60}
    assert match["options"]["treachery"] is True
    assert [seat["player"] for seat in match["seats"]] == [None, None]
    assert client.ask(f"/v1/matches/{match['id']}", ada) == match


def test_a_match_of_bots_starts_by_itself(client: Client, ada: str) -> None:
    match = make(client, ada, bots=["random", "greedy"])
    assert match["status"] == "running"
    assert [(seat["name"], seat["kind"]) for seat in match["seats"]] == [("random", "bot"), ("greedy", "bot")]


def test_the_same_key_creates_one_match(client: Client, ada: str, ben: str) -> None:
    first, again = (client.post("/v1/matches", GAME, ada, idempotency_key='"k"') for _ in range(2))
    assert first.get_json() == again.get_json()
    assert (first.status_code, again.status_code) == (201, 201)
    assert "Idempotent-Replay" not in first.headers
    assert again.headers["Idempotent-Replay"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    other = client.post("/v1/matches", {**GAME, "seats": 3}, ada, idempotency_key="k")
    assert problem(other)[:2] == (422, "idempotency-key-reused")
    assert client.do("/v1/matches", GAME, ben, idempotency_key="k")["id"] != first.get_json()["id"]


def test_fields_that_a_match_shows_as_null_may_be_sent_as_null(client: Client, ada: str) -> None:
    shown = make(client, ada, clock=None)
    assert shown["clock"] is None
    assert client.ask(f"/v1/matches/{shown['id']}")["clock"] is None
    wanted = {name: shown[name] for name in ("game", "options", "clock", "private", "manual_start")}
    again = make(client, ada, **wanted)
    assert {name: again[name] for name in wanted} == wanted
    client.do(f"/v1/matches/{again['id']}/bots", {"bot": "random", "seat": None}, ada)
    assert client.do(f"/v1/matches/{again['id']}/seats", {"seat": None}, ada)["status"] == "running"


@pytest.mark.parametrize("body", [{"client_seed": None}, {"join_code": None}])
def test_fields_that_no_match_shows_as_null_are_refused_as_null(client: Client, ada: str, body: Json) -> None:
    refusal = problem(client.post(f"/v1/matches/{make(client, ada)['id']}/seats", body, ada))
    assert refusal[:2] == (422, "invalid-request")


def test_a_body_without_required_fields_may_be_left_out(client: Client, ada: str) -> None:
    match = f"/v1/matches/{make(client, ada, manual_start=True)['id']}"
    untyped = {"Content-Type": ""}
    assert client.send("POST", f"{match}/seats", token=ada, data=b"", headers=untyped).status_code == 201
    client.do(f"{match}/bots", {"bot": "random"}, ada)
    assert client.send("POST", f"{match}/start", token=ada, data=b"", headers=untyped).status_code == 200
    refusal = problem(client.send("POST", f"{match}/bots", token=ada, data=b""))
    assert refusal.document["detail"] == "#/bot: Is required."


WRONG: dict[str, tuple[int, str, Json]] = {
    "game": (404, "game-not-found", {"game": "chess"}),
    "seats": (422, "invalid-options", {"seats": 9}),
    "options": (422, "invalid-options", {"options": {"komi": 6}}),
    "type of an option": (422, "invalid-options", {"options": {"treachery": 1}}),
    "bot": (404, "bot-not-found", {"bots": ["deep_blue"]}),
    "bots": (422, "invalid-options", {"bots": ["random"] * 3}),
    "unknown field": (422, "invalid-request", {"stake": 5}),
    "clock": (422, "invalid-request", {"clock": {"turn_seconds": 4}}),
    "long clock": (422, "invalid-request", {"clock": {"turn_seconds": 1_209_601}}),
    "clock's field": (422, "invalid-request", {"clock": {"turn_seconds": 60, "increment": 1}}),
    "clock's type": (422, "invalid-request", {"clock": 60}),
    "number of seats": (422, "invalid-request", {"seats": 0}),
    "type of seats": (422, "invalid-request", {"seats": "2"}),
    "type of private": (422, "invalid-request", {"private": "yes"}),
    "type of bots": (422, "invalid-request", {"bots": "random"}),
    "many bots": (422, "invalid-request", {"bots": ["random"] * 65}),
    "list of options": (422, "invalid-request", {"options": []}),
    "deep options": (400, "bad-json", {"options": {"a": [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}}),
    "huge number": (400, "bad-json", {"seats": 2**53}),
}


def test_an_empty_clock_means_no_clock(client: Client, ada: str) -> None:
    for game in ("four_monkeys", "ape_town"):
        wanted: Json = {"game": game, "seats": 2, "clock": {}}
        assert client.do("/v1/matches", wanted, ada)["clock"] is None


def test_a_clock_without_effect_is_refused_with_its_pointer(client: Client, ada: str) -> None:
    wanted = {"game": "four_monkeys", "seats": 2, "clock": {"turn_seconds": 60, "on_timeout": "resign"}}
    refusal = problem(client.post("/v1/matches", wanted, ada))
    assert refusal[:2] == (422, "invalid-options")
    assert refusal.document["errors"][0]["pointer"] == "#/clock"


@pytest.mark.parametrize(
    ("game", "wanted", "pointer", "right"),
    [
        ("monsters_on_the_moon", {"options": {"layout": "home"}}, "#/options/layout", "just_landed"),
        ("monsters_on_the_moon", {"options": {"monsters": ["witch", "ghost"]}}, "#/options/monsters/1", "vampire"),
        ("monsters_on_the_moon", {"options": {"monsters": ["witch"]}}, "#/options/monsters", "each of the 2 seats"),
        ("four_monkeys", {"options": {"round_seconds": 5}}, "#/options/round_seconds", "30 to 600"),
        ("four_monkeys", {"options": {"rounds/~": 5}}, "#/options/rounds~1~0", "countdown_seconds"),
        ("ape_town", {"options": {"komi": 6}}, "#/options/komi", "none"),
        (
            "ape_town",
            {"clock": {"turn_seconds": 9, "increment_seconds": 1}},
            "#/clock/increment_seconds",
            "bank_seconds",
        ),
    ],
)
def test_a_wrong_option_gets_a_pointer_and_the_allowed_values(
    client: Client, ada: str, game: str, wanted: Json, pointer: str, right: str
) -> None:
    refusal = problem(client.post("/v1/matches", {"game": game, "seats": 2, **wanted}, ada))
    assert refusal[:2] == (422, "invalid-options")
    (error,) = refusal.document["errors"]
    assert error["pointer"] == pointer
    assert right in error["detail"]
    assert right in refusal.document["detail"]


@pytest.mark.parametrize(("status", "code", "wrong"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_match_is_refused(client: Client, ada: str, status: int, code: str, wrong: Json) -> None:
    assert problem(client.post("/v1/matches", {**GAME, **wrong}, ada))[:2] == (status, code)
    assert client.ask("/v1/matches")["matches"] == []


def test_the_last_seat_starts_the_match(client: Client, ada: str, ben: str) -> None:
    path = f"/v1/matches/{make(client, ada)['id']}"
    first = client.do(f"{path}/seats", {"seat": 1, "client_seed": "ada's luck"}, ada)
    assert (first["viewer"], first["status"]) == (1, "open")
    assert problem(client.post(f"{path}/seats", {"seat": 1}, ben)).document["free"] == [0]
    assert problem(client.post(f"{path}/seats", {}, ada)).code == "already-seated"
    second = client.do(f"{path}/seats", {}, ben)
    assert (second["viewer"], second["status"]) == (0, "running")
    assert [seat["name"] for seat in second["seats"]] == ["Ben", "Ada"]
    assert second["observation"]["seats"][0]["hand"]
    assert problem(client.post(f"{path}/seats", {}, client.sign_up())).code == "match-not-open"


def test_a_seat_taken_twice_with_one_key_is_taken_once_even_after_later_events(client: Client, ada: str) -> None:
    path = f"/v1/matches/{make(client, ada)['id']}"
    first = client.post(f"{path}/seats", {}, ada, idempotency_key="sit")
    client.do(f"{path}/bots", {"bot": "random"}, ada)
    again = client.post(f"{path}/seats", {}, ada, idempotency_key="sit")
    assert (again.status_code, again.get_json()) == (201, first.get_json())
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["Idempotent-Replay"] == "true"


def test_a_match_started_by_hand_waits_for_its_creator(client: Client, ada: str, ben: str) -> None:
    path = f"/v1/matches/{make(client, ada, manual_start=True, bots=['random'])['id']}"
    assert problem(client.post(f"{path}/start", token=ada)).code == "seats-empty"
    assert client.do(f"{path}/seats", {}, ben)["status"] == "open"
    assert problem(client.post(f"{path}/seats", {}, client.sign_up())).code == "match-full"
    assert problem(client.post(f"{path}/start", token=ben)).code == "not-the-creator"
    assert client.do(f"{path}/start", token=ada)["status"] == "running"
    assert problem(client.post(f"{path}/start", token=ada)).code == "match-not-open"


def test_bots_are_seated_by_the_creator(client: Client, ada: str, ben: str) -> None:
    path = f"/v1/matches/{make(client, ada, seats=3)['id']}"
    assert problem(client.post(f"{path}/bots", {"bot": "random"}, ben)).code == "not-the-creator"
    assert problem(client.post(f"{path}/bots", {"bot": "deep_blue"}, ada)).document["bots"] == ["greedy", "random"]
    match = client.do(f"{path}/bots", {"bot": "greedy", "seat": 2}, ada)
    assert [seat["name"] for seat in match["seats"]] == [None, None, "greedy"]


def test_leaving_before_the_start_frees_the_seat(client: Client, ada: str, ben: str) -> None:
    path = f"/v1/matches/{make(client, ada)['id']}"
    client.do(f"{path}/seats", {}, ben)
    left = client.do(f"{path}/leave", token=ben)
    assert (left["viewer"], left["seats"][0]["player"]) == (None, None)
    assert problem(client.post(f"{path}/leave", token=ben)).code == "not-seated"
    assert client.do(f"{path}/leave", token=ada)["status"] == "aborted"
    assert problem(client.post(f"{path}/seats", {}, ben)).document["match_status"] == "aborted"


def test_a_player_who_leaves_a_running_match_still_sees_from_the_seat(client: Client, ada: str) -> None:
    path = f"/v1/matches/{make(client, ada, bots=['random'])['id']}"
    client.do(f"{path}/seats", {}, ada)
    left = client.do(f"{path}/leave", token=ada)
    assert (left["viewer"], left["seats"][1]["resigned"], left["status"]) == (1, True, "running")
    assert problem(client.post(f"{path}/leave", token=ada)).code == "not-seated"


def test_only_the_creator_the_seats_and_holders_of_the_code_see_a_private_match(
    client: Client, ada: str, ben: str
) -> None:
    match = make(client, ada, private=True)
    path = f"/v1/matches/{match['id']}"
    assert re.fullmatch("[a-z2-7]{10}", match["join_code"])
    nothing = problem(client.get("/v1/matches/nothing", ben)).document
    for answer in (
        client.get(path, ben),
        client.get(path),
        client.post(f"{path}/seats", {}, ben),
        client.post(f"{path}/seats", {"join_code": "aaaaaaaaaa"}, ben),
        client.post(f"{path}/leave", token=ben),
        client.post(f"{path}/actions", {"action": {"type": "pass"}}, ben),
        client.get(f"{path}/legal-actions", ben),
        client.get(f"{path}/audit", ben),
    ):
        assert {**problem(answer).document, "instance": nothing["instance"]} == nothing
    assert client.ask("/v1/matches")["matches"] == []
    seated = client.do(f"{path}/seats", {"join_code": match["join_code"]}, ben)
    assert seated["join_code"] == match["join_code"]
    left = client.post(f"{path}/leave", token=ben, idempotency_key="bye")
    assert "join_code" not in left.get_json()
    assert client.get(path, ben).status_code == 404
    again = client.post(f"{path}/leave", token=ben, idempotency_key="bye")
    assert (again.status_code, again.get_json()) == (200, left.get_json())


def test_a_public_match_has_no_join_code(client: Client, ada: str) -> None:
    assert "join_code" not in make(client, ada)


def test_matches_are_listed_by_status_newest_first_in_pages(client: Client, ada: str, ben: str) -> None:
    made = [make(client, ada)["id"] for _ in range(5)]
    running = make(client, ben, bots=["random", "random"])["id"]
    make(client, ben, private=True)
    found: list[str] = []
    path: str | None = "/v1/matches?limit=2"
    while path is not None:
        page = client.ask(path)
        assert len(page["matches"]) <= 2
        found += [match["id"] for match in page["matches"]]
        path = f"/v1/matches?limit=2&cursor={page['next']}" if page["next"] else None
    assert sorted(found) == sorted(made)
    assert [match["id"] for match in client.ask("/v1/matches?status=running")["matches"]] == [running]
    assert client.ask("/v1/matches?status=finished") == {"matches": [], "next": None}


def test_matches_are_listed_by_any_status_and_by_game(client: Client, ada: str) -> None:
    wanted = {"aborted": GAME, "open": {"game": "ape_town", "seats": 2}}
    made = {status: client.do("/v1/matches", wanted[status], ada)["id"] for status in wanted}
    client.do(f"/v1/matches/{made['aborted']}/leave", {}, ada)
    for status, match in made.items():
        for game in ("ape_town", "monkeys_on_the_moon"):
            found = client.ask(f"/v1/matches?status={status}&game={game}")["matches"]
            assert [(one["id"], one["status"]) for one in found] == [(match, status)] * (wanted[status]["game"] == game)
    assert problem(client.get("/v1/matches?game=chess")).document["games"] == sorted(client.container.ports.games)


def test_a_client_that_stores_next_reads_every_finished_match_once(client: Client, ada: str) -> None:
    made = [make(client, ada)["id"] for _ in range(3)]
    path = "/v1/matches?status=ended&limit=2"
    page = client.ask(path)
    assert page["matches"] == []
    for match in (made[1], made[0], made[2]):
        client.do(f"/v1/matches/{match}/leave", {}, ada)
        page = client.ask(f"{path}&cursor={page['next']}")
        assert [found["id"] for found in page["matches"]] == [match]
    assert client.ask(f"{path}&cursor={page['next']}") == {"matches": [], "next": page["next"]}
    assert [found["id"] for found in client.ask(path)["matches"]] == [made[1], made[0]]


@pytest.mark.parametrize(
    "query", ["status=suspended", "limit=0", "limit=201", "cursor=x", "cursor=MQ", "status=ended&cursor=IngI", "page=2"]
)
def test_a_wrong_list_is_refused(client: Client, query: str) -> None:
    assert problem(client.get(f"/v1/matches?{query}"))[:2] == (400, "invalid-parameter")


def test_a_player_has_a_limited_number_of_open_matches(client: Client, ada: str) -> None:
    made = [make(client, ada)["id"] for _ in range(OPEN_MATCHES)]
    assert problem(client.post("/v1/matches", GAME, ada))[:2] == (429, "too-many-open-matches")
    client.do(f"/v1/matches/{made[0]}/leave", token=ada)
    make(client, ada)


def test_the_new_matches_of_a_player_per_minute_are_limited() -> None:
    client = Client(Container(settings(creations_by_token=2)))
    ada = client.sign_up()
    answers = [client.post("/v1/matches", GAME, ada) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[0].headers["RateLimit-Policy"] == '"creations";q=2;w=60'
    assert problem(answers[-1]).code == "rate-limited"
    make(client, client.sign_up())


def test_extra_entries_of_the_index_are_omitted_and_removed(client: Client, ada: str) -> None:
    ports = client.container.ports
    match = make(client, ada)["id"]
    now = ports.now()
    ports.index.add("never", now - IN_FLIGHT_MS - 1000, "pl_x", private=False)
    ports.index.add("soon", now + 1, "pl_x", private=False)
    assert [found["id"] for found in client.ask("/v1/matches")["matches"]] == [match]
    assert ports.index.page("open", None, 10)[0].match_id == "soon"
    assert not any(entry.match_id == "never" for entry in ports.index.page("open", None, 10))
