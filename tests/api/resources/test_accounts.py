"""Names, exports and erasures over HTTP."""

import json

import pytest

from service.automation.erasure import Erasures
from service.repository.ports import LogUnavailable
from tests.api.checked import Client, Json
from tests.api.conftest import problem

MATCH = {"game": "monkeys_on_the_moon", "seats": 2}


@pytest.fixture
def client() -> Client:
    return Client()


def exported(client: Client, token: str) -> list[Json]:
    with client.get("/v1/me/export", token) as response:
        assert response.status_code == 200
        assert "attachment" in response.headers["Content-Disposition"]
        return [json.loads(line) for line in response.get_data().splitlines()]


def test_a_new_name_is_shown_in_old_matches(client: Client) -> None:
    token = client.sign_up("Rumpelstilzchen")
    match = client.do("/v1/matches", MATCH, token)["id"]
    client.do(f"/v1/matches/{match}/seats", {}, token)
    seen = client.get(f"/v1/matches/{match}")
    changed = client.send("PATCH", "/v1/me", {"name": "  Ada 🌙  "}, token=token)
    assert (changed.status_code, changed.get_json()["name"]) == (200, "Ada 🌙")
    view = client.ask(f"/v1/matches/{match}")
    assert (view["creator_name"], view["seats"][0]["name"]) == ("Ada 🌙", "Ada 🌙")
    # As documented, a name is no part of a version.
    assert client.get(f"/v1/matches/{match}", if_none_match=seen.headers["ETag"]).status_code == 304


@pytest.mark.parametrize("name", ["", "   ", "x" * 41, "a\nb", "\u3164", "a\u202eb", 7, None])
def test_a_name_follows_the_rule_for_names(client: Client, name: object) -> None:
    token = client.sign_up("Ada")
    refusal = problem(client.send("PATCH", "/v1/me", {"name": name}, token=token))
    assert refusal.code in {"invalid-request", "bad-json"}
    assert client.ask("/v1/me", token)["name"] == "Ada"


def test_an_export_has_the_account_its_matches_and_only_what_the_player_caused(client: Client) -> None:
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    match = client.do("/v1/matches", {**MATCH, "private": True}, ada, idempotency_key="create-it")
    for token in (ben, ada):
        seated = {"join_code": match["join_code"], "client_seed": f"dice of {token[-4:]}"}
        client.do(f"/v1/matches/{match['id']}/seats", seated, token)
    for _ in range(3):
        for token in (ada, ben):
            legal = client.ask(f"/v1/matches/{match['id']}/legal-actions", token)["actions"]
            if legal:
                client.do(f"/v1/matches/{match['id']}/actions", {"action": legal[0]}, token)
    left = client.do("/v1/matches", MATCH, ada)["id"]
    client.do("/v1/me/tokens", {"label": "My bot"}, ada)
    client.do("/v1/seeks", MATCH, ada)
    first, *matches, last = exported(client, ada)
    assert (first["type"], first["player"]) == ("account", client.ask("/v1/me", ada))
    assert [token["label"] for token in first["tokens"]] == ["", "My bot"]
    assert first["has_recovery_code"]
    assert first["seek"]["wanted"]["game"] == MATCH["game"]
    assert last == {"type": "end", "matches": 2}
    found = {one["match"]["id"]: one for one in matches}
    assert found.keys() == {match["id"], left}
    events = client.ask(f"/v1/matches/{match['id']}/events?limit=500", ada)["events"]
    seat = found[match["id"]]["match"]["seat"]
    player = first["player"]["id"]
    sent = found[match["id"]]["commands"]
    assert len(sent) == len(found[match["id"]]["events"])
    assert {"key": "create-it", "version": 1} in sent
    assert found[match["id"]]["events"] == [one for one in events if one["by"] in {f"seat:{seat}", f"player:{player}"}]
    text = json.dumps([first, *matches])
    assert f"dice of {ada[-4:]}" in text
    assert f"dice of {ben[-4:]}" not in text
    assert ada not in text


def test_an_export_has_no_events_of_the_next_player_in_the_seat(client: Client) -> None:
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    match = client.do("/v1/matches", {**MATCH, "manual_start": True}, ada)["id"]
    client.do(f"/v1/matches/{match}/seats", {"seat": 0}, ada)
    client.do(f"/v1/matches/{match}/leave", {}, ada)
    client.do(f"/v1/matches/{match}/seats", {"seat": 0}, ben)
    client.do(f"/v1/matches/{match}/leave", {}, ben)
    (line,) = exported(client, ada)[1:-1]
    assert [event["type"] for event in line["events"]] == ["match_created", "seat_taken", "seat_left"]


def test_an_export_has_what_the_player_did_in_matches_that_the_player_left_before_their_start(client: Client) -> None:
    ada, ben = client.sign_up("Ada"), client.sign_up("Ben")
    hidden = client.do("/v1/matches", {**MATCH, "private": True}, ada)
    freed = client.do("/v1/matches", MATCH, ada)["id"]
    code = {"join_code": hidden["join_code"], "client_seed": "seven"}
    client.do(f"/v1/matches/{hidden['id']}/seats", code, ben, idempotency_key="in")
    client.do(f"/v1/matches/{hidden['id']}/leave", {"only": "open"}, ben, idempotency_key="out")
    client.do(f"/v1/matches/{freed}/seats", {"seat": 1}, ben)
    client.do(f"/v1/matches/{freed}/free", {"seat": 1}, ada)
    *lines, end = exported(client, ben)[1:]
    assert end == {"type": "end", "matches": 2}
    assert {line["type"] for line in lines} == {"left"}
    found = {line["match"]: line for line in lines}
    taken, left = found[hidden["id"]]["events"]
    assert (taken["type"], taken["data"]["client_seed"], left["type"]) == ("seat_taken", "seven", "seat_left")
    assert found[hidden["id"]]["commands"] == [{"key": "in", "version": 2}, {"key": "out", "version": 3}]
    assert [event["type"] for event in found[freed]["events"]] == ["seat_taken"]
    client.do(f"/v1/matches/{hidden['id']}/seats", code, ben)
    assert sorted(line["type"] for line in exported(client, ben)) == ["account", "end", "left", "match"]


def test_a_large_export_is_complete(client: Client) -> None:
    token = client.sign_up()
    made = {client.do("/v1/matches", {**MATCH, "bots": ["random"] * 2}, token)["id"] for _ in range(45)}
    lines = exported(client, token)
    assert {line["match"]["id"] for line in lines[1:-1]} == made
    assert lines[-1] == {"type": "end", "matches": 45}


def unavailable(*_: object) -> None:
    raise LogUnavailable("unavailable")


@pytest.mark.parametrize("fault", ["revoked", "erased", "log"])
def test_an_export_that_is_interrupted_ends_without_its_last_line(
    client: Client, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = client.sign_up()
    for _ in range(3):
        client.do("/v1/matches", MATCH, token)
    bearer = {"Authorization": f"Bearer {token}"}
    response = client.app.test_client().get("/v1/me/export", headers=bearer, buffered=False)
    lines = response.iter_encoded()
    found = [next(lines), next(lines)]
    match fault:
        case "revoked":
            client.send("DELETE", "/v1/me/tokens/current", token=token)
        case "erased":
            client.send("DELETE", "/v1/me", token=token)
        case _:
            monkeypatch.setattr(client.container.ports.log, "commands", unavailable)
    found += lines
    response.close()
    assert [json.loads(line)["type"] for line in found] == ["account", "match"]


def test_an_erased_account_is_gone_and_its_matches_go_on(client: Client) -> None:
    made, ben = client.do("/v1/players", {"name": "Rumpelstilzchen"}), client.sign_up("Ben")
    ada, player = made["token"], made["player"]["id"]
    match = client.do("/v1/matches", MATCH, ada)["id"]
    for token in (ada, ben):
        client.do(f"/v1/matches/{match}/seats", {}, token)
    assert client.send("DELETE", "/v1/me", token=ada).status_code == 202
    assert problem(client.get("/v1/me", ada)).code == "token-invalid"
    refusal = problem(client.post("/v1/recoveries", {"recovery_code": made["recovery_code"]}))
    assert refusal.code == "recovery-code-invalid"
    assert problem(client.get(f"/v1/players/{player}/matches")).code == "player-not-found"
    Erasures(client.container.ports).step()
    view = client.ask(f"/v1/matches/{match}", ben)
    assert [(seat["player"], seat["name"], seat["resigned"]) for seat in view["seats"]] == [
        (player, None, True),
        (view["seats"][1]["player"], "Ben", False),
    ]
    assert "Rumpel" not in client.get("/v1/matches?status=running").get_data(as_text=True)


def test_an_account_is_erased_only_with_its_scope(client: Client) -> None:
    token = client.sign_up()
    playing = client.do("/v1/me/tokens", {"scopes": ["watch", "play", "bots"]}, token)["token"]
    assert problem(client.send("DELETE", "/v1/me", token=playing)).code == "scope-missing"
    assert client.get("/v1/me", token).status_code == 200
