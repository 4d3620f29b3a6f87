from typing import Annotated

import pytest

from service.games.visibility import Action, Effect, Private, Public, Seat, Secret, Viewer, private_to, redact


class CardGiven(Effect, frozen=True, tag="card_given"):
    giver: Public[Seat]
    receiver: Public[Seat]
    card: Annotated[str, private_to("giver", "receiver")]
    deck: Secret[int]


class HandDealt(Effect, frozen=True, tag="hand_dealt"):
    seat: Public[Seat | None]
    card: Private[str]


class MoonRisen(Effect, frozen=True, tag="moon_risen"):
    height: Public[int]


class NameFirst(Action, frozen=True, tag="name_first"):
    seat: Public[Seat]
    why: Private[str]


class Paid(Action, frozen=True, tag="paid", rename={"with_": "with"}):
    with_: Public[str]
    why: Private[str]


GIVEN = CardGiven(1, 2, "vampire", 7)
PUBLIC = {"type": "card_given", "giver": 1, "receiver": 2}


@pytest.mark.parametrize(
    ("viewer", "seen"),
    [(None, PUBLIC), (0, PUBLIC), (1, PUBLIC | {"card": "vampire"}), (2, PUBLIC | {"card": "vampire"})],
)
def test_a_private_field_is_seen_by_its_seats_and_a_secret_by_no_seat(viewer: Viewer, seen: dict[str, object]) -> None:
    assert redact(GIVEN, viewer) == seen


def test_a_value_without_hidden_fields_is_returned_itself() -> None:
    risen, dealt = MoonRisen(3), HandDealt(1, "witch")
    assert redact(risen, None) is risen
    assert redact(dealt, 1) is dealt


def test_a_field_private_to_no_seat_is_seen_by_no_seat() -> None:
    assert redact(HandDealt(None, "witch"), None) == {"type": "hand_dealt", "seat": None}
    assert redact(HandDealt(None, "witch"), 0) == {"type": "hand_dealt", "seat": None}


def test_a_private_field_of_an_action_is_seen_by_the_acting_seat_and_not_by_the_named_seat() -> None:
    named = NameFirst(seat=2, why="revenge")
    assert redact(named, 0, actor=0) is named
    assert redact(named, 2, actor=0) == {"type": "name_first", "seat": 2}
    assert redact(named, None, actor=0) == {"type": "name_first", "seat": 2}
    assert redact(named, 0) == {"type": "name_first", "seat": 2}


def test_fields_keep_the_names_of_their_json_form() -> None:
    assert redact(Paid("coin", "debt"), None) == {"type": "paid", "with": "coin"}


def test_a_field_at_its_default_is_omitted_if_its_class_omits_defaults() -> None:
    class Hid(Action, frozen=True, tag="hid", omit_defaults=True):
        card: Private[str]
        where: Public[str | None] = None

    assert redact(Hid("red-3-1"), None) == {"type": "hid"}
    assert redact(Hid("red-3-1", "here"), None) == {"type": "hid", "where": "here"}


def test_a_field_without_an_audience_is_refused_at_import() -> None:
    with pytest.raises(TypeError, match=r"CardShown\.card has no audience"):

        class CardShown(Effect, frozen=True):
            seat: Public[Seat]
            card: str


def test_an_audience_inside_a_type_does_not_count() -> None:
    with pytest.raises(TypeError, match=r"CardShown\.card has no audience"):

        class CardShown(Effect, frozen=True):
            card: Public[str] | None


def test_a_field_with_two_audiences_is_refused_at_import() -> None:
    with pytest.raises(TypeError, match=r"CardShown\.card has no audience"):

        class CardShown(Effect, frozen=True):
            card: Public[Secret[str]]


def test_an_audience_must_name_fields_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"CardTaken\.card is private to owner, which is not a field"):

        class CardTaken(Effect, frozen=True):
            card: Annotated[str, private_to("owner")]

    with pytest.raises(TypeError, match=r"CardLost\.card is private to seat, which is not a field"):

        class CardLost(Effect, frozen=True):
            card: Private[str]


def test_a_subclass_keeps_the_audiences_of_its_class() -> None:
    class HandDealtLate(HandDealt, frozen=True, tag="hand_dealt_late"):
        late: Public[bool]

    assert set(HandDealtLate.hidden) == {"card"}
