"""Tokens with labels, scopes and an expiry, and the recovery code, over HTTP."""

import pytest

from service.usecases.accounts import MAX_TOKENS
from tests.api.checked import MANY, UNLIMITED, Client
from tests.api.conftest import Container, problem, settings


@pytest.fixture
def client() -> Client:
    return Client()


def test_a_token_is_listed_without_its_secret_and_revoked_by_its_id(client: Client) -> None:
    first = client.sign_up()
    made = client.do("/v1/me/tokens", {"label": "My bot", "scopes": ["play", "watch"], "expires_in": 3_600}, first)
    answer = client.get("/v1/me/tokens", first)
    assert made["token"] not in answer.get_data(as_text=True)
    listed = answer.get_json()["tokens"]
    assert [one["created_at"] for one in listed] == sorted(one["created_at"] for one in listed)
    own, other = sorted(listed, key=lambda one: not one["current"])  # both may be of the same millisecond
    assert {**other, "token": made["token"]} == made
    assert (made["label"], made["scopes"], made["current"]) == ("My bot", ["watch", "play"], False)
    assert made["expires_at"] - made["created_at"] == 3_600_000
    assert (own["current"], own["scopes"]) == (True, ["watch", "play", "bots", "account"])
    assert client.send("DELETE", f"/v1/me/tokens/{made['id']}", token=first).status_code == 204
    assert problem(client.get("/v1/me", made["token"])).code == "token-invalid"
    assert problem(client.send("DELETE", f"/v1/me/tokens/{made['id']}", token=first)).code == "token-not-found"


def test_a_repeated_request_gets_the_same_token(client: Client) -> None:
    token = client.sign_up()
    made, again = (client.do("/v1/me/tokens", {"label": "x"}, token, idempotency_key="once") for _ in range(2))
    assert again == made
    other = problem(client.post("/v1/me/tokens", {"label": "y"}, token, idempotency_key="once"))
    assert other.code == "idempotency-key-reused"
    assert len(client.ask("/v1/me/tokens", token)["tokens"]) == 2


def test_a_missing_scope_is_named_and_the_same_for_a_private_and_a_missing_match(client: Client) -> None:
    token = client.sign_up()
    playing = client.do("/v1/me/tokens", {"scopes": ["play"]}, token)["token"]
    private = client.do("/v1/matches", {"game": "ape_town", "seats": 2, "private": True}, token)["id"]
    answers = [client.get(f"/v1/matches/{match}", playing) for match in (private, "none-such")]
    refusals = [problem(answer) for answer in answers]
    assert {(one.status, one.code, one.document["scope"]) for one in refusals} == {(403, "scope-missing", "watch")}
    assert len({str({**one.document, "instance": ""}) for one in refusals}) == 1
    assert answers[0].headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="watch"'
    assert client.get(f"/v1/matches/{private}", token).status_code == 200
    assert client.get("/v1/games", playing).status_code == client.get("/v1/me", playing).status_code == 200


def test_a_ticket_has_the_scopes_of_its_token(client: Client) -> None:
    token = client.sign_up()
    playing = client.do("/v1/me/tokens", {"scopes": ["play"]}, token)["token"]
    assert problem(client.post("/v1/stream-tickets", {}, playing)).code == "scope-missing"
    watching = client.do("/v1/me/tokens", {"scopes": ["watch"]}, token)["token"]
    ticket = client.do("/v1/stream-tickets", {}, watching)["ticket"]
    client.send("DELETE", "/v1/me/tokens/others", token=token)
    assert problem(client.get(f"/v1/me/stream?ticket={ticket}")).code == "token-invalid"


def test_every_token_may_revoke_itself(client: Client) -> None:
    token = client.sign_up()
    watching = client.do("/v1/me/tokens", {"scopes": ["watch"]}, token)["token"]
    assert client.send("DELETE", "/v1/me/tokens/current", token=watching).status_code == 204
    assert problem(client.get("/v1/me", watching)).code == "token-invalid"
    assert client.get("/v1/me", token).status_code == 200


@pytest.mark.parametrize(
    "label", ["", "a\nb", "\u202egnirts", "x" * 65, "\u200d", "\ufeff", "\u3164", 7, None, ["x"], "\x1b[31m"]
)
def test_a_hostile_label_is_refused(client: Client, label: object) -> None:
    token = client.sign_up()
    refusal = problem(client.post("/v1/me/tokens", {"label": label}, token))
    assert refusal.code in {"invalid-request", "bad-json"}
    assert len(client.ask("/v1/me/tokens", token)["tokens"]) == 1


def test_a_label_is_shown_as_it_is(client: Client) -> None:
    token = client.sign_up()
    label = "<script>alert('1')</script> & \"quotes\" {{7*7}} ${x} 🌙"
    client.do("/v1/me/tokens", {"label": label}, token)
    answer = client.get("/v1/me/tokens", token)
    assert label in [one["label"] for one in answer.get_json()["tokens"]]
    assert answer.content_type == "application/json"


def test_the_number_of_tokens_and_of_changes_is_limited(client: Client) -> None:
    token = client.sign_up()
    for _ in range(MAX_TOKENS - 1):
        client.do("/v1/me/tokens", {}, token)
    assert problem(client.post("/v1/me/tokens", {}, token)).code == "too-many-tokens"
    limited = Client(Container(settings(**{**UNLIMITED, "account_changes_by_token": 2})))
    token = limited.sign_up()
    answers = [
        limited.post("/v1/me/tokens", {}, token),
        limited.send("PATCH", "/v1/me", {"name": "Ada"}, token=token),
        limited.post("/v1/me/recovery-code", {}, token),
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 429]
    assert answers[2].headers["RateLimit-Policy"] == '"account-changes";q=2;w=600'


@pytest.mark.parametrize(("changes", "exports"), [(1, 1), (30, 5)])
def test_the_number_of_exports_is_limited(changes: int, exports: int) -> None:
    limited = Client(Container(settings(**{**UNLIMITED, "account_changes_by_token": changes})))
    token = limited.sign_up()
    answers = [limited.get("/v1/me/export", token) for _ in range(exports + 1)]
    assert [answer.status_code for answer in answers] == [*[200] * exports, 429]
    assert answers[-1].headers["RateLimit-Policy"] == f'"exports";q={exports};w=600'


def test_a_recovery_code_is_shown_at_sign_up_and_gets_a_new_token(client: Client) -> None:
    made = client.do("/v1/players", {"name": "Ada"})
    second = client.do("/v1/me/tokens", {}, made["token"])["token"]
    recovered = client.do("/v1/recoveries", {"recovery_code": made["recovery_code"]})
    assert recovered["player"] == made["player"]
    for revoked in (made["token"], second):
        assert problem(client.get("/v1/me", revoked)).code == "token-invalid"
    assert client.ask("/v1/me", recovered["token"]) == made["player"]
    renewed = client.do("/v1/me/recovery-code", {}, recovered["token"])["recovery_code"]
    refusal = problem(client.post("/v1/recoveries", {"recovery_code": made["recovery_code"]}))
    assert (refusal.status, refusal.code) == (401, "recovery-code-invalid")
    assert client.do("/v1/recoveries", {"recovery_code": renewed})["player"] == made["player"]


def test_guesses_are_limited_by_address_and_by_player_and_the_right_code_is_never_refused_for_those_of_others() -> None:
    client = Client(Container(settings(**{**UNLIMITED, "recoveries_by_address": 3})))
    made = client.do("/v1/players", {"name": "Ada"})
    other = client.do("/v1/players", {"name": "Ben"})["recovery_code"]
    client.do("/v1/me/recovery-code", {}, client.do("/v1/recoveries", {"recovery_code": other})["token"])

    def attempt(code: str, address: str) -> int:
        body = b'{"recovery_code": "%s"}' % code.encode()
        request = {"REMOTE_ADDR": address}
        headers = {"Content-Type": "application/json"}
        return client._http.post("/v1/recoveries", data=body, headers=headers, environ_base=request).status_code

    assert [attempt(other, f"10.0.0.{number}") for number in range(5)] == [401, 401, 401, 429, 429]
    assert [attempt("reco_x", "10.0.1.1") for _ in range(4)] == [401, 401, 401, 429]
    code = made["recovery_code"]
    assert [attempt(code, "10.0.2.1") for _ in range(4)] == [201, 201, 201, 429]
    assert attempt(code, "10.0.2.2") == 201


@pytest.mark.parametrize("code", ["", "reco_", "x" * 101, "\u0000", 7, None, {"$ne": ""}, "reco_" + "0" * 70])
def test_a_malformed_code_is_refused(client: Client, code: object) -> None:
    refusal = problem(client.post("/v1/recoveries", {"recovery_code": code}))
    assert refusal.code in {"invalid-request", "bad-json", "recovery-code-invalid"}


def test_the_limits_of_the_settings_are_large_enough_for_people() -> None:
    assert settings().account_changes_by_token < MANY
