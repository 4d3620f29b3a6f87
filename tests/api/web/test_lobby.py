"""Finding, making, joining and leaving matches in the web client, and what it shows to authors of clients."""

import re
from typing import Final

from playwright.sync_api import Page, Route, expect

from tests.api.web.person import People

GAME: Final = "Ape Town"


def test_a_match_that_waits_is_found_filtered_and_joined(people: People) -> None:
    ada, ben = people.known("Ada"), people.known("Ben")
    match = people.new_match(ada.token, seats=3)
    ada.visit(f"match/{match}")
    row = ben.page.locator(f'#open-matches ~ .matches a[href="#/match/{match}"]')
    ben.visit()
    expect(row).to_contain_text("1 of 3 seats taken")
    ben.field("Seats").select_option("2")
    expect(row).to_have_count(0)
    ben.field("Seats").select_option("3")
    expect(row).to_have_count(1)
    ben.field("Bots").select_option(label="With bots")
    expect(row).to_have_count(0)
    ben.field("Bots").select_option(label="Without bots")
    ben.field("Rating from").select_option("1100")
    expect(row).to_have_count(0)
    ben.field("Rating from").select_option("1000")
    row.click()
    ben.page.get_by_role("button", name="Take a seat").click()
    expect(ben.page.locator(".seats")).to_contain_text("Ben")
    expect(ada.page.locator(".seats")).to_contain_text("Ben")
    ben.visit()
    expect(ben.page.locator(f'#mine ~ .matches a[href="#/match/{match}"]')).to_have_count(1)


def test_the_creator_fills_and_frees_seats_by_click(people: People) -> None:
    ada = people.known("Ada")
    ada.visit(f"match/{people.new_match(ada.token, seats=3)}")
    ada.page.get_by_role("button", name="Add greedy").first.click()
    seat = ada.page.locator(".seat", has=ada.page.locator(".name", has_text="greedy"))
    expect(seat).to_contain_text("bot")
    seat.get_by_role("button", name="Free the seat").click()
    expect(seat).to_have_count(0)
    ada.page.get_by_role("button", name="Add random").first.click()
    expect(ada.page.get_by_role("button", name="Add random")).to_have_count(1)
    ada.page.get_by_role("button", name="Add random").click()
    expect(ada.page.locator("#waiting")).to_have_count(0)
    expect(ada.page.locator("#seats")).to_be_visible()


def test_a_hosted_bot_is_given_a_seat_by_whom_its_owner_allows(people: People) -> None:
    owner = people.token("Ada")
    ben = people.newcomer("Ben")  # a profile that was used before has kept the list of bots
    people.sign_in(ben)
    for name, seating in (("Open", "everyone"), ("Own", "owner")):
        people.post("/v1/me/bots", {"name": name, "public": True, "seating": seating}, owner)
    match = ben.create(GAME, 2, options=lambda page: _seat(page, "Bot Open of Ada"))
    assert people.get(f"/v1/matches/{match}")["seats"][0]["kind"] == "hosted"
    ben.visit("new")
    expect(ben.page.get_by_role("option", name="Bot Open of Ada")).to_have_count(1)
    expect(ben.page.get_by_role("option", name="Bot Own of Ada")).to_have_count(0)
    first = people.get("/v1/bots?limit=200")
    ben.page.route("**/v1/bots?limit=200", lambda route: route.fulfill(json={**first, "hosted": [], "next": "more"}))
    ben.page.route("**/v1/bots?limit=200&cursor=more", lambda route: route.fulfill(json=first))
    ben.visit()
    ben.visit("new")
    ben.page.get_by_role("button", name="Offer more bots").click()
    expect(ben.page.get_by_role("option", name="Bot Open of Ada")).to_have_count(1)
    ben.page.unroute_all()
    waiting = people.new_match(ben.token, seats=2)
    ben.visit(f"match/{waiting}")
    ben.page.get_by_label("Bots").select_option(label="Bot Open of Ada")
    expect(ben.page.get_by_role("option", name="Bot Own of Ada")).to_have_count(0)
    ben.page.get_by_role("button", name="Add Open").click()
    expect(ben.page.locator("#seats")).to_be_visible()
    assert "hosted" in [seat["kind"] for seat in people.get(f"/v1/matches/{waiting}")["seats"]]


def _seat(page: Page, bot: str) -> None:
    page.get_by_role("combobox", name="Other player 1").select_option(label=bot)


def test_a_running_match_is_watched_without_an_account(people: People) -> None:
    wanda = people.person("Wanda")
    match = people.new_match(people.token("Ada"), bots=["random"])
    wanda.visit()
    wanda.page.locator(f'#running-matches ~ .matches a[href="#/match/{match}"]').click()
    expect(wanda.page.locator(".picture svg")).to_be_visible()
    expect(wanda.page.locator(".actions")).to_have_count(0)
    expect(wanda.page.get_by_role("button", name="Sign up or in")).to_be_visible()


def test_a_running_match_of_the_player_is_listed_once_and_draws_nobody_from_another_page(
    people: People,
) -> None:
    ada = people.known("Ada")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ada.page.route(re.compile("/v1/matches$"), hold)
    ada.visit("new")
    ada.field("Other player 1").select_option(label="Bot random")
    with ada.page.expect_request(re.compile("/v1/matches$")):
        ada.page.get_by_role("button", name="Create and join").click()
    ada.page.get_by_role("link", name="Moonstone").click()
    held.pop().continue_()
    address = ada.page.locator("#mine ~ .matches a").get_attribute("href") or ""
    match = address.removeprefix("#/match/")
    assert ada.page.url.endswith("#/")
    expect(ada.page.locator("#running-matches ~ .matches, #running-matches ~ p").first).to_be_attached()
    expect(ada.page.locator(f'#mine ~ .matches a[href="#/match/{match}"]')).to_have_count(1)
    expect(ada.page.locator(f'#running-matches ~ .matches a[href="#/match/{match}"]')).to_have_count(0)


def test_a_list_has_more_while_the_api_has_even_if_all_of_a_page_is_listed_elsewhere(people: People) -> None:
    ada = people.known("Ada")
    match = people.new_match(ada.token, bots=["random"])

    def with_next(route: Route) -> None:
        page = route.fetch().json()
        own = [one for one in page["matches"] if one["id"] == match]
        route.fulfill(json={"matches": own, "next": "more"})

    ada.page.route("**/v1/matches?status=running*", with_next)
    ada.visit()
    more = ada.page.locator("section", has=ada.page.locator("#running-matches")).get_by_role("button", name="More")
    expect(more).to_be_visible()
    ada.page.route("**/v1/matches?status=running*cursor=more*", lambda route: route.abort())
    more.click()
    expect(ada.page.locator("section", has=ada.page.locator("#running-matches")).get_by_role("alert")).to_contain_text(
        "does not answer"
    )


def test_a_next_page_is_read_once_and_not_shown_with_other_filters(people: People) -> None:
    wanda = people.person("Wanda")
    match = people.get(f"/v1/matches/{people.new_match(people.token('Ada'), seats=2)}")
    held: list[Route] = []

    def answer(route: Route) -> None:
        if "cursor=" in route.request.url:
            held.append(route)
        elif "seats=2" in route.request.url:
            route.fulfill(json={"matches": [], "next": None})
        else:
            route.fulfill(json={"matches": [match], "next": "more"})

    wanda.page.route("**/v1/matches?status=open*", answer)
    wanda.visit()
    section = wanda.page.locator("section", has=wanda.page.locator("#open-matches"))
    more = section.get_by_role("button", name="More")
    more.click()
    expect(more).to_have_attribute("aria-disabled", "true")
    more.click(force=True)
    wanda.field("Seats").select_option("2")
    expect(section.get_by_text("No match waits for players")).to_be_visible()
    (late,) = held
    with wanda.page.expect_response(re.compile("cursor=")) as answered:
        late.fulfill(json={"matches": [match], "next": "more"})
    answered.value.finished()
    expect(section.locator(".match")).to_have_count(0)
    expect(more).to_have_count(0)


def test_a_player_has_no_matches_only_once_they_were_read(people: People) -> None:
    ada = people.known("Ada")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ada.visit()
    ada.page.route(re.compile("/v1/players/.*/matches"), hold)
    with ada.page.expect_request(re.compile("/v1/players/.*/matches")):
        ada.visit(f"player/{people.get('/v1/me', ada.token)['id']}")
    expect(ada.page.get_by_text("No rated match has counted yet.")).to_be_visible()
    expect(ada.page.get_by_text("No public match yet.")).to_have_count(0)
    held.pop().continue_()
    expect(ada.page.get_by_text("No public match yet.")).to_be_visible()


def test_who_makes_a_match_but_gets_no_seat_is_told_so_and_may_take_one(people: People) -> None:
    ada = people.known("Ada")
    refusal = {"status": 409, "code": "too-many-matches", "title": "", "detail": "You play too many matches."}
    ada.page.route(re.compile("/seats$"), lambda route: route.fulfill(status=409, json=refusal))
    match = ada.create(GAME, 2)
    expect(ada.page.get_by_role("alert").filter(has_text="You play too many matches.")).to_be_visible()
    ada.page.unroute_all()
    ada.page.get_by_role("button", name="Take a seat").click()
    expect(ada.page.locator(".seats .name")).to_have_text("Ada")  # `.seats` also names bots, perhaps of another Ada
    assert people.get(f"/v1/matches/{match}")["seats"][0]["name"] == "Ada"
    ada.page.get_by_role("button", name="Sign out").click()
    ada.page.route(re.compile("/seats$"), lambda route: route.fulfill(status=409, json=refusal))
    ada.page.get_by_role("button", name="Take a seat").click()
    ada.give_name()
    expect(ada.page.get_by_role("alert")).to_contain_text("You play too many matches.")


def test_a_match_that_is_over_is_listed_with_its_players_and_date_and_without_its_clock(people: People) -> None:
    ada, wanda = people.known("Ada"), people.person("Wanda")
    match = people.new_match(ada.token, bots=["random"])
    people.leave(match, ada.token)
    ada.visit(f"match/{match}")
    expect(ada.page.locator("#ending")).to_be_visible()
    expect(ada.page.locator("#seats")).to_have_count(0)  # the result has them
    wanda.visit()
    row = wanda.page.locator(f'#finished-matches ~ .matches a[href="#/replay/{match}"]')
    expect(row).to_contain_text(
        re.compile(r"Ada, random · Won by (Ada|random) · .*20\d\d|random, Ada · Won by (Ada|random) · .*20\d\d")
    )
    expect(row).not_to_contain_text(re.compile("decision|seats"))


def test_the_creator_leaves_before_the_start_and_the_match_is_aborted_or_free_again(people: People) -> None:
    ada = people.known("Ada")
    ada.visit(f"match/{people.new_match(ada.token, seats=2)}")
    ada.page.get_by_role("button", name="Leave the match").click()
    expect(ada.page.locator(".seat", has_text="free")).to_have_count(2)
    ada.page.get_by_role("button", name="Leave the match").click()
    expect(ada.page.get_by_role("heading", name="This match was aborted")).to_be_visible()


def test_two_who_want_a_rematch_meet_in_the_same_match(people: People) -> None:
    ada, ben = people.known("Ada"), people.known("Ben")
    match = people.new_match(ada.token, ben.token)
    people.leave(match, ada.token, ben.token)
    for person in (ada, ben):
        person.visit(f"match/{match}")
        person.page.get_by_role("button", name="Play again").click()
        person.page.wait_for_url(re.compile(f"#/match/(?!{match})"))
    assert ada.match == ben.match != match
    expect(ada.page.locator(".seats")).to_contain_text("Ben")
    expect(ada.page.locator("#waiting")).to_have_count(0)


def test_the_form_is_that_of_the_game_chosen_last_however_late_another_one_is_answered(people: People) -> None:
    ada = people.person("Ada")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ada.page.route(re.compile("/v1/games/(ape_town|monkeys_on_the_moon)$"), hold)
    ada.visit("new?game=ape_town")
    ada.field("Game").select_option(label="4 Monkeys")
    skins = ada.page.get_by_role("checkbox", name="Banana skins")
    expect(skins).to_be_visible()
    with ada.page.expect_response(re.compile("/v1/games/ape_town$")) as answered:
        held.pop().continue_()
    answered.value.finished()
    expect(ada.field("Game")).to_have_value("four_monkeys")
    expect(skins).to_be_visible()
    with ada.page.expect_request(re.compile("/v1/games/monkeys_on_the_moon$")):
        ada.field("Game").select_option(label="Monkeys on the Moon")
    expect(ada.field("Seats")).to_have_count(0)  # no form of another game, whose choices would be lost
    held.pop().continue_()
    expect(ada.field("Seats")).to_be_visible()


def test_what_a_game_does_not_allow_is_explained(people: People) -> None:
    ada = people.known("Ada")
    ada.visit("new")
    ada.field("Game").select_option(label="4 Monkeys")
    ada.field("Clock").select_option(label="1 minute for each decision")
    ada.page.get_by_role("button", name="Create and join").click()
    expect(ada.page.locator(".problem")).to_contain_text("keeps its own time")
