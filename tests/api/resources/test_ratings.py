"""Leaderboards, players with their ratings, their rated matches, and the rating streams as lines."""

from itertools import pairwise
from typing import Any, Final

import msgspec
import pytest

from events.record import digest
from service.automation import rating
from service.automation.bot_turns import advance
from service.match.rating import first_line, follow_entry, step, stream_of
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
    assert (of_game["game"], of_game["rank"], of_game["won"], of_game["opponents"]) == (GAME, 1, RIVALS, 10)
    (rival,) = played.client.ask(f"/v1/players/{played.ids['Rival 0']}")["ratings"]
    assert (rival["rank"], rival["lost"], rival["matches"], rival["opponents"]) == (None, 1, 1, 1)
    other = played.client.ask("/v1/me", played.client.sign_up("Eve"))["id"]
    assert played.client.ask(f"/v1/players/{other}")["ratings"] == []


def test_an_export_has_the_ratings_and_what_each_match_did_to_them(played: Rated) -> None:
    with played.client.get("/v1/me/export", played.tokens["Anna"]) as response:
        first, *matches, _ = map(msgspec.json.decode, response.get_data().splitlines())
    assert first["ratings"] == played.client.ask(f"/v1/players/{played.ids['Anna']}")["ratings"]
    history = played.pages(f"/v1/players/{played.ids['Anna']}/ratings", "matches", 50)
    wanted = {one["match"]: {name: one[name] for name in ("counted", "rank", "before", "after")} for one in history}
    assert {one["match"]["id"]: one["rating"] for one in matches} == wanted


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


def hashes(played: Rated) -> list[str]:
    """The hashes of the lines of the game's ratings."""
    return [digest(line) for line in played.client.get(f"/v1/games/{GAME}/ratings?limit=1000").get_data().splitlines()]


@pytest.mark.parametrize("after", [0, 1, RIVALS])
@pytest.mark.parametrize("digits", [16, 64])
def test_a_reader_that_continues_can_check_that_its_entries_are_still_there(
    played: Rated, after: int, digits: int
) -> None:
    head = hashes(played)[after][:digits]
    path = f"/v1/games/{GAME}/ratings?after={after}&head="
    assert played.client.get(path + head).status_code == (204 if after == RIVALS else 200)
    other = "".join("0" if digit == "f" else "f" for digit in head)
    assert problem(played.client.get(path + other))[:2] == (409, "history-diverged")


def test_a_reader_that_has_more_entries_than_the_service_is_told_so(played: Rated) -> None:
    answer = played.client.get(f"/v1/games/{GAME}/ratings?after={RIVALS + 1}")
    assert problem(answer)[:2] == (409, "history-diverged")


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"at":1}'])
@pytest.mark.parametrize(("after", "limit", "is_read"), [(0, 1, True), (0, 3, False), (1, 1, False), (2, 1, False)])
def test_a_damaged_entry_is_not_sent(
    played: Rated, monkeypatch: pytest.MonkeyPatch, damage: bytes, after: int, limit: int, is_read: bool
) -> None:
    ports = played.client.container.ports
    stored = list(ports.log.read(stream_of(GAME)).events)
    stream = ports.log._matches[stream_of(GAME)]  # type: ignore[attr-defined]
    monkeypatch.setattr(stream, "events", [stored[0], damage, *stored[2:]])
    answer = played.client.get(f"/v1/games/{GAME}/ratings?after={after}&limit={limit}")
    if is_read:
        assert answer.get_data().splitlines()[-1] == stored[0]
    else:
        status, code, document = problem(answer)
        assert (status, code, document["version"]) == (503, "ratings-corrupt", 2)


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        *(("GET", rest) for rest in ("", "/events", "/legal-actions", "/export", "/audit", "/board.svg", "/timeline")),
        *(("POST", rest) for rest in ("/seats", "/start", "/leave")),
    ],
)
@pytest.mark.parametrize("kind", ["ratings", "match"])
def test_another_stream_of_the_log_is_no_match(played: Rated, method: str, rest: str, kind: str) -> None:
    """A request for it reads nothing: a rating stream may be long."""
    other = {"ratings": stream_of(GAME), "match": f"match:{played.matches[0]}"}[kind]
    answer = played.client.send(method, f"/v1/matches/{other}{rest}", token=played.tokens["Anna"])
    assert problem(answer)[:2] == (404, "match-not-found")


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
        (f"/v1/games/{GAME}/leaderboard?cursor={cursors.encode([GAME, 'all', '1:'])}", 400, "invalid-parameter"),
        (f"/v1/games/{GAME}/ratings?head=0123", 400, "invalid-parameter"),
        ("/v1/matches?rating_from=1001&rating_to=1000", 400, "invalid-parameter"),
        (f"/v1/games/{GAME}/leaderboard?kind=bot", 400, "invalid-parameter"),
        (f"/v1/games/{GAME}/ratings?limit=1001", 400, "invalid-parameter"),
    ],
)
def test_what_does_not_exist_gets_its_problem(client: Client, path: str, status: int, code: str) -> None:
    found, name, _ = problem(client.get(path))
    assert (found, name) == (status, code)


def test_a_cursor_of_another_set_of_games_is_refused(client: Client) -> None:
    player = client.ask("/v1/me", client.sign_up("Anna"))["id"]
    for cursor in ([1], [None] * 5, ["a"] * 4, [0] * 4, [-1] * 4, [10**13] * 4, [1.0] * 4):
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
    ben = client.sign_up("Ben")
    answer = client.post("/v1/seeks", {**body, "rating_from": 1101}, ben)
    assert problem(answer)[:2] == (422, "invalid-options")


def test_an_erased_player_keeps_its_ratings_without_a_name() -> None:
    played = Rated(Client())
    anna = played.ids["Anna"]
    assert played.client.send("DELETE", "/v1/me", token=played.tokens["Anna"]).status_code < 300
    (leader,) = played.client.ask(f"/v1/games/{GAME}/leaderboard")["players"]
    assert (leader["player"], leader["name"], leader["won"]) == (anna, None, RIVALS)
    for path in (f"/v1/players/{anna}", f"/v1/players/{anna}/ratings"):
        assert problem(played.client.get(path))[:2] == (404, "player-not-found")
