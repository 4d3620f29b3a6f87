"""The largest action in a legal list fits into a request."""

import msgspec

from api.http.bodies import MAX_BODY
from service.games.four_monkeys.actions import LARGEST_HAND, Grab
from service.games.four_monkeys.components import BOX
from tests.api.checked import Client, Json

OPTIONS = {"countdown_seconds": 0, "round_seconds": 600}


def test_a_hand_of_more_than_one_deck_can_be_put_under_one_combo() -> None:
    client = Client(unchecked=True)
    tokens = [client.sign_up() for _ in range(6)]
    match = client.do("/v1/matches", {"game": "four_monkeys", "seats": 6, "options": OPTIONS}, tokens[0])["id"]
    for token in tokens:
        client.do(f"/v1/matches/{match}/seats", {}, token)

    def legal(kind: str) -> Json:
        listed = client.ask(f"/v1/matches/{match}/legal-actions", tokens[0])["actions"]
        found: Json = next(action for action in listed if action["type"] == kind)
        return found

    def act(action: Json) -> None:
        client.do(f"/v1/matches/{match}/actions", {"action": action}, tokens[0])

    for _ in range(30):
        grab = legal("grab")
        act({**grab, "cards": grab["cards"]["any_of"][:1]})
    for _ in range(30):
        act(legal("burn"))
    grab = legal("grab")
    assert grab["cards"]["max"] == len(grab["cards"]["any_of"]) == 5 + 30 * 3
    act({**grab, "cards": grab["cards"]["any_of"]})
    assert legal("grab")["cards"]["max"] == 5


def test_the_largest_hand_needs_at_most_half_of_a_body() -> None:
    hand = tuple(sorted(BOX.cards, key=len)[-LARGEST_HAND:])
    assert 2 * len(msgspec.json.encode({"action": Grab(0, "K10-6", hand)})) <= MAX_BODY
