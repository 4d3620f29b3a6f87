"""A running match of two people over HTTP."""

from typing import Any, NamedTuple

from service.settings import Settings
from tests.api.checked import UNLIMITED, Client, Json
from tests.api.conftest import Container, settings


class Seated(NamedTuple):
    """A running match of Ada and Ben; `turn` is the token of the player to move, `other` that of the other player."""

    client: Client
    path: str
    match: str
    turn: str
    other: str

    def actions(self) -> list[Json]:
        found: list[Json] = self.client.ask(f"{self.path}/legal-actions", self.turn)["actions"]
        return found

    def act(self, body: object, token: str | None = None, **headers: str) -> Any:
        return self.client.post(f"{self.path}/actions", body, token or self.turn, **headers)


def seated(container: Container | None = None, **wanted: object) -> Seated:
    client = Client(container)
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    match = client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2, **wanted}, ada)["id"]
    path = f"/v1/matches/{match}"
    client.do(f"{path}/seats", {}, ada)
    to_move = client.do(f"{path}/seats", {}, ben)["decisions"][0]["seat"]
    return Seated(client, path, match, *((ada, ben) if to_move == 0 else (ben, ada)))


def unlimited() -> Settings:
    return settings(**UNLIMITED)
