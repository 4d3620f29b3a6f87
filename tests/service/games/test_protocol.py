from service.games.protocol import IllegalAction, fold
from service.games.registry import GAMES
from tests.service.games.matches import random_match
from tests.service.games.toy.tables import TABLES


def test_games_are_registered_by_their_id() -> None:
    assert list(GAMES) == [game.info.id for game in GAMES.values()]


def test_the_fold_of_the_effects_is_the_state() -> None:
    match = random_match(TABLES[0])
    assert fold(TABLES[0].game, None, match.effects) == match.states[-1]
    assert fold(TABLES[0].game, match.start, ()) is match.start


def test_a_refusal_has_its_code_clause_and_facts() -> None:
    refusal = IllegalAction("card-not-held", "TOY-10", card="3-1")
    assert str(refusal) == "card-not-held (TOY-10)"
    assert refusal.facts == {"card": "3-1"}
