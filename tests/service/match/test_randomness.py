"""Draws match published vectors, and a second implementation that was written only from the specification."""

import hashlib
import hmac
import json
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.record import canonical, digest
from service.games.registry import GAMES
from service.match.randomness import Draws, bot_key, commitment, match_key, new_salts, new_seed
from service.ops.simulate import play
from tests.service import reference_draws

SEED = bytes(range(32))


def draws(key: bytes) -> Draws:
    return Draws(lambda: key, {})


def test_the_key_covers_the_server_seed_and_every_client_seed() -> None:
    assert match_key(SEED, [None, "a"]) == hmac.new(SEED, b'[null,"a"]', hashlib.sha256).digest()
    assert match_key(SEED, [None, None]) != match_key(SEED, [None, None, None])


def test_a_bot_of_a_local_match_has_a_key_of_its_own() -> None:
    assert bot_key(SEED, 3) == hmac.new(SEED, b"bot:3", hashlib.sha256).digest()


ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "service" / "randomness_vectors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS["canonical"], ids=lambda case: str(case["bytes"])[:12])
def test_the_published_canonical_forms_hold(case: dict[str, Any]) -> None:
    assert canonical(case["value"]).decode() == case["bytes"]
    assert digest(case["bytes"].encode()) == case["sha256"]


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: str(case["client_seeds"]))
def test_the_published_vectors_hold(case: dict[str, Any]) -> None:
    seed = bytes.fromhex(VECTORS["server_seed"])
    key = match_key(seed, case["client_seeds"])
    assert (commitment(seed), key.hex()) == (VECTORS["seed_commitment"], case["key"])
    assert [f"{word:016x}" for word in islice(draws(key)._words("alliance_circle"), 5)] == case["first_words"]
    rng = draws(key)
    outcomes: list[Any] = []
    for draw in case["draws"]:
        method = rng.shuffle if draw["draw"] == "shuffle" else rng.pick
        outcomes.append(method(draw["label"], draw["items"]))
    assert msgspec.json.decode(msgspec.json.encode(outcomes)) == [draw["outcome"] for draw in case["draws"]]
    assert [draw.label for draw in rng.drawn] == [draw["label"] for draw in case["draws"]]


@given(st.binary(min_size=32, max_size=32), st.text(max_size=20), st.integers(1, 60), st.integers(0, 3))
def test_a_second_implementation_draws_the_same(key: bytes, label: str, size: int, before: int) -> None:
    items = list(range(size))
    rng = Draws(lambda: key, {label: before})
    assert rng.shuffle(label, items) == tuple(reference_draws.shuffle(key, label, before, items))
    assert rng.pick(label, items) == reference_draws.pick(key, label, before + 1, items)


def test_words_that_would_bias_a_draw_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = iter([b"\xff" * 32, b"\x00" * 31 + b"\x05"])
    monkeypatch.setattr("service.match.randomness.hmac.digest", lambda *_: next(blocks))
    assert draws(b"").pick("any", "abc") == "a"
    assert next(blocks, None) is None


def test_each_position_of_a_shuffle_is_as_likely_as_the_others() -> None:
    rng = draws(b"fixed")
    counts = [[0] * 5 for _ in range(5)]
    for _ in range(4000):
        for position, item in enumerate(rng.shuffle("cards", range(5))):
            counts[position][item] += 1
    chi_square = sum((count - 800) ** 2 / 800 for row in counts for count in row)
    assert (
        chi_square < 45
    )  # 16 degrees of freedom: a fixed series, far below the limit that chance exceeds once in 10,000 times


def test_seeds_and_salts_come_from_the_operating_system() -> None:
    assert len({new_seed() for _ in range(100)}) == 100
    assert all(len(salt) == 32 and salt == salt.lower() for salt in new_salts(4))


def test_every_draw_of_a_match_can_be_repeated_from_its_file() -> None:
    """Only from the revealed seed, the order of the component file, and the order of draws in the rules."""
    ports, match = play(GAMES["monkeys_on_the_moon"], ["random"] * 3, {})
    events = [json.loads(stored) for stored in ports.log.read(match.id).events]
    cards = json.loads((ROOT / "service/games/monkeys_on_the_moon/components.json").read_text(encoding="utf-8"))
    tribes = cards["tribes"]

    def copies(kind: str, *fields: str) -> list[str]:
        return [
            "-".join([*(str(card[field]) for field in fields), str(n)])
            for card in cards[kind]
            for n in range(1, card["copies"] + 1)
        ]

    key = reference_draws.key_of(events[-1]["data"]["server_seed"], [None] * 3)
    expected = [
        ("alliance_circle", reference_draws.shuffle(key, "alliance_circle", 0, tribes)),
        ("monkey_deck", reference_draws.shuffle(key, "monkey_deck", 0, copies("monkey_cards", "tribe", "status"))),
        (
            "civilization_deck",
            reference_draws.shuffle(key, "civilization_deck", 0, copies("civilization_cards", "tribe", "spaces")),
        ),
        (
            "ship_deck",
            reference_draws.shuffle(
                key, "ship_deck", 0, [f"{ship['border']}-{ship['capacity']}" for ship in cards["ship_cards"]]
            ),
        ),
        ("first_seat", reference_draws.pick(key, "first_seat", 0, range(3))),
        ("finish_ties", reference_draws.shuffle(key, "finish_ties", 0, tribes)),
    ]
    found = [(draw["label"], draw["outcome"]) for event in events for draw in event["data"].get("draws", ())]
    assert found == expected
