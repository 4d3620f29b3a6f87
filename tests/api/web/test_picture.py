"""`picture.js` in a browser: what it copies of a picture, what can be clicked, how it is reached by keys, and what moves."""

import json
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Request

from api.resources.web import REVISION
from tests.serving import Served

SVG: Final = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300" viewBox="0 0 400 300">{}</svg>'
CARDS: Final = SVG.format(
    '<g id="seat-0" data-seat="0" transform="translate(10 10)"><title>Seat 0</title>'
    '<g id="card-a" data-card="a" transform="translate(0 0)"><title>Card A</title><rect width="40" height="60"/></g>'
    '<g id="card-b" data-card="b" transform="translate(60 0)"><rect width="40" height="60"/><text x="5" y="20">B</text></g>'
    '<g id="card-c" data-card="c" transform="translate(0 100)"><rect width="40" height="60"/></g>'
    "</g>"
)
HOSTILE: Final = SVG.format(
    "<script>window.ran = 1</script>"
    '<image href="x" onerror="window.ran = 2"/>'
    '<a href="javascript:window.ran=3"><text>a</text></a>'
    '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="window.ran = 4"/></body></foreignObject>'
    '<use href="https://elsewhere.example/x.svg#y"/><use href="data:image/svg+xml,x#y"/><use href="#here"/>'
    '<rect width="9" height="9" onclick="window.ran = 5" style="fill: red" fill="url(https://elsewhere.example)"/>'
    '<g xmlns:h="http://www.w3.org/1999/xhtml"><h:script>window.ran = 6</h:script></g>'
    '<animate attributeName="href" to="javascript:window.ran=7"/><set attributeName="onload" to="window.ran=8"/>'
    '<g onload="window.ran = 9" data-card="&lt;img src=x onerror=window.ran=10&gt;"><title>&lt;script&gt;</title></g>'
)


@pytest.fixture
def page(client_page: Page, served: Served) -> Page:
    """The page with a picture instead of the client."""
    client_page.evaluate(
        """async (folder) => {
          const [{ render, h }, picture] = await Promise.all([import("preact"), import(`${folder}/picture.js`)]);
          document.body.replaceChildren(document.createElement("div"));
          window.picked = [];
          window.ran = undefined;
          window.matches = picture.matchesAction;
          window.draw = (props) =>
            render(h(picture.Picture, { onPick: (data) => window.picked.push(data), ...props }), document.body.firstChild);
        }""",
        f"{served.url}/web/{REVISION}",
    )
    return client_page


def draw(page: Page, svg: str, **props: Any) -> None:
    """Draw a picture long after what moved in the one before has arrived."""
    page.evaluate(
        """(props) => {
          for (const one of document.getAnimations()) one.finish();
          const now = performance.now.bind(performance);
          performance.now = () => now() + 1000;
          window.draw(props);
        }""",
        {"svg": svg, **props},
    )


def test_only_allowed_elements_and_attributes_are_copied_and_nothing_runs(page: Page) -> None:
    requested: list[str] = []

    def note(request: Request) -> None:
        requested.append(request.url)

    page.on("request", note)
    draw(page, HOSTILE, fits=[{"card": "<img src=x onerror=window.ran=10>"}])
    found = page.evaluate(
        """() => [...document.querySelectorAll(".picture *")].map(
          (one) => [one.localName, [...one.attributes].map((attribute) => attribute.name)])"""
    )
    assert found == [
        ["svg", ["width", "height", "viewBox"]],
        ["use", []],
        ["use", []],
        ["use", ["href"]],
        ["rect", ["width", "height"]],
        ["g", []],
        ["g", ["data-card", "class", "role", "tabindex", "aria-label"]],
        ["title", []],
    ]
    page.locator(".picture .fits").dispatch_event("click")
    assert page.evaluate("window.picked") == [{"card": "<img src=x onerror=window.ran=10>"}]
    assert page.evaluate("window.ran") is None
    page.remove_listener("request", note)
    assert requested == []


def test_a_text_that_is_no_picture_is_refused(page: Page) -> None:
    for text in ("", "<html/>", "<svg>", '{"type": "problem"}', "<svg/>"):
        refused = page.evaluate(
            "(svg) => { try { window.draw({ svg }); return false } catch { return true } }",
            text,
        )
        assert refused or page.locator(".picture svg").count() == 0, text


TOUCHES: Final[list[tuple[dict[str, str], dict[str, Any], bool]]] = [
    ({"card": "a"}, {"type": "play", "card": "a"}, True),
    ({"card": "a"}, {"type": "play", "card": "b"}, False),
    ({"card": "a", "seat": "1"}, {"type": "play", "card": "a"}, True),
    ({"card": "a", "seat": "1"}, {"type": "give", "card": "a", "seat": 2}, False),
    ({"card": "a", "seat": "1"}, {"type": "give", "card": "a", "seat": 1}, True),
    ({"seat": "1"}, {"type": "pass"}, False),
    ({"type": "pass"}, {"type": "pass"}, True),
    ({"cards": "b"}, {"type": "play", "cards": ["a", "b"]}, True),
    ({"cards": "c"}, {"type": "play", "cards": ["a", "b"]}, False),
    ({"cards": "b"}, {"type": "play", "cards": {"any_of": ["a", "b"], "min": 1, "max": 2}}, True),
    ({"coins": "red"}, {"type": "pay", "coins": {"red": 2}}, True),
    ({"coins": "blue"}, {"type": "pay", "coins": {"red": 2}}, False),
    ({"flag": "true"}, {"flag": True}, True),
    ({}, {"type": "pass"}, False),
    ({"toString": "x"}, {"type": "pass"}, False),
]
"""Attributes, an action, and whether the element touches it."""


def test_an_element_touches_an_action_if_all_fields_that_it_names_agree(page: Page) -> None:
    found = page.evaluate("(cases) => cases.map(([data, action]) => window.matches(data, action))", TOUCHES)
    assert found == [touches for _, _, touches in TOUCHES]


def test_a_click_gives_the_attributes_of_the_element_and_of_the_groups_around_it(page: Page) -> None:
    draw(page, CARDS, fits=[{"type": "play", "card": "a"}, {"type": "play", "card": "c"}])
    assert page.locator(".picture .fits").evaluate_all("(all) => all.map((one) => one.id)") == ["card-a", "card-c"]
    page.locator("#card-a").click()
    page.locator("#card-b").click()
    assert page.evaluate("window.picked") == [{"seat": "0", "card": "a"}]


def test_a_group_is_a_button_only_if_nothing_in_it_fits(page: Page) -> None:
    draw(page, CARDS, fits=[{"type": "ask", "seat": 0}])
    # The cards have the seat's attribute too, since it applies to everything in the group.
    assert page.locator('[role="button"] [role="button"]').count() == 0
    assert page.locator(".picture .fits").count() == 3


def test_buttons_have_names_and_one_of_them_is_reached_with_tab_the_others_with_arrows(page: Page) -> None:
    draw(page, CARDS, fits=[{"cards": ["x"]}, {"card": "a"}, {"card": "b"}, {"card": "c"}])
    names = page.locator('.picture [role="button"]').evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert names == ["Card A", "B", "seat 0, card c"]
    page.keyboard.press("Tab")
    for key, expected in (
        (None, "card-a"),
        ("ArrowRight", "card-b"),
        ("ArrowRight", "card-b"),
        ("ArrowDown", "card-c"),
        ("ArrowUp", "card-a"),
    ):
        if key is not None:
            page.keyboard.press(key)
        assert page.evaluate("document.activeElement.id") == expected
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert [one["card"] for one in page.evaluate("window.picked")] == ["a", "b"]
    draw(page, CARDS.replace("translate(60 0)", "translate(90 0)"), fits=[{"card": "b"}])
    assert page.evaluate("document.activeElement.id") == "card-b", (
        "the focus stays on the same thing in the next version"
    )


def test_what_is_highlighted_is_lit_up_and_no_longer_when_it_is_not(page: Page) -> None:
    draw(page, CARDS, highlight=[{"card": "b"}])
    assert page.locator(".lit").evaluate_all("(all) => all.map((one) => one.id)") == ["card-b"]
    draw(page, CARDS, highlight=[{"seat": "0", "card": "a"}])
    assert page.locator(".lit").evaluate_all("(all) => all.map((one) => one.id)") == ["card-a"]
    draw(page, CARDS, highlight=[])
    assert page.locator(".lit").count() == 0


VERSIONS: Final = [
    CARDS,
    CARDS.replace('"card-b"', '"card-d"'),
    CARDS.replace("Card A", "Card <!-- --> E").replace('data-seat="0"', ""),
    SVG.format('<g id="card-b"/><g><rect id="card-a" x="1"/></g><text>one<title/>two</text>'),
    SVG.format('<rect id="card-b"/><text id="card-a">three</text><rect x="2"/><g id="x"><g id="y"/></g>'),
    SVG.format('<g id="y"><rect/></g><rect x="3"/><g id="x"/><g id="card-a"/><g id="card-a"/>'),
    HOSTILE,
    CARDS,
]


def test_a_picture_becomes_the_next_one_whatever_it_was(page: Page) -> None:
    unlike = page.evaluate(
        """(versions) => {
          const shown = () => {
            const copy = document.querySelector(".picture svg").cloneNode(true);
            for (const one of copy.querySelectorAll('[class=""]')) one.removeAttribute("class");
            return copy;
          };
          const alone = versions.map((svg, key) => (window.draw({ svg, key: `alone ${key}` }), shown()));
          const unlike = [];
          for (const before of versions) {
            versions.forEach((after, number) => {
              window.draw({ svg: before, key: "both", fits: [{ card: "a" }], highlight: [{ card: "b" }] });
              window.draw({ svg: after, key: "both" });
              if (!shown().isEqualNode(alone[number])) unlike.push([before, after, shown().outerHTML]);
            });
          }
          return unlike;
        }""",
        VERSIONS,
    )
    assert unlike == []


def test_what_stays_in_a_picture_stays_the_same_element(page: Page) -> None:
    draw(page, CARDS)
    page.evaluate("for (const one of document.querySelectorAll('.picture *')) one.known = true;")
    draw(page, CARDS.replace('"card-b"', '"card-d"').replace("translate(10 10)", "translate(30 10)"))
    new = page.evaluate("[...document.querySelectorAll('.picture *')].filter((one) => !one.known).map((one) => one.id)")
    assert new[0] == "card-d"
    assert not {"seat-0", "card-a", "card-c"} & set(new)


MOVING: Final = """() => document.getAnimations().map((one) => {
  const [first] = one.effect.getKeyframes();
  return [one.effect.target.id, first.transform ?? `opacity ${first.opacity}`];
})"""


def test_what_moved_is_moved_what_is_new_appears_and_a_group_takes_its_elements_along(page: Page) -> None:
    draw(page, CARDS)
    assert page.evaluate(MOVING) == []
    after = CARDS.replace(
        'id="seat-0" data-seat="0" transform="translate(10 10)"', 'id="seat-0" transform="translate(30 10)"'
    )
    draw(page, after)
    assert page.evaluate(MOVING) == [["seat-0", "translate(10px, 10px) scale(1)"]]
    draw(page, after.replace("translate(60 0)", "translate(60 50) scale(0.5)"))
    assert page.evaluate(MOVING) == [["card-b", "translate(60px, 0px) scale(1)"]]
    draw(page, after.replace('"card-c"', '"card-d"'))
    moving = page.evaluate(MOVING)
    assert ["card-d", "opacity 0"] in moving
    page.evaluate("(svg) => window.draw({ svg })", after)
    assert page.evaluate(MOVING) == [one for one in moving if one[0] != "card-d"], "nobody could follow two at once"


def test_an_element_in_another_group_starts_where_it_was(page: Page) -> None:
    card = '<g id="card" transform="translate(5 5)"/>'
    one = '<g id="one" transform="translate(100 0) scale(2)">{}</g><g id="two" transform="translate(0 50)">{}</g>'
    draw(page, SVG.format(one.format(card, "")))
    draw(page, SVG.format(one.format("", card)))
    assert page.evaluate(MOVING) == [["card", "translate(110px, -40px) scale(2)"]]
    before = SVG.format('<defs/><use id="u" href="#x" x="10" y="20"/>')
    draw(page, before)
    draw(page, before.replace('x="10"', 'x="90"'))
    assert page.evaluate(MOVING) == [["u", "translate(-80px, 0px) scale(1)"]]


def test_nothing_moves_for_people_who_want_reduced_motion(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    draw(page, CARDS)
    draw(page, CARDS.replace("translate(60 0)", "translate(90 0)"))
    assert page.evaluate(MOVING) == []
    page.emulate_media(reduced_motion="no-preference")


def test_many_actions_are_matched_quickly(page: Page) -> None:
    """A legal list may have thousands of entries, and a picture hundreds of elements."""
    cells = "".join(f'<g id="c{n}" data-field="{n}"><rect width="9" height="9"/></g>' for n in range(400))
    actions = [{"type": "place", "field": n % 400, "turn": n % 8} for n in range(3_000)]
    script = f"""() => {{
      window.draw({{ svg: {json.dumps(SVG.format(cells))} }});
      const began = performance.now();
      window.draw({{ svg: {json.dumps(SVG.format(cells))}, fits: {json.dumps(actions)} }});
      return performance.now() - began;
    }}"""
    assert min(page.evaluate(script) for _ in range(3)) < 100
    assert page.locator(".fits").count() == 400
