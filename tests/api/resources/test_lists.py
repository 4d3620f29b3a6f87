"""Lists of public matches over HTTP: filters, the matches of a player, and refused queries."""

import pytest

from tests.api.checked import Client
from tests.api.conftest import problem

MONKEYS = {"game": "monkeys_on_the_moon", "seats": 2}


def test_filters_alone_and_together_list_the_matching_matches() -> None:
    client = Client(unchecked=True)
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    slow = {**MONKEYS, "clock": {"turn_seconds": 86_400}, "options": {"treachery": True}}
    first = client.do("/v1/matches", slow, ada)["id"]
    second = client.do("/v1/matches", {**MONKEYS, "seats": 4, "bots": ["random"]}, ben)["id"]
    client.do("/v1/matches", {**MONKEYS, "private": True}, ada)
    creator = client.ask("/v1/me", ada)["id"]
    for query, expected in (
        ("free_seats=2", [second, first]),
        ("free_seats=3", [second]),
        ("seats=2&speed=days", [first]),
        ("clock=turn&option=treachery:true&option=maximum_scorn:false", [first]),
        ("bots=false", [first]),
        (f"creator={creator}", [first]),
        (f"creator={creator}&bots=true", []),
        ("game=monkeys_on_the_moon&bots=true&seats=4&free_seats=3", [second]),
        ("status=running&game=monkeys_on_the_moon", []),
    ):
        found = client.ask(f"/v1/matches?{query}")["matches"]
        newest_first = sorted(found, key=lambda match: (match["created_at"], match["id"]), reverse=True)
        assert found == newest_first, query
        assert {match["id"] for match in found} == set(expected), query


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("status=running&bots=true", "bots"),
        ("status=ended&option=treachery:true", "option"),
        ("option=treachery", "option/0"),
        ("option=dragons:true", "option"),
        ("option=treachery:1", "option"),
        ("free_seats=0", "free_seats"),
        ("seats=2&seats=3", "seats"),
        ("clock=slow", "clock"),
    ],
)
def test_an_invalid_filter_is_refused_and_named(query: str, parameter: str) -> None:
    found = problem(Client(unchecked=True).get(f"/v1/matches?{query}"))
    assert (found.status, found.code) == (400, "invalid-parameter")
    assert [error["parameter"] for error in found.document["errors"]] == [parameter]


def test_pages_of_a_filtered_list_continue_after_the_last_match() -> None:
    client = Client(unchecked=True)
    ada = client.sign_up("Ada")
    made = [client.do("/v1/matches", {**MONKEYS, "seats": 2 + number % 2}, ada)["id"] for number in range(8)]
    found: list[str] = []
    cursor = ""
    while True:
        page = client.ask(f"/v1/matches?seats=2&bots=false&limit=3{cursor}")
        found += [match["id"] for match in page["matches"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert sorted(found) == sorted(made[::2])


def test_the_matches_of_a_player_are_the_public_ones_for_every_viewer() -> None:
    client = Client(unchecked=True)
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    public, private = (client.do("/v1/matches", {**MONKEYS, "private": hidden}, ada) for hidden in (False, True))
    for match in (public, private):
        client.do(
            f"/v1/matches/{match['id']}/seats", {"join_code": match["join_code"]} if match["private"] else {}, ben
        )
    for token in (ada, ben):
        player = client.ask("/v1/me", token)["id"]
        for viewer in (None, ada, ben):
            listed = client.ask(f"/v1/players/{player}/matches", viewer)
            assert [match["id"] for match in listed["matches"]] == [public["id"]]
    assert problem(client.get("/v1/players/nobody/matches"))[:2] == (404, "player-not-found")
