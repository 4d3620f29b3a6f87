"""Leaderboards, players with their ratings, their rated matches, and the rating streams as lines."""

from itertools import pairwise
from typing import Any, Final

import msgspec
import pytest

from service.automation import rating
from service.automation.bot_turns import advance
from service.match.rating import first_line, follow_entry, step
from service.repository import cursors
from tests.api.checked import Client
from tests.api.conftest import problem

GAME: Final = "ape_town"
RIVALS: Final = 11


class Rated:
    """Anna plays one rated match against each of her rivals, who leave it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.tokens = {name: client.sign_up(name) for name in ("Anna", *(f"Rival {n}" for n in range(RIVALS)))}
        self.ids = {name: client.ask("/v1/me", token)["id"] for name, token in self.tokens.items()}
        self.matches = [self.play(name) for name in self.tokens if name != "Anna"]

    def play(self, rival: str, winner: str = "Anna") -> str:
        wanted = {"game": GAME, "seats": 2, "rated": True}
        match: str = self.client.do("/v1/matches", wanted, self.tokens[winner])["id"]
        for name in (winner, rival):
            self.client.do(f"/v1/matches/{match}/seats", {}, self.tokens[name])
        for name in (rival, winner):
            self.client.do(f"/v1/matches/{match}/leave", {}, self.tokens[name])
        while advance(self.client.container.ports, match, moves=1000):
            pass
        rating.rate(self.client.container.ports, match)
        return match

    def pages(self, path: str, name: str, limit: int) -> list[Any]:
        """All entries of a list, page by page."""
        found: list[Any] = []
        cursor = ""
        while True:
            page = self.client.ask(f"{path}{'&' if '?' in path else '?'}limit={limit}{cursor}")
            assert len(page[name]) <= limit
            found += page[name]
            if page["next"] is None:
                return found
            cursor = f"&cursor={page['next']}"


@pytest.fixture(scope="module")
def played() -> Rated:
    return Rated(Client())


@pytest.fixture
def client() -> Client:
    return Client()


def test_a_leaderboard_lists_who_has_ten_opponents(played: Rated) -> None:
    board = played.client.ask(f"/v1/games/{GAME}/leaderboard")
    (first,) = board["players"]
    assert (first["rank"], first["player"], first["name"], first["kind"]) == (1, played.ids["Anna"], "Anna", "human")
    assert (first["matches"], first["won"], first["shared"], first["lost"]) == (RIVALS, RIVALS, 0, 0)
    assert first["rating"] == 1000 + (first["mu"] - 3 * first["sigma"]) * 40 // 1_000_000
    assert board["next"] is None
    assert played.client.ask(f"/v1/games/{GAME}/leaderboard?kind=human")["players"] == [first]
    assert played.client.ask(f"/v1/games/{GAME}/leaderboard?kind=hosted")["players"] == []
    assert played.client.ask("/v1/games/four_monkeys/leaderboard")["players"] == []


def test_a_player_has_its_ratings_by_game(played: Rated) -> None:
    anna = played.client.ask(f"/v1/players/{played.ids['Anna']}")
    assert (anna["id"], anna["name"], anna["kind"]) == (played.ids["Anna"], "Anna", "human")
    (of_game,) = anna["ratings"]
    assert (of_game["game"], of_game["rank"], of_game["won"]) == (GAME, 1, RIVALS)
    (rival,) = played.client.ask(f"/v1/players/{played.ids['Rival 0']}")["ratings"]
    assert (rival["rank"], rival["lost"], rival["matches"]) == (None, 1, 1)
    other = played.client.ask("/v1/me", played.client.sign_up("Eve"))["id"]
    assert played.client.ask(f"/v1/players/{other}")["ratings"] == []


@pytest.mark.parametrize("limit", [1, 4, RIVALS, 50])
def test_a_player_s_rated_matches_are_listed_newest_first_and_follow_each_other(played: Rated, limit: int) -> None:
    found = played.pages(f"/v1/players/{played.ids['Anna']}/ratings", "matches", limit)
    assert [one["match"] for one in found] == played.matches[::-1]
    assert [one["version"] for one in found] == list(range(RIVALS, 0, -1))
    for later, earlier in pairwise(found):
        assert later["before"] == earlier["after"]
    assert {(one["game"], one["rank"], one["counted"]) for one in found} == {(GAME, 1, True)}


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_the_lines_of_a_game_s_ratings_can_be_read_in_parts_and_recomputed(played: Rated, limit: int) -> None:
    lines: list[bytes] = []
    after = 0
    while True:
        answer = played.client.get(f"/v1/games/{GAME}/ratings?after={after}&limit={limit}")
        if answer.status_code == 204:
            break
        assert answer.mimetype == "application/x-ndjson"
        lines += answer.get_data().splitlines()
        after = msgspec.json.decode(lines[-1])["version"]
    line, head = first_line(GAME)
    assert lines[0] == line
    standings: dict[str, Any] = {}
    for stored in lines[1:]:
        entry = follow_entry(head, stored)
        head = entry.head
        standings |= step(standings, {}, entry.rated)[0]
    assert standings[played.ids["Anna"]].won == RIVALS
    assert head.version == RIVALS


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v1/games/chess/leaderboard", 404, "game-not-found"),
        ("/v1/games/chess/ratings", 404, "game-not-found"),
        ("/v1/players/pl_none", 404, "player-not-found"),
        ("/v1/players/pl_none/ratings", 404, "player-not-found"),
        (
            f"/v1/games/{GAME}/leaderboard?cursor={cursors.encode(['ape_town', 'human', '1:pl_a'])}",
            400,
            "invalid-parameter",
        ),
        (f"/v1/games/{GAME}/leaderboard?cursor={cursors.encode(['ape_town', 'all', 'x'])}", 400, "invalid-parameter"),
        (f"/v1/games/{GAME}/leaderboard?cursor={cursors.encode(1)}", 400, "invalid-parameter"),
        (f"/v1/games/{GAME}/leaderboard?kind=bot", 400, "invalid-parameter"),
        (f"/v1/games/{GAME}/ratings?limit=1001", 400, "invalid-parameter"),
    ],
)
def test_what_does_not_exist_gets_its_problem(client: Client, path: str, status: int, code: str) -> None:
    found, name, _ = problem(client.get(path))
    assert (found, name) == (status, code)


def test_a_cursor_of_another_set_of_games_is_refused(client: Client) -> None:
    player = client.ask("/v1/me", client.sign_up("Anna"))["id"]
    for cursor in ([1], [None] * 5, ["a"] * 4):
        assert problem(client.get(f"/v1/players/{player}/ratings?cursor={cursors.encode(cursor)}"))[0] == 400


def test_a_rated_match_says_so_and_is_found_by_it(client: Client) -> None:
    anna = client.sign_up("Anna")
    rated = client.do("/v1/matches", {"game": GAME, "seats": 2, "rated": True}, anna)
    plain = client.do("/v1/matches", {"game": GAME, "seats": 2}, anna)
    assert (rated["rated"], plain["rated"]) == (True, False)

    def found(query: str) -> list[str]:
        return [match["id"] for match in client.ask(f"/v1/matches?{query}")["matches"]]

    assert found("rated=true") == [rated["id"]]
    assert found("rated=false&rating_from=1000") == [plain["id"]]
    assert found("rating_from=1001") == found("rating_to=999") == []
    assert problem(client.get("/v1/matches?status=running&rating_to=1000"))[1] == "invalid-parameter"


def test_a_seek_may_be_rated_and_limit_the_ratings_of_others(client: Client) -> None:
    anna = client.sign_up("Anna")
    body = {"game": GAME, "seats": 2, "rated": True, "rating_from": 900, "rating_to": 1100}
    seek = client.do("/v1/seeks", body, anna)
    assert (seek["rated"], seek["rating_from"], seek["rating_to"]) == (True, 900, 1100)
