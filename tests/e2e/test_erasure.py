"""The running service erases an account although its API and a worker are killed, and the others play on."""

from pathlib import Path
from typing import Final

import httpx

from tests.e2e.client import Player
from tests.serving import UNHURRIED, serving
from tests.waiting import until

TIMEOUT_S: Final = 30.0


def test_an_account_is_erased_although_processes_are_killed(tmp_path: Path) -> None:
    with serving(tmp_path, **UNHURRIED) as served, httpx.Client(base_url=served.url, timeout=TIMEOUT_S) as http:
        ada, ben = (Player(served.url, name) for name in ("Ada", "Ben"))
        try:
            match = ben.send("POST", "/v1/matches", {"game": "ape_town", "seats": 2})["id"]
            own = ada.send("POST", "/v1/matches", {"game": "ape_town", "seats": 2})["id"]
            for player in (ada, ben):
                player.send("POST", f"/v1/matches/{match}/seats", {})
            bearer = {"Authorization": f"Bearer {ada.token}"}
            assert http.delete("/v1/me", headers=bearer).status_code == 202
            for part in ("-m workers people", "-m api"):
                served.kill(part)

            def is_left() -> bool:
                try:
                    seat = http.get(f"/v1/matches/{match}").json()["seats"][0]
                    status = http.get(f"/v1/matches/{own}").json()["status"]
                except httpx.TransportError:  # the API was killed
                    return False
                return (seat["resigned"], seat["name"], status) == (True, None, "aborted")

            until(is_left, TIMEOUT_S, "the matches are left")
            assert http.get("/v1/me", headers=bearer).status_code == 401
            legal = ben.send("GET", f"/v1/matches/{match}/legal-actions")["actions"]
            assert legal or ben.look(match)["decisions"]
        finally:
            ada.close()
            ben.close()
