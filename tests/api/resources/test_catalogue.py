"""Games and bots, for everyone, without a token."""

import jsonschema_rs
import pytest

from service.games.registry import GAMES
from tests.api.checked import Client
from tests.api.conftest import problem


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


def test_all_games_are_listed(client: Client) -> None:
    assert [game["id"] for game in client.ask("/v1/games")["games"]] == list(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_the_page_of_a_game_has_rules_texts_components_and_options(client: Client, game: str) -> None:
    response = client.get(f"/v1/games/{game}")
    page = response.get_json()
    assert "public" in response.headers["Cache-Control"]
    assert set(page["texts"]) == {"en", "de"}
    assert page["rules"]
    assert page["components"]
    assert page["seats"] == list(GAMES[game].info.seats)
    jsonschema_rs.meta.validate(page["options"])
    is_valid = jsonschema_rs.Draft202012Validator(page["options"]).is_valid
    assert is_valid({})
    assert not is_valid({"no_such_option": 1})


def test_the_problem_of_an_unknown_game_lists_the_games(client: Client) -> None:
    refusal = problem(client.get("/v1/games/chess"))
    assert (refusal.status, refusal.code) == (404, "game-not-found")
    assert refusal.document["games"] == sorted(GAMES)


def test_every_bot_of_every_game_is_listed(client: Client) -> None:
    bots = {bot["name"]: bot["games"] for bot in client.ask("/v1/bots")["bots"]}
    assert bots["random"] == list(GAMES)
    for game in client.ask("/v1/games")["games"]:
        assert all(game["id"] in bots[name] for name in game["bots"])
