"""Accounts in the web client: the token of a browser, the recovery code, and the page of the account."""

import json
import re
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, Route, expect

from tests.api.web.person import People, Person

OPEN: Final = ".sentence[aria-disabled=false]"
DAY_MS: Final = 86_400_000


def tokens(people: People, token: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = people.get("/v1/me/tokens", token)["tokens"]
    return found


def at_account(person: Person) -> Page:
    person.visit("account")
    expect(person.page.locator(".token").first).to_be_visible()
    return person.page


def test_a_browser_keeps_a_token_with_the_scopes_that_it_needs_and_an_end(people: People) -> None:
    ada = people.signed_up("Ada")
    (token,) = tokens(people, ada.token)
    assert token["scopes"] == ["watch", "play", "account"]
    assert token["label"] == "Chrome, Linux"
    assert token["expires_at"] - token["created_at"] == 30 * DAY_MS


def test_the_recovery_code_is_shown_once_and_can_be_copied(people: People) -> None:
    ada = people.person("Ada", permissions=["clipboard-read", "clipboard-write"])
    ada.visit()
    page = ada.page
    page.get_by_role("button", name="Sign up or in").click()
    page.get_by_role("textbox", name="Name").fill("Ada")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/v1/players$"), hold)
    with page.expect_request(re.compile("/v1/players$")):
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    held.pop().continue_()  # the account is made nevertheless, so its code is shown
    code = page.get_by_role("textbox", name="Your recovery code").input_value()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == code
    page.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    kept = page.evaluate("localStorage['moonstone.session']")
    assert code not in page.content() + kept
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign up or in").click()
    expect(page.get_by_role("heading", name="What is your name?")).to_be_visible()
    page.evaluate(
        """kept => {
          localStorage["moonstone.session"] = kept;  // somebody signs in with another tab
          dispatchEvent(new StorageEvent("storage", {key: "moonstone.session", newValue: kept}));
        }""",
        kept.replace("Ada", "Ben"),
    )
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert people.post("/v1/recoveries", {"recovery_code": code})["player"]["name"] == "Ada"


def test_a_recovery_code_brings_the_account_back_and_ends_all_other_sessions(people: People) -> None:
    ada, again = people.person("Ada"), people.person("Ada")
    ada.visit()
    code = ada.sign_up()
    old = ada.token
    again.visit()
    again.return_with("moon_…")  # no header can have such a token
    expect(again.page.locator("dialog .problem")).to_contain_text("mistyped")
    again.page.get_by_role("textbox", name="Recovery code or token").fill(code)
    again.page.get_by_role("button", name="Continue").click()
    expect(again.page.get_by_role("dialog")).to_have_count(0)
    (token,) = tokens(people, again.token)
    assert token["scopes"] == ["watch", "play", "account"]
    assert not people.is_valid(old)
    why = ada.page.get_by_text("does not accept the token of this browser")
    expect(why).to_be_visible()
    ada.page.reload()
    expect(why).to_be_visible()
    ada.page.get_by_role("button", name="Close").click()
    ada.page.reload()
    expect(ada.page.get_by_role("button", name="Sign up or in")).to_be_visible()
    expect(why).to_have_count(0)


def test_a_token_that_was_entered_stays_valid_when_the_browser_signs_out(people: People) -> None:
    given = people.token("Ada")
    ada = people.person("Ada")
    ada.visit()
    ada.return_with(given)
    expect(ada.page.get_by_role("dialog")).to_have_count(0)
    own = ada.token
    assert len(tokens(people, given)) == 2
    ada.page.get_by_role("button", name="Sign out").click()
    expect(ada.page.get_by_role("button", name="Sign up or in")).to_be_visible()
    assert (people.is_valid(own), people.is_valid(given)) == (False, True)


def test_a_token_that_may_not_manage_the_account_plays_and_is_only_forgotten(people: People) -> None:
    owner = people.token("Ada")
    given = people.post("/v1/me/tokens", {"label": "bot", "scopes": ["watch", "play"]}, owner)["token"]
    ada = people.person("Ada")
    ada.visit()
    ada.return_with(given)
    expect(ada.page.get_by_role("dialog")).to_have_count(0)
    ada.page.locator(".game", has_text="Ape Town").get_by_role("button", name="Play against bots").click()
    expect(ada.page.locator(OPEN).first).to_be_visible()
    ada.visit("account")
    expect(ada.page.locator(".problem").first).to_contain_text("account")
    ada.page.get_by_role("button", name="Sign out").click()
    expect(ada.page.get_by_role("banner").get_by_role("button", name="Sign up or in")).to_be_visible()
    assert people.is_valid(given)


def test_a_token_is_renewed_while_it_is_in_use_and_open_tables_go_on(people: People) -> None:
    ada = people.person("Ada")
    ada.visit()
    ada.page.locator(".game", has_text="Ape Town").get_by_role("button", name="Play against bots").click()
    ada.give_name()
    expect(ada.page.locator(OPEN).first).to_be_visible()
    picture = ada.page.locator(".picture svg").element_handle()
    old = ada.token
    ada.page.evaluate(
        """days => {
          const kept = JSON.parse(localStorage["moonstone.session"]);
          localStorage["moonstone.session"] = JSON.stringify({...kept, made_at: kept.made_at - days});
        }""",
        2 * DAY_MS,
    )
    other = ada.open_tab()
    with other.expect_response(re.compile("/v1/me/tokens/current$")):  # the old token is revoked
        other.goto(f"{ada.url}/#/match/{ada.match}")
    expect(other.locator(OPEN).first).to_be_visible()
    (token,) = tokens(people, ada.token)
    assert token["label"] == "Chrome, Linux"
    assert not people.is_valid(old)
    ada.page.locator(OPEN).first.click()
    for page in (ada.page, other):
        expect(page.locator(".asked")).to_have_text("Put the tile on a free field.")
    assert picture.evaluate("picture => picture.isConnected"), "the match was not read anew"
    expect(ada.page.get_by_text("does not accept the token")).to_have_count(0)


def test_the_name_is_changed_everywhere(people: People) -> None:
    ada = people.known("Ada")
    match = people.new_match(ada.token, seats=2)
    page = at_account(ada)
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.fill("\u0007")
    page.get_by_role("button", name="Change the name").click()
    expect(page.locator("form .problem")).to_be_visible()
    name.fill("Ada Lovelace")
    page.get_by_role("button", name="Change the name").click()
    expect(page.locator(".account .name")).to_have_text("Ada Lovelace")
    assert people.get(f"/v1/matches/{match}")["seats"][0]["name"] == "Ada Lovelace"
    name.fill("נעמי")
    page.get_by_role("button", name="Change the name").click()
    ada.visit()
    # Isolated (U+2068, U+2069): else the words after a name that is written from right to left would be in another order.
    expect(page.locator("#mine ~ .matches")).to_contain_text("\u2068נעמי\u2069 · 1 of 2 seats taken")


def test_tokens_are_made_listed_and_revoked(people: People) -> None:
    ada = people.known("Ada")
    page = at_account(ada)
    made = []
    page.locator("summary", has_text="A token for a program").click()
    for label in ("my bot", "my screen", "my watch"):
        page.get_by_role("textbox", name="What is it for?").fill(label)
        page.get_by_role("combobox", name="What may it do?").select_option("Only watch")
        page.get_by_role("button", name="Make the token").click()
        expect(page.locator(".token", has_text=label)).to_contain_text("watch")
        made.append(page.get_by_role("textbox", name="A token for a program").input_value())
    assert [people.is_valid(token) for token in made] == [True] * 3
    page.get_by_role("button", name="Revoke my bot").click()
    expect(page.locator(".token", has_text="my bot")).to_have_count(0)
    expect(page.get_by_role("heading", name="Browsers and programs")).to_be_focused()
    assert [people.is_valid(token) for token in made] == [False, True, True]
    page.get_by_role("button", name="Revoke all others").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Revoke all others").click()
    page.get_by_role("button", name="Revoke all others").click()
    expect(page.locator(".token")).to_have_count(1)
    expect(page.locator(".token")).to_contain_text("this browser")
    assert [people.is_valid(token) for token in made] == [False] * 3


def test_a_new_recovery_code_replaces_the_one_before(people: People) -> None:
    ada = people.person("Ada")
    ada.visit()
    old = ada.sign_up()
    page = at_account(ada)
    page.get_by_role("button", name="Make a new recovery code").click()
    code = page.get_by_role("textbox", name="Your recovery code").input_value()
    answer = people.http.post("/v1/recoveries", json={"recovery_code": old})
    assert answer.json()["code"] == "recovery-code-invalid"
    assert people.post("/v1/recoveries", {"recovery_code": code})["player"]["name"] == "Ada"


def test_everything_that_is_stored_is_downloaded(people: People) -> None:
    ada = people.known("Ada")
    match = people.new_match(ada.token, seats=2)
    page = at_account(ada)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert match in lines[1]
    assert json.loads(lines[-1])["type"] == "end"


def test_the_account_is_deleted_only_after_its_name_was_typed(people: People) -> None:
    ada = people.known("Ada")
    match = people.new_match(ada.token, seats=2)
    token = ada.token
    page = at_account(ada)
    button = page.get_by_role("button", name="Delete it for good")
    page.get_by_role("textbox", name="To confirm").fill("Adam")
    expect(button).to_have_attribute("aria-disabled", "true")
    button.click(force=True)
    assert people.is_valid(token)
    page.get_by_role("textbox", name="To confirm").fill("Ada")
    renewed_meanwhile(people, ada, re.compile("/v1/me$"))
    button.click()
    expect(page.get_by_text("Your account is deleted.")).to_be_visible()
    expect(page.get_by_role("banner").get_by_role("button", name="Sign up or in")).to_be_visible()
    assert not people.is_valid(token)
    assert people.get(f"/v1/matches/{match}")["creator_name"] is None
    ada.return_with(people.token("Ben"))
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("No account is in use in this browser.")).to_be_visible()


def renewed_meanwhile(people: People, person: Person, address: re.Pattern[str]) -> None:
    """While the next DELETE is on its way, another tab renews the token; the page has no news of it."""

    def renew(route: Route) -> None:
        made = people.post("/v1/me/tokens", {"label": "renewed", "scopes": ["watch", "play", "account"]}, person.token)
        person.page.evaluate(
            """token => {
              const kept = JSON.parse(localStorage["moonstone.session"]);
              localStorage["moonstone.session"] = JSON.stringify({...kept, token});
            }""",
            made["token"],
        )
        route.continue_()

    person.page.route(address, renew, times=1)


def test_a_sign_out_while_another_tab_renews_the_token_forgets_the_account(people: People) -> None:
    ada = people.known("Ada")
    ada.visit()
    renewed_meanwhile(people, ada, re.compile("/v1/me/tokens/current$"))
    ada.page.get_by_role("button", name="Sign out").click()
    expect(ada.page.get_by_role("banner").get_by_role("button", name="Sign up or in")).to_be_visible()
    assert ada.page.evaluate("localStorage.getItem('moonstone.session')") is None


def test_secrets_are_in_no_request_that_the_panel_shows(people: People) -> None:
    ada = people.person("Ada")
    ada.visit()
    ada.page.locator(".game", has_text="Ape Town").get_by_role("button", name="Play against bots").click()
    ada.give_name()
    expect(ada.page.locator(OPEN).first).to_be_visible()
    match = ada.match
    at_account(ada).get_by_role("button", name="Make a new recovery code").click()
    code = ada.page.get_by_role("textbox", name="Your recovery code").input_value()
    join_code = people.get(f"/v1/matches/{match}", ada.token)["join_code"]
    ada.visit(f"match/{match}?code={join_code}")
    ada.page.locator("summary", has_text="For authors of clients").click()
    expect(ada.page.locator(".exchange")).not_to_have_count(0)
    ada.page.evaluate("document.querySelectorAll('.exchange').forEach((entry) => { entry.open = true; })")
    expect(ada.page.locator(".exchange[open]:not(:has(pre))")).to_have_count(0)
    shown = ada.page.locator(".panel").inner_text()
    for name in ("recovery_code", "token", "join_code"):
        assert f'"{name}": "…"' in shown
    for secret in (code, join_code, "moon_"):
        assert secret not in shown
