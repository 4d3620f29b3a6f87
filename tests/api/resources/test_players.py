"""Players and their tokens: creation, and revocation with immediate effect."""

import pytest

from tests.api.checked import MANY, Client
from tests.api.conftest import Container, problem, settings


@pytest.fixture
def client() -> Client:
    return Client()


def test_the_token_of_a_new_player_identifies_it(client: Client) -> None:
    made = client.do("/v1/players", {"name": "  Ada 🌙  "})
    assert made["player"]["name"] == "Ada 🌙"
    response = client.get("/v1/me", made["token"])
    assert response.get_json() == made["player"]
    assert made["token"] not in response.get_data(as_text=True)


def test_every_call_creates_another_player(client: Client) -> None:
    made = [client.do("/v1/players", {"name": "Ada"}) for _ in range(2)]
    assert len({one["player"]["id"] for one in made}) == len({one["token"] for one in made}) == 2


@pytest.mark.parametrize("name", ["A", "x" * 40, "Ωmega", "Mr. O'Neill-Smith", "<b>"])
def test_a_name_may_be_any_text(client: Client, name: str) -> None:
    assert client.do("/v1/players", {"name": name})["player"]["name"] == name


def test_an_invisible_name_is_refused_and_its_character_named(client: Client) -> None:
    refusal = problem(client.post("/v1/players", {"name": "\u3164"}))
    assert (refusal.status, refusal.code) == (422, "invalid-request")
    assert "U+3164 (HANGUL FILLER), which cannot be seen" in refusal.document["detail"]
    assert "U+3164 (HANGUL FILLER), which cannot be seen" in refusal.document["errors"][0]["detail"]


@pytest.mark.parametrize(
    "name", ["", "   ", "x" * 41, "a\nb", "a\u0000b", "\u0085", "a\u202eb", "\u2066a", 7, None, ["Ada"], True]
)
def test_an_invalid_name_is_refused(client: Client, name: object) -> None:
    refusal = problem(client.post("/v1/players", {"name": name}))
    assert refusal.status in {400, 422}
    if refusal.code == "invalid-request":
        assert refusal.document["errors"][0]["pointer"] == "#/name"


def test_a_second_token_identifies_the_same_player_and_outlives_the_first(client: Client) -> None:
    made = client.do("/v1/players", {"name": "Ada"})
    second = client.do("/v1/me/tokens", token=made["token"])["token"]
    gone = client.send("DELETE", "/v1/me/tokens/current", token=made["token"])
    assert (gone.status_code, gone.get_data()) == (204, b"")
    assert problem(client.get("/v1/me", made["token"])).code == "token-invalid"
    assert client.ask("/v1/me", second) == made["player"]


def test_new_players_are_limited_by_address() -> None:
    client = Client(Container(settings(sign_ups_by_address=2, requests_by_address=MANY)))
    answers = [client.post("/v1/players", {"name": "Ada"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[1].headers["RateLimit-Policy"] == '"sign-ups";q=2;w=600'
    assert answers[1].headers["RateLimit"].startswith('"sign-ups";r=0;t=')
    assert int(answers[2].headers["Retry-After"]) in range(200, 601)
    assert client.get("/v1/games").status_code == 200


def test_no_event_contains_a_name(client: Client) -> None:
    token = client.sign_up("Rumpelstilzchen")
    match = client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2}, token)["id"]
    seated = client.do(f"/v1/matches/{match}/seats", {}, token)
    assert seated["seats"][0]["name"] == "Rumpelstilzchen"
    assert b"Rumpel" not in b"".join(client.log(match))


def test_a_player_finds_all_its_matches_page_by_page(client: Client) -> None:
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    wanted = {"game": "monkeys_on_the_moon", "seats": 2, "private": True}
    made = [client.do("/v1/matches", wanted, ada) for _ in range(3)]
    client.do(f"/v1/matches/{made[0]['id']}/seats", {"join_code": made[0]["join_code"]}, ben)
    client.do(f"/v1/matches/{made[1]['id']}/leave", token=ada)
    assert [match["id"] for match in client.ask("/v1/me/matches", ben)["matches"]] == [made[0]["id"]]
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = client.ask(f"/v1/me/matches?limit=2{cursor and f'&cursor={cursor}'}", ada)
        found += [match["id"] for match in page["matches"]]
        cursor = page["next"]
    assert sorted(found) == sorted(match["id"] for match in made)
    active = client.ask("/v1/me/matches?active=true", ada)["matches"]
    assert {match["id"] for match in active} == {made[0]["id"], made[2]["id"]}
    assert problem(client.get("/v1/me/matches?cursor=x", ada)).code == "invalid-parameter"
